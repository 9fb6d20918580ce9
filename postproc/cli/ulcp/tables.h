/* SPDX-License-Identifier: MIT */
/* The tables of `predict ulcp`. */
#ifndef PP_CLI_ULCP_TABLES_H
#define PP_CLI_ULCP_TABLES_H

#include "cli/ulcp/models.h"
#include "table/table.h"

/*
 * Replays both models, and adds the tables: the run times with and without unnecessary contention,
 * and the pairs of code regions, by their gain. Returns 0 or -errno.
 */
int pp_cli_ulcp_tables(const struct pp_cli_ulcp_arguments *arguments,
		       struct pp_cli_ulcp_models *models, GPtrArray *tables, struct pp_error *err);

/* The first table in words; NULL: a figure is missing. The caller frees them. */
char *pp_cli_ulcp_words(const struct pp_table *times);

#endif
