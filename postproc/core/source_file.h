/* SPDX-License-Identifier: MIT */
/*
 * Reads the source files that debug information names.  Debug information may name any file, and a
 * capture may come from an untrusted source.
 */
#ifndef PP_CORE_SOURCE_FILE_H
#define PP_CORE_SOURCE_FILE_H

#include <stdbool.h>

/*
 * Reads a regular file of limited size.  The caller frees the text.  Returns NULL if it cannot be
 * read, with the reason in *ret_why.
 *
 * only_sources: other users will see the text.  The name, after symlinks are resolved, must then be
 * that of a source file, and the content must be text.
 */
char *pp_source_file_read(const char *path, bool only_sources, const char **ret_why);

/* The line with tabs expanded to spaces, safe to print.  The caller frees it. */
char *pp_source_line(const char *line);

#endif
