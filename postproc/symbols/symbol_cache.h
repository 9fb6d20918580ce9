/* SPDX-License-Identifier: MIT */
/*
 * Files with cached names that are kept between runs, in $XDG_CACHE_HOME/gprof-mt/symbols or
 * ~/.cache/gprof-mt/symbols.  The cache is optional: unreadable files are ignored, and write errors
 * have no effect.
 *
 * The folder must belong to the user, without write access for others, and symlinks in it are not
 * followed.  A file is written under a temporary name and renamed, so readers always see a complete
 * file.  If the cache is too large, the least recently used files are removed.
 */
#ifndef PP_SYMBOLS_SYMBOL_CACHE_H
#define PP_SYMBOLS_SYMBOL_CACHE_H

#include <glib.h>

/* The maximum size of a file, and of all files. */
#define PP_SYMBOL_CACHE_FILE_BYTES  (8u << 20)
#define PP_SYMBOL_CACHE_TOTAL_BYTES (64u << 20)
#define PP_SYMBOL_CACHE_FILES	    1000u

/*
 * Returns NULL if the file does not exist or must not be read.  `name` consists of letters, digits
 * and "-".
 */
GBytes *pp_symbol_cache_read(const char *name);

void pp_symbol_cache_write(const char *name, GBytes *bytes);

#endif
