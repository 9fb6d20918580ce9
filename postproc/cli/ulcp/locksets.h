/* SPDX-License-Identifier: MIT */
/* `predict ulcp --locksets`: the cost of auxiliary locks. */
#ifndef PP_CLI_ULCP_LOCKSETS_H
#define PP_CLI_ULCP_LOCKSETS_H

#include "cli/ulcp/models.h"
#include "core/error.h"
#include "table/table.h"

/*
 * Runs skeletons without unnecessary contention, in the recorded order: with waits, with auxiliary
 * locks, and with dynamic ones. Returns the table; NULL after an error. The caller frees it.
 */
struct pp_table *pp_cli_ulcp_locksets(const struct pp_cli_ulcp_arguments *arguments,
				      const struct pp_cli_ulcp_models *models,
				      struct pp_error *err);

#endif
