/* SPDX-License-Identifier: MIT */
/* The lines of a section that may be moved, as whole statements. */
#ifndef PP_CLI_SUGGEST_WHOLE_H
#define PP_CLI_SUGGEST_WHOLE_H

#include "suggest/facts.h"

/*
 * Leaves only whole statements of the site's lines movable: those at the begin of the section
 * before the lock, those at its end behind the unlock.  sources: paths of source files by names of
 * sites. Without its source, the extent keeps its lines and tells so.
 */
void pp_suggest_keep_whole(struct pp_suggest_site *site, GHashTable *sources);

#endif
