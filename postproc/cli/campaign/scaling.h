/* SPDX-License-Identifier: MIT */
/* The tables of a campaign's scalability. */
#ifndef PP_CLI_CAMPAIGN_SCALING_H
#define PP_CLI_CAMPAIGN_SCALING_H

#include "cli/campaign/campaign.h"
#include "table/table.h"

struct pp_table *pp_campaign_table_scalability(struct pp_campaign *campaign);
struct pp_table *pp_campaign_table_laws(struct pp_campaign *campaign);
/* For programs only: the laws as curves. */
struct pp_table *pp_campaign_table_curves(struct pp_campaign *campaign);

#endif
