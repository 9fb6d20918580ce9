/* SPDX-License-Identifier: MIT */
/*
 * The merge of all streams of a capture in order of time, whoever reads them: a heap of feeds.
 * filter.utils.muxer of Babeltrace looks at every stream for every message, which with a thousand
 * threads costs more than all the rest.
 */
#ifndef PP_CTF_SWEEP_H
#define PP_CTF_SWEEP_H

#include "ctf/decode.h"

/* A stream.  The first member of what its reader needs. */
struct pp_feed {
	int64_t time_ns; /* of the event that it is at */
	unsigned order;	 /* between equal times, the least goes first */
	/* Goes on to the next event, and sets time_ns; false: there is none. */
	bool (*advance)(struct pp_feed *feed);
	/* Hands over the event that it is at. */
	void (*emit)(struct pp_feed *feed);
};

struct pp_sweep {
	struct pp_decoder decoder;
	struct pp_feed **heap; /* those with an event, least time first */
	unsigned n_heap, max_heap;
	/* Asked now and then; false: the rest is not wanted.  NULL: all of it is. */
	bool (*go_on)(void *data);
	unsigned n_until_asked;
	bool stopped; /* ... and it said so */
	/* Told before the turn of an event of that time.  NULL: nobody wants to know. */
	void (*before)(void *data, int64_t time_ns);
	void *before_data;
};

/* Adds a feed if it has an event; before the first pp_sweep_run(). */
void pp_sweep_add(struct pp_sweep *sweep, struct pp_feed *feed);

/* All have been added. */
void pp_sweep_start(struct pp_sweep *sweep);

/*
 * Hands over up to n_max events that are no later than that, a feed's one after the other, in no
 * order between feeds.  False: there are no more of them.
 */
bool pp_sweep_until(struct pp_sweep *sweep, int64_t until_ns, uint64_t n_max);

/* Hands over up to n_max events, least time first.  False: there are no more, or it was stopped. */
bool pp_sweep_run(struct pp_sweep *sweep, uint64_t n_max);

#endif
