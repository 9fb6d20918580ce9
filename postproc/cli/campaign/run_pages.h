/* SPDX-License-Identifier: MIT */
#ifndef PP_CLI_CAMPAIGN_RUN_PAGES_H
#define PP_CLI_CAMPAIGN_RUN_PAGES_H

#include "cli/campaign/campaign.h"

/*
 * Exports the page of each recorded run, beside its capture, unless there is one.  Goes on after an
 * export that fails, which has printed why.  Returns 0 or -errno, also if one failed.
 */
int pp_campaign_make_run_pages(const struct pp_campaign *campaign, struct pp_error *err);

#endif
