/* SPDX-License-Identifier: MIT */
/* The model to be replayed, from a capture or a file. */
#ifndef PP_CLI_REPLAY_SOURCE_H
#define PP_CLI_REPLAY_SOURCE_H

#include "cli/replay/arguments.h"
#include "cli/replay/runs.h"
#include "core/error.h"
#include "replay/build.h"
#include "replay/recording.h"

struct pp_cli_replay_source {
	struct pp_replay_model *model;
	struct pp_replay_gaps gaps; /* none if the model is from a file */
	GArray *sets;		    /* of struct pp_replay_set, with `arguments->sets`; else NULL */
	struct pp_replay_cut_sums cut; /* held: NULL: no part of the time was asked for */
	char *unknown_cost;	       /* why the cost of recording is not known; NULL: it is */
	GPtrArray *command;	       /* of char *, ends with NULL; NULL: it is not known */
	char *cwd;		       /* where that was executed; NULL: not known */
	int status;		       /* exit status: the capture's damage has been printed */
	/*
	 * By pp_cli_replay_same(): the replay of the run as it was recorded, which has no runs
	 * (ns.n is 0) if this machine has too few CPUs for it; and what the model has no more, as
	 * a sum and of each operation.
	 */
	struct pp_cli_replay_outcome same;
	struct pp_replay_taken_out recording;
	int64_t recording_ns;
};

/* True for a file, which is a model; captures are directories. */
bool pp_cli_replay_is_model(const char *path);

/* Returns 0 or -errno; the caller calls pp_cli_replay_source_done() in both cases. */
int pp_cli_replay_source_read(struct pp_cli_replay_source *source,
			      const struct pp_cli_replay_arguments *arguments,
			      struct pp_error *err);
void pp_cli_replay_source_done(struct pp_cli_replay_source *source);

#endif
