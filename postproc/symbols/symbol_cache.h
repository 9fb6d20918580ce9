/* SPDX-License-Identifier: MIT */
/*
 * Files of cached names that are kept from one run to the next: $XDG_CACHE_HOME/gprof-mt/symbols,
 * or
 * ~/.cache/gprof-mt/symbols.  Nothing depends on them: what cannot be read or written is not there.
 *
 * The folder is this user's, and nobody else may write there; no links are followed in it.  A file
 * is written beside its place and then moved, so that whoever reads it has all of it.  What
 * was not used for the longest goes first, once there is too much.
 */
#ifndef PP_SYMBOLS_SYMBOL_CACHE_H
#define PP_SYMBOLS_SYMBOL_CACHE_H

#include <glib.h>

/* Of a file, and of all together, which are at most so many. */
#define PP_SYMBOL_CACHE_FILE_BYTES  (8u << 20)
#define PP_SYMBOL_CACHE_TOTAL_BYTES (64u << 20)
#define PP_SYMBOL_CACHE_FILES	    1000u

/* NULL: there is none, or none that may be read.  `name` is of letters, digits and "-". */
GBytes *pp_symbol_cache_read(const char *name);

void pp_symbol_cache_write(const char *name, GBytes *bytes);

#endif
