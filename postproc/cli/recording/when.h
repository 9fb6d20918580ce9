/* SPDX-License-Identifier: MIT */
/*
 * record --when CONDITION: takes a snapshot when something has lasted too long.  A thread of
 * `record` reads the last part of the live capture, as `top` does, so the program does nothing for
 * it.
 */
#ifndef PP_CLI_RECORDING_WHEN_H
#define PP_CLI_RECORDING_WHEN_H

#include "cli/recording/condition.h"
#include "cli/recording/snapshots.h"

struct pp_watch;

/* `whens`: of struct pp_when, borrowed.  NULL: there are none. */
struct pp_watch *pp_watch_begin(GArray *whens, struct pp_snapshots *snapshots);

/*
 * Ends it when the program has ended: looks for the last time, at what ended with the program, and
 * prints what the user has to know.
 */
void pp_watch_end(struct pp_watch *watch);

#endif
