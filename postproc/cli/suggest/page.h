/* SPDX-License-Identifier: MIT */
/* `suggest --format html`: the suggestions and the proof as a page that can be handed on. */
#ifndef PP_CLI_SUGGEST_PAGE_H
#define PP_CLI_SUGGEST_PAGE_H

#include "cli/suggest/runs.h"
#include "table/table.h"

/*
 * Writes the file, complete in itself.  after: of the changed program; NULL: none were given;
 * shown: of struct pp_suggestion *; tables: "suggestions", and those of pp_suggest_proof_tables().
 * Returns 0 or -errno.
 */
int pp_suggest_page_write(const char *path, const struct pp_suggest_runs *runs,
			  const struct pp_suggest_runs *after, const GPtrArray *shown,
			  const GPtrArray *tables, struct pp_error *err);

#endif
