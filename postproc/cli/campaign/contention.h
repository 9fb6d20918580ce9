/* SPDX-License-Identifier: MIT */
/*
 * Unnecessary lock contention in a recorded run (paper 003): pairs of sections by class, and the
 * share of the run time that it costs.  A campaign shows both over its workloads, numbers of
 * threads and of CPUs.
 */
#ifndef PP_CLI_CAMPAIGN_CONTENTION_H
#define PP_CLI_CAMPAIGN_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/ulcp/models.h"
#include "cli/view.h"

/* Counts of `report ulcp`, over all processes. */
enum pp_contention_count {
	PP_CONTENTION_SECTIONS,
	PP_CONTENTION_PAIRS,
	PP_CONTENTION_NULL_LOCK,
	PP_CONTENTION_READ_READ,
	PP_CONTENTION_DISJOINT,
	PP_CONTENTION_BENIGN,
	PP_CONTENTION_TRUE,
	PP_CONTENTION_UNDECIDED,
	PP_CONTENTION_UNNECESSARY,
	PP_CONTENTION_N
};

struct pp_contention {
	bool has_counts; /* false: the run recorded no accesses */
	uint64_t counts[PP_CONTENTION_N];
	/* By `predict ulcp`, in percent of the run time; all or none of them. */
	bool has_lost;
	double lost_pct[PP_CLI_ULCP_N_ORDERS], error_pct[PP_CLI_ULCP_N_ORDERS];
	char *why_not; /* why there are none, although accesses were recorded */
};

/* The pass that has to be run for it, if the capture has accesses. */
#define PP_CONTENTION_PASS "ulcp"

/* Reads the figures of the capture in the directory, whose passes the view has run. */
void pp_contention_read(const struct pp_view *view, const char *dir, struct pp_contention *ret);
void pp_contention_done(struct pp_contention *contention);

#endif
