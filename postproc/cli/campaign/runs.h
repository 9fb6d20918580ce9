/* SPDX-License-Identifier: MIT */
/* Makes single runs of a campaign, and logs them. */
#ifndef PP_CLI_CAMPAIGN_RUNS_H
#define PP_CLI_CAMPAIGN_RUNS_H

#include "cli/campaign/campaign.h"

/*
 * Makes runs of a kind until the log has n of them, also failed ones.  Gives up after three failed
 * runs if none has succeeded.  Ends early, with campaign->end set, if the campaign is to end.
 * Returns 0 or -errno.
 */
int pp_campaign_make_runs(struct pp_campaign *campaign, const struct pp_test *test,
			  const struct pp_point *point, enum pp_run_kind kind, uint64_t n,
			  struct pp_error *err);

/* Removes the line that shows the progress. */
void pp_campaign_progress_end(void);

#endif
