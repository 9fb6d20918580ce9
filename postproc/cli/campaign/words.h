/* SPDX-License-Identifier: MIT */
#ifndef PP_CLI_CAMPAIGN_WORDS_H
#define PP_CLI_CAMPAIGN_WORDS_H

#include "cli/campaign/campaign.h"
#include "table/table.h"

/*
 * States the results in notes of the table: which workloads expose a problem, which critical
 * section is the cause and how sure that is, and what no run has exercised.
 */
void pp_campaign_words(struct pp_campaign *campaign, struct pp_table *table);

#endif
