/* SPDX-License-Identifier: MIT */
/*
 * Opens an object's file for libdwfl, and says where what is known of it comes from: whatever is
 * found in the same files is the same.  A separate debug file is looked for once, even if that
 * means to ask a server.
 */
#ifndef PP_SYMBOLS_DEBUG_FILE_H
#define PP_SYMBOLS_DEBUG_FILE_H

#include <stdbool.h>

#include <elfutils/libdwfl.h>

struct pp_debug_file;

/* Never NULL; see pp_debug_file_fault(). */
struct pp_debug_file *pp_debug_file_open(const char *path, const char *build_id);
void pp_debug_file_close(struct pp_debug_file *file);

/* "build-id differs", and the module is NULL; NULL: nothing is wrong. */
const char *pp_debug_file_fault(const struct pp_debug_file *file);

/* At bias 0. */
Dwfl_Module *pp_debug_file_module(const struct pp_debug_file *file);

/*
 * The build-id, the files that names and lines are read from, with their sizes and times, and the
 * version of who reads them.  NULL: that cannot be told.  The caller frees it.
 */
char *pp_debug_file_key(struct pp_debug_file *file);

#endif
