/* SPDX-License-Identifier: MIT */
/*
 * The snapshots that `record` takes itself: on a signal, or on a condition.  Each is written by a
 * thread, while the program and the recording go on.  Requests that arrive while one is being
 * written lead to one more, whose reason names all of them.
 */
#ifndef PP_CLI_RECORDING_SNAPSHOTS_H
#define PP_CLI_RECORDING_SNAPSHOTS_H

#include <stdbool.h>

#include <glib.h>

struct pp_snapshots {
	const char *dir, *shown_dir;
	GThreadPool *pool;    /* of one thread */
	GMutex reading;	      /* one thread at a time reads a capture */
	int64_t may_begin_us; /* in any case; 0: pp_snapshots_may_begin() was not called */
	int is_over;	      /* atomic: the recorder writes no more kernel events */
	GMutex asking;	      /* protects the next two */
	GString *why;	      /* of the next one, which no thread has begun yet; NULL: none */
	unsigned n_whys;
};

void pp_snapshots_begin(struct pp_snapshots *snapshots, const char *dir, const char *shown_dir);

/*
 * Asks for one; `why` in words.  Any thread.  Returns false if it is the same as the last one that
 * was asked for.
 */
bool pp_snapshots_ask(struct pp_snapshots *snapshots, const char *why);

/*
 * False as long as the first process has not begun to record, as in the first milliseconds.  True
 * one second after the first call in any case: it may never begin.
 */
bool pp_snapshots_may_begin(struct pp_snapshots *snapshots);

/* Waits until all are written.  Call it when the kernel's events are complete. */
void pp_snapshots_end(struct pp_snapshots *snapshots);

#endif
