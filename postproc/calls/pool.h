/* SPDX-License-Identifier: MIT */
/* Histories of calls read at the same time, a stream to a CPU. */
#ifndef PP_CALLS_POOL_H
#define PP_CALLS_POOL_H

#include "calls/history.h"

struct pp_calls_pool {
	GPtrArray *streams; /* of struct pp_calls_stream *, shared under the model's lock */
	unsigned n_workers; /* at least one; no more than there are CPUs, or streams */
	gint stopped;	    /* one said so */
	/* Reads a stream; false: the rest of them is not wanted, by none of the workers. */
	bool (*take)(void *data, unsigned worker, guint stream);
	void *data;
	unsigned *order; /* of the streams: the longest first, so that all end together */
	gint next;	 /* place in `order` */
	gint n_begun;	 /* workers */
};

void pp_calls_pool_init(struct pp_calls_pool *pool, struct pp_capture *capture,
			bool (*take)(void *data, unsigned worker, guint stream), void *data);
void pp_calls_pool_done(struct pp_calls_pool *pool);

/* Until all streams have been taken.  False: it was stopped. */
bool pp_calls_pool_run(struct pp_calls_pool *pool);

/* How many threads are to do so many parts: a CPU each. */
unsigned pp_calls_pool_workers(guint n_parts);

/* Has so many threads at once do work(data), this one among them. */
void pp_calls_pool_at_once(unsigned n_workers, void *(*work)(void *data), void *data);

#endif
