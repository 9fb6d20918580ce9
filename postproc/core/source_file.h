/* SPDX-License-Identifier: MIT */
/*
 * Source files, as a program's debug information names them.  That may name anything, and so may
 * whoever made the capture.
 */
#ifndef PP_CORE_SOURCE_FILE_H
#define PP_CORE_SOURCE_FILE_H

#include <stdbool.h>

/*
 * The text of a regular file of some size; NULL: it cannot be read, and *ret_why says why.  The
 * caller frees it.
 *
 * only_sources: the text is for others than who reads the file now, so it must have the name of a
 * source file, where links lead as well, and be text.
 */
char *pp_source_file_read(const char *path, bool only_sources, const char **ret_why);

/* A line, fit to be shown, with blanks for tabs.  The caller frees it. */
char *pp_source_line(const char *line);

#endif
