/* SPDX-License-Identifier: MIT */
/*
 * Merges all streams of a capture in time order, regardless of their reader, by a heap of feeds.
 * Babeltrace's filter.utils.muxer examines every stream for every message, which with a thousand
 * threads costs more than all the rest.
 */
#ifndef PP_CTF_SWEEP_H
#define PP_CTF_SWEEP_H

#include "ctf/decode.h"

/* One stream.  The first member of its reader's structure. */
struct pp_feed {
	int64_t time_ns; /* of the current event */
	unsigned order;	 /* among equal times, the lowest goes first */
	/* Moves to the next event and sets time_ns; false: there is none. */
	bool (*advance)(struct pp_feed *feed);
	/* Passes on the current event. */
	void (*emit)(struct pp_feed *feed);
};

struct pp_sweep {
	struct pp_decoder decoder;
	struct pp_feed **heap; /* those with an event, earliest first */
	unsigned n_heap, max_heap;
	/* Called every some thousand events; false stops the sweep.  NULL: run to the end. */
	bool (*go_on)(void *data);
	unsigned n_until_asked;
	bool stopped; /* go_on returned false */
	/* Called before an event of that time is passed on.  NULL: not needed. */
	void (*before)(void *data, int64_t time_ns);
	void *before_data;
};

/* Adds a feed if it has an event; call it before the first pp_sweep_run(). */
void pp_sweep_add(struct pp_sweep *sweep, struct pp_feed *feed);

/* Call it when all feeds are added. */
void pp_sweep_start(struct pp_sweep *sweep);

/*
 * Passes on up to n_max events up to until_ns, one feed after the other, without order between
 * feeds.  Returns false if none are left up to then.
 */
bool pp_sweep_until(struct pp_sweep *sweep, int64_t until_ns, uint64_t n_max);

/* Passes on up to n_max events in time order.  Returns false at the end, or if it was stopped. */
bool pp_sweep_run(struct pp_sweep *sweep, uint64_t n_max);

#endif
