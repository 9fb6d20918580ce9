/* SPDX-License-Identifier: MIT */
/*
 * Opens an object's file for libdwfl, and identifies the files that its names come from: equal keys
 * mean equal names.  A separate debug file is searched for once, even if that involves a request to
 * a server.
 */
#ifndef PP_SYMBOLS_DEBUG_FILE_H
#define PP_SYMBOLS_DEBUG_FILE_H

#include <stdbool.h>

#include <elfutils/libdwfl.h>

struct pp_debug_file;

/* Never returns NULL; see pp_debug_file_fault(). */
struct pp_debug_file *pp_debug_file_open(const char *path, const char *build_id);
void pp_debug_file_close(struct pp_debug_file *file);

/* The reason why there is no module, "build-id differs"; NULL if there is one. */
const char *pp_debug_file_fault(const struct pp_debug_file *file);

/* The module, at bias 0. */
Dwfl_Module *pp_debug_file_module(const struct pp_debug_file *file);

/* In hexadecimal; the caller frees it.  NULL: it has none. */
char *pp_debug_file_build_id(Dwfl_Module *module);

/*
 * A key of the build-id, the files that names and lines are read from, with their sizes and times,
 * and libdw's version.  NULL if these cannot be determined.  The caller frees it.
 */
char *pp_debug_file_key(struct pp_debug_file *file);

#endif
