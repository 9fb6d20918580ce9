/* SPDX-License-Identifier: MIT */
/* The command line of `replay`. */
#ifndef PP_CLI_REPLAY_ARGUMENTS_H
#define PP_CLI_REPLAY_ARGUMENTS_H

#include "cli/tables.h"
#include "replay/change/change.h"
#include "replay/skeleton/skeleton.h"

/* The most CPUs of a replay. */
#define PP_CLI_REPLAY_MAX_CPUS 1024

/* The greatest cost of recording an operation. */
#define PP_CLI_REPLAY_MAX_COST_NS PP_REPLAY_LONGEST_WAKE_NS

enum pp_cli_replay_engine { PP_CLI_REPLAY_SIMULATION, PP_CLI_REPLAY_SKELETON };

struct pp_cli_replay_arguments {
	struct pp_cli_tables how;
	const char *path; /* the capture or model */
	bool is_page;	  /* --format html */
	const char *page; /* its file */
	bool has_time;	  /* only from then until then, since the begin of the capture */
	int64_t from_ns, to_ns;
	const char *write;  /* the model's file; NULL: none */
	GArray *cpus;	    /* of int64_t, rising; NULL: those of the recorded machine */
	GPtrArray *changes; /* of struct pp_change *: all of them together are one program */
	enum pp_cli_replay_engine engine;
	enum pp_skeleton_order order;
	uint32_t n_runs;
	int64_t cost_ns; /* of recording an operation; -1: none was given */
	bool fair, allow_gaps;
	bool is_quiet; /* the caller prints the damage of the capture */
	bool check, rank;
	bool sets; /* the accesses of all acquisitions are wanted, and must have been recorded */
	const char *against; /* a capture or model of the changed program; NULL: none */
	char **command;	     /* that program, ends with NULL; NULL: none */
};

#define PP_CLI_REPLAY_RUNS 10 /* by default */

/* Read the values of --engine and --runs. Return PP_EXIT_GOOD, or the exit status. */
int pp_cli_replay_take_engine(const char *command, const char *value,
			      enum pp_cli_replay_engine *ret);
int pp_cli_replay_take_runs(const char *command, const char *value, uint32_t *ret);

/*
 * Reads the command line.  Returns -1 to continue, else the exit status.  In both cases the caller
 * calls pp_cli_replay_arguments_done().
 */
int pp_cli_replay_arguments_read(struct pp_cli_replay_arguments *arguments, int argc, char **argv);
void pp_cli_replay_arguments_done(struct pp_cli_replay_arguments *arguments);

#endif
