/* SPDX-License-Identifier: MIT */
#ifndef PP_CLI_CAMPAIGN_RUN_TABLE_H
#define PP_CLI_CAMPAIGN_RUN_TABLE_H

#include "cli/campaign/campaign.h"
#include "table/table.h"

/* All runs, also those that failed, in the order in which they were made; for programs only. */
struct pp_table *pp_campaign_table_runs(const struct pp_campaign *campaign);

#endif
