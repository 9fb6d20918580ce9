/* SPDX-License-Identifier: MIT */
/* A suggestion as a list of named texts, which text output and the page show. */
#ifndef PP_CLI_SUGGEST_ITEMS_H
#define PP_CLI_SUGGEST_ITEMS_H

#include "cli/suggest/runs.h"
#include "suggest/patterns.h"

struct pp_suggest_item {
	const char *name; /* "prediction"; "": another one of the same name */
	char *text;
	bool is_source; /* the lines of an excerpt (excerpt.h) */
};

/* "lists_lock: split the lock: ...".  The caller frees it. */
char *pp_suggest_headline(const struct pp_suggestion *suggestion);

/* Returns an array of struct pp_suggest_item *, which the caller unrefs. */
GPtrArray *pp_suggest_items(const struct pp_suggest_runs *runs,
			    const struct pp_suggestion *suggestion);

#endif
