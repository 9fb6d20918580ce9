/* SPDX-License-Identifier: MIT */
/* The sections of `predict ulcp`: how many there are, and what is known of them. */
#ifndef PP_CLI_ULCP_SECTIONS_H
#define PP_CLI_ULCP_SECTIONS_H

#include "cli/ulcp/models.h"
#include "table/table.h"

/* Sections, and pairs of them, by their contention. The caller frees the table. */
struct pp_table *pp_cli_ulcp_sections(const struct pp_cli_ulcp_models *models);

/* Adds notes on what the models leave out. */
void pp_cli_ulcp_note_models(struct pp_table *table, const struct pp_cli_ulcp_models *models,
			     bool is_one_capture);

#endif
