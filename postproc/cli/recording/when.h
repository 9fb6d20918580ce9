/* SPDX-License-Identifier: MIT */
/*
 * record --when CONDITION: takes a snapshot when something has lasted too long.
 *
 *   wait > 50ms, wait of NAME > 50ms   a wait for a lock, or for the object NAME of any kind
 *   hold > 10ms, hold of NAME > 10ms   a lock was held
 *   call > 1s, call of NAME > 1s       a blocking call, or one of the function NAME
 *   stall > 1s, stall of NAME > 1s     a thread did not run, or one with that name
 *
 * A thread of `record` reads the last part of the live capture, as `top` does, so the program does
 * nothing for it.
 */
#ifndef PP_CLI_RECORDING_WHEN_H
#define PP_CLI_RECORDING_WHEN_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "cli/recording/snapshots.h"

enum pp_when_kind { PP_WHEN_WAIT, PP_WHEN_HOLD, PP_WHEN_CALL, PP_WHEN_STALL, PP_N_WHENS };

struct pp_when {
	enum pp_when_kind kind;
	char *name; /* NULL: any */
	int64_t longer_ns;
	const char *text; /* as given; borrowed */
	bool was_seen;	  /* there was an object, function or thread of that name */
	int64_t seen_ns;  /* it was true at the last look, for so long; 0: it was not */
	unsigned n_true;
};

/* Returns false if the text is no condition.  The caller frees ->name. */
bool pp_when_parse(const char *text, struct pp_when *ret);

struct pp_watch;

/* `whens`: of struct pp_when, borrowed.  NULL: there are none. */
struct pp_watch *pp_watch_begin(GArray *whens, struct pp_snapshots *snapshots);

/* Ends it, and prints what the user has to know. */
void pp_watch_end(struct pp_watch *watch);

#endif
