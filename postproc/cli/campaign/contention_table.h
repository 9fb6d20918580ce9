/* SPDX-License-Identifier: MIT */
/* Unnecessary lock contention over the points of a campaign (contention.h). */
#ifndef PP_CLI_CAMPAIGN_CONTENTION_TABLE_H
#define PP_CLI_CAMPAIGN_CONTENTION_TABLE_H

#include "cli/campaign/campaign.h"
#include "table/table.h"

/* A row for each step whose recorded run has accesses. */
struct pp_table *pp_campaign_table_contention(struct pp_campaign *campaign);

#endif
