/* SPDX-License-Identifier: MIT */
/* Runs the tests of a campaign (campaign.h). */
#ifndef PP_CLI_CAMPAIGN_ENGINE_H
#define PP_CLI_CAMPAIGN_ENGINE_H

#include "cli/campaign/campaign.h"

/*
 * Makes the runs.  An error means that no further run is possible, and nothing was lost: the
 * results so far are valid.
 */
int pp_campaign_run_all(struct pp_campaign *campaign, struct pp_error *err);
void pp_campaign_done(struct pp_campaign *campaign);

/* The capture of a step; NULL: it was not recorded.  The caller frees it. */
char *pp_campaign_capture(const struct pp_campaign *campaign, const struct pp_test *test,
			  const struct pp_step *step);

/* The capture's facts, which the campaign owns; NULL: the step was not recorded. */
const struct pp_facts *pp_campaign_facts(struct pp_campaign *campaign, const struct pp_test *test,
					 const struct pp_point *point);

#endif
