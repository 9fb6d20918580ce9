/* SPDX-License-Identifier: MIT */
/* The results of a campaign as tables. */
#ifndef PP_CLI_CAMPAIGN_TABLES_H
#define PP_CLI_CAMPAIGN_TABLES_H

#include "cli/campaign/campaign.h"
#include "table/table.h"

/*
 * Adds all tables to the array, which owns them: steps, bottlenecks, inconclusive, sections,
 * scalability, laws, curves, failures, runs.
 */
void pp_campaign_tables(struct pp_campaign *campaign, GPtrArray *tables);

#endif
