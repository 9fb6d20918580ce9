/* SPDX-License-Identifier: MIT */
/*
 * Where libgmon_mt.so and libsync_trace.so are: in $GPROF_MT_LIBDIR, beside the gprof-mt that runs
 * (a build tree), in ../lib of it, or where `make install` put them.
 */
#ifndef PP_RECORD_LIBRARIES_H
#define PP_RECORD_LIBRARIES_H

#include <stdbool.h>

#include <glib.h>

#include "core/error.h"

/* Absolute paths, NULL-terminated; free with g_strfreev().  -ENOENT names where it looked. */
int pp_libraries_find(GStrv *ret_paths, struct pp_error *err);

/* -ENOENT: the provider for LTTng-UST is not there with them. */
int pp_libraries_check_ust(char *const *paths, struct pp_error *err);

/*
 * Whether LD_PRELOAD leads each program to what it can load, and musl's programs to nothing.
 */
bool pp_libraries_have_tree(char *const *paths);

/*
 * ... and programs of 32 bits (i386, or the x32 ABI) to empty libraries in place of ours.
 */
bool pp_libraries_have_stub(char *const *paths, bool is_x32);

/*
 * The value of LD_PRELOAD that has them before what `old` (may be NULL) has.  -EINVAL: a path with
 * a space or colon, which the loader would take for two.
 */
int pp_libraries_preload(char *const *paths, const char *old, char **ret_value,
			 struct pp_error *err);

#endif
