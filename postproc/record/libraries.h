/* SPDX-License-Identifier: MIT */
/*
 * Finds libgmon_mt.so and libsync_trace.so: in $GPROF_MT_LIBDIR, beside the running gprof-mt (a
 * build tree), in ../lib relative to it, or where `make install` put them.
 */
#ifndef PP_RECORD_LIBRARIES_H
#define PP_RECORD_LIBRARIES_H

#include <stdbool.h>

#include <glib.h>

#include "core/error.h"

/*
 * Returns absolute paths, NULL-terminated; free with g_strfreev().  -ENOENT: the error lists the
 * directories searched.
 */
int pp_libraries_find(GStrv *ret_paths, struct pp_error *err);

/* Returns -ENOENT if the provider for LTTng-UST is not installed with them. */
int pp_libraries_check_ust(char *const *paths, struct pp_error *err);

/* The same for the library that records accesses by single steps; blocks: and blocks of the heap.
 */
int pp_libraries_check_step(char *const *paths, bool blocks, struct pp_error *err);

/* The same paths and that of this library; free with g_strfreev(). */
GStrv pp_libraries_with_step(char *const *paths, bool blocks);

/* Does LD_PRELOAD name a file that each program can load, and an empty one for musl's programs? */
bool pp_libraries_have_tree(char *const *paths);

/* Does it name empty libraries for programs of 32 bits (i386, or the x32 ABI)? */
bool pp_libraries_have_stub(char *const *paths, bool is_x32);

/*
 * For a program that needs libgomp: the same paths and that of the library with libgomp's names, if
 * it is there; free with g_strfreev().
 */
GStrv pp_libraries_with_openmp(char *const *paths);

/*
 * Sets *ret_value to LD_PRELOAD with the libraries, followed by `old` (may be NULL).  -EINVAL: a
 * path contains a space or colon, at which the loader would split it.
 */
int pp_libraries_preload(char *const *paths, const char *old, char **ret_value,
			 struct pp_error *err);

#endif
