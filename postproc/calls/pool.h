/* SPDX-License-Identifier: MIT */
/* Reads call histories in parallel, one stream per CPU. */
#ifndef PP_CALLS_POOL_H
#define PP_CALLS_POOL_H

#include "calls/history.h"

struct pp_calls_pool {
	GPtrArray *streams; /* of struct pp_calls_stream *, shared under the model's lock */
	unsigned n_workers; /* 1 to the number of CPUs, and of streams */
	gint stopped;	    /* a worker stopped the pool */
	/* Reads a stream.  Returns false to stop all workers. */
	bool (*take)(void *data, unsigned worker, guint stream);
	void *data;
	unsigned *order; /* of the streams: longest first, so that all workers end together */
	gint next;	 /* position in `order` */
	gint n_begun;	 /* number of started workers */
};

void pp_calls_pool_init(struct pp_calls_pool *pool, struct pp_capture *capture,
			bool (*take)(void *data, unsigned worker, guint stream), void *data);
void pp_calls_pool_done(struct pp_calls_pool *pool);

/* Returns when all streams have been read, or false if the pool was stopped. */
bool pp_calls_pool_run(struct pp_calls_pool *pool);

/* The number of threads for n_parts parts: one per CPU at most. */
unsigned pp_calls_pool_workers(guint n_parts);

/* Runs work(data) in n_workers threads at the same time, including the calling one. */
void pp_calls_pool_at_once(unsigned n_workers, void *(*work)(void *data), void *data);

#endif
