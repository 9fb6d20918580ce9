/* SPDX-License-Identifier: MIT */
/* The source lines of a critical section. */
#ifndef PP_CLI_SUGGEST_EXCERPT_H
#define PP_CLI_SUGGEST_EXCERPT_H

#include "suggest/facts.h"

/*
 * The lines from the call that enters the sections of the site to the one that leaves them, each
 * with its number; if the latter is not known, those around the first call.  Marks: '>' both calls,
 * '*' accesses of conflicting memory; with `has_moves` also '^' lines that may be moved before the
 * section, and 'v' behind it.  sources: name of a call site -> path of its source file.
 * Returns NULL if the source cannot be read, with the reason in *ret_why.  The caller frees the
 * text.
 */
char *pp_suggest_excerpt(const struct pp_suggest_site *site, GHashTable *sources, bool has_moves,
			 const char **ret_why);

#endif
