/* SPDX-License-Identifier: MIT */
/* A pool of worker threads that reads the longest streams first. */
#include "calls/pool.h"

#include <sched.h>

#include "core/progress.h"

/* More workers would wait for the disk, and each has its own results in memory. */
#define MAX_WORKERS 16

static unsigned n_cpus(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus)
							      : g_get_num_processors();
}

unsigned pp_calls_pool_workers(guint n_parts)
{
	return CLAMP(MIN(n_cpus(), n_parts), 1, MAX_WORKERS);
}

void pp_calls_pool_at_once(unsigned n_workers, void *(*work)(void *data), void *data)
{
	GThread *threads[MAX_WORKERS] = {NULL};

	/* The calling thread is a worker, too; if others cannot be started, it does their share. */
	for (unsigned i = 1; i < n_workers; i++)
		threads[i] = g_thread_try_new("calls", work, data, NULL);
	work(data);
	for (unsigned i = 1; i < n_workers; i++)
		if (threads[i])
			g_thread_join(threads[i]);
}

static gint by_length(gconstpointer a, gconstpointer b, void *data)
{
	const GPtrArray *streams = data;
	uint64_t x = pp_calls_stream_bytes(streams->pdata[*(const unsigned *)a]);
	uint64_t y = pp_calls_stream_bytes(streams->pdata[*(const unsigned *)b]);

	return x < y ? 1 : x > y ? -1 : 0;
}

void pp_calls_pool_init(struct pp_calls_pool *pool, struct pp_capture *capture,
			bool (*take)(void *data, unsigned worker, guint stream), void *data)
{
	GPtrArray *streams = pp_calls_streams_new(capture);

	*pool = (struct pp_calls_pool){
	    .streams = streams,
	    .n_workers = pp_calls_pool_workers(streams->len),
	    .take = take,
	    .data = data,
	    .order = g_new(unsigned, streams->len),
	};
	for (guint i = 0; i < streams->len; i++) {
		pp_calls_stream_share(streams->pdata[i], capture->model->lock);
		pool->order[i] = i;
	}
	g_qsort_with_data(pool->order, (gint)streams->len, sizeof(*pool->order), by_length,
			  streams);
}

void pp_calls_pool_done(struct pp_calls_pool *pool)
{
	g_ptr_array_unref(pool->streams);
	g_free(pool->order);
}

static void *work(void *data)
{
	struct pp_calls_pool *pool = data;
	unsigned number = (unsigned)g_atomic_int_add(&pool->n_begun, 1);

	while (!g_atomic_int_get(&pool->stopped)) {
		guint at = (guint)g_atomic_int_add(&pool->next, 1);

		if (at >= pool->streams->len)
			break;
		if (!pool->take(pool->data, number, pool->order[at]))
			g_atomic_int_set(&pool->stopped, 1);
	}
	return NULL;
}

bool pp_calls_pool_run(struct pp_calls_pool *pool)
{
	uint64_t bytes = 0;

	for (guint i = 0; i < pool->streams->len; i++)
		bytes += pp_calls_stream_bytes(pool->streams->pdata[i]);
	pp_progress_begin(bytes);
	pp_calls_pool_at_once(pool->n_workers, work, pool);
	pp_progress_end();
	return !pool->stopped;
}
