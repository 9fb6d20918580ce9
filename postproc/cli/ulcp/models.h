/* SPDX-License-Identifier: MIT */
/* A recorded run as models with and without unnecessary contention. */
#ifndef PP_CLI_ULCP_MODELS_H
#define PP_CLI_ULCP_MODELS_H

#include "cli/replay/source.h"
#include "cli/ulcp/arguments.h"
#include "replay/ulcp/gain.h"

/* The order in which sections that contend have their locks. */
enum pp_cli_ulcp_order { PP_CLI_ULCP_RECORDED, PP_CLI_ULCP_FREE, PP_CLI_ULCP_N_ORDERS };

struct pp_cli_ulcp_models {
	struct pp_cli_replay_source source, accesses; /* accesses: only if it is another capture */
	const GArray *sets;			      /* of struct pp_replay_set */
	GArray *joined;				      /* ... that were joined; NULL */
	GArray *sections;
	struct pp_ulcp_edges edges;
	/* By order: with unnecessary contention, and without. */
	struct pp_ulcp_result with[PP_CLI_ULCP_N_ORDERS], without[PP_CLI_ULCP_N_ORDERS];
	uint64_t n_waits; /* of the result without, in the recorded order */
	GArray *pairs;	  /* of struct pp_ulcp_pair */
	struct pp_ulcp_counts counts;
};

/*
 * Reads the captures, makes both models, and proves that they keep the order that they should.
 * Returns 0 or -errno; the caller calls pp_cli_ulcp_models_done() in both cases.
 */
int pp_cli_ulcp_models_make(struct pp_cli_ulcp_models *models,
			    const struct pp_cli_ulcp_arguments *arguments, struct pp_error *err);
void pp_cli_ulcp_models_done(struct pp_cli_ulcp_models *models);

#endif
