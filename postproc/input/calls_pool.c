/* SPDX-License-Identifier: MIT */
#include "input/calls_pool.h"

#include <sched.h>

/* More of them wait for the disk, and each keeps what it found. */
#define MAX_WORKERS 16

struct worker {
	struct pp_calls_pool *pool;
	unsigned number;
};

/* That this process may use. */
static unsigned n_cpus(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus)
							      : g_get_num_processors();
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
	    .n_workers = CLAMP(MIN(n_cpus(), streams->len), 1, MAX_WORKERS),
	    .take = take,
	    .data = data,
	    .order = g_new(unsigned, streams->len),
	};
	g_mutex_init(&pool->lock);
	for (guint i = 0; i < streams->len; i++) {
		pp_calls_stream_share(streams->pdata[i], &pool->lock);
		pool->order[i] = i;
	}
	g_qsort_with_data(pool->order, (gint)streams->len, sizeof(*pool->order), by_length,
			  streams);
}

void pp_calls_pool_done(struct pp_calls_pool *pool)
{
	g_ptr_array_unref(pool->streams);
	g_mutex_clear(&pool->lock);
	g_free(pool->order);
}

static void *work(void *data)
{
	const struct worker *worker = data;
	struct pp_calls_pool *pool = worker->pool;

	while (!g_atomic_int_get(&pool->stopped)) {
		guint at = (guint)g_atomic_int_add(&pool->next, 1);

		if (at >= pool->streams->len)
			break;
		if (!pool->take(pool->data, worker->number, pool->order[at]))
			g_atomic_int_set(&pool->stopped, 1);
	}
	return NULL;
}

bool pp_calls_pool_run(struct pp_calls_pool *pool)
{
	struct worker workers[MAX_WORKERS];
	GThread *threads[MAX_WORKERS] = {NULL};

	for (unsigned i = 0; i < pool->n_workers; i++) {
		workers[i] = (struct worker){pool, i};
		/* The first is this thread; without the others it does their part. */
		if (i)
			threads[i] = g_thread_try_new("calls", work, &workers[i], NULL);
	}
	work(&workers[0]);
	for (unsigned i = 1; i < pool->n_workers; i++)
		if (threads[i])
			g_thread_join(threads[i]);
	return !pool->stopped;
}
