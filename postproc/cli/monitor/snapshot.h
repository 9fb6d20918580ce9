/* SPDX-License-Identifier: MIT */
/*
 * The last part of the time of a capture that is still being recorded: what threads waited for in
 * it, and what they wait for now.
 *
 * Only synchronization events are read, and of these only the ones in that part and a few before
 * it (ctf/windowed.h), so the cost does not grow with the capture.  The kernel's events, which
 * arrive two to three seconds later, are left out.
 */
#ifndef PP_CLI_MONITOR_SNAPSHOT_H
#define PP_CLI_MONITOR_SNAPSHOT_H

#include "cli/view.h"

struct pp_snapshot {
	struct pp_view view;
	struct pp_windows windows;
	struct pp_selection *selection;
	int64_t from_ns, until_ns; /* CLOCK_MONOTONIC */
	uint64_t bytes;		   /* of all synchronization events so far */
	bool is_live;		   /* false: the program has ended; see may_be_over */
};

/* The part of the time that is read, and the passes that read it. */
struct pp_snapshot_part {
	const char *const *passes;
	unsigned n_passes;
	int64_t from_ns;
	int64_t min_wait_ns; /* of the selection; 0: none */
	GHashTable *options; /* of the passes (analysis/pass.h); borrowed; NULL: none */
	bool may_be_over;    /* reads it also if the program has ended; else nothing is set then */
};

/*
 * Reads that part, up to now.  Returns 0 or -errno.  To be released with pp_snapshot_done() in any
 * case.
 */
int pp_snapshot_read(struct pp_snapshot *snapshot, const char *dir,
		     const struct pp_snapshot_part *part, struct pp_error *err);

/* The part from that time on, for `locks`, `waiting` and `io`. */
int pp_snapshot_take(struct pp_snapshot *snapshot, const char *dir, int64_t from_ns,
		     struct pp_error *err);
void pp_snapshot_done(struct pp_snapshot *snapshot);

#endif
