/* SPDX-License-Identifier: MIT */
/* The pairs of code regions of `predict ulcp`. */
#ifndef PP_CLI_ULCP_REGIONS_H
#define PP_CLI_ULCP_REGIONS_H

#include "cli/ulcp/models.h"
#include "table/table.h"

/* has_gains: the pairs have their gains. The caller frees the table. */
struct pp_table *pp_cli_ulcp_regions(const struct pp_cli_ulcp_models *models, bool has_gains);

#endif
