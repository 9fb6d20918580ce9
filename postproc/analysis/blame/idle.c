/* SPDX-License-Identifier: MIT */
/*
 * The idle part of waits (analysis/state/idle.h), whose causes hold nothing back.  It is known at
 * the end, by waiting call, and shared among the causes of that call's waits in proportion to their
 * time.
 */
#include "analysis/blame/internal.h"

struct waiter {
	struct pp_blame_call call;
	int64_t wait_ns;
	int64_t folded_ns; /* idle waits for objects that no longer exist */
	struct pp_idle_sums sums;
};

static guint waiter_hash(const void *data)
{
	const struct pp_blame_call *call = &((const struct waiter *)data)->call;

	return (guint)(call->site ^ call->op) ^ g_direct_hash(call->path);
}

static gboolean waiter_equal(const void *a, const void *b)
{
	return pp_blame_call_equal(&((const struct waiter *)a)->call,
				   &((const struct waiter *)b)->call);
}

static void waiter_free(void *data)
{
	struct waiter *waiter = data;

	pp_idle_sums_done(&waiter->sums);
	g_free(waiter);
}

static struct waiter *waiter_of(struct pp_blame_place *place, const struct pp_blame_call *call)
{
	const struct waiter key = {.call = *call};
	struct waiter *waiter;

	if (!place->waiters)
		place->waiters =
		    g_hash_table_new_full(waiter_hash, waiter_equal, waiter_free, NULL);
	waiter = g_hash_table_lookup(place->waiters, &key);
	if (!waiter) {
		waiter = g_memdup2(&key, sizeof(key));
		g_hash_table_add(place->waiters, waiter);
	}
	return waiter;
}

void pp_blame_idle_add(struct pp_blame *blame, struct pp_blame_place *place,
		       const struct pp_operation *operation, bool counts, int64_t wait_ns)
{
	const struct pp_blame_call call = {operation->op, operation->site, operation->path};
	struct waiter *waiter = waiter_of(place, &call);

	waiter->wait_ns += wait_ns;
	pp_idle_add(&blame->idle, place->idle, &waiter->sums, place->object, operation, counts,
		    wait_ns);
}

static int64_t idle_ns(const struct pp_blame_place *place, const struct waiter *waiter)
{
	struct pp_idle_total total = {0};

	pp_idle_get(place->idle, place->object, &waiter->sums, waiter->call.site, &total);
	return waiter->folded_ns + total.ns;
}

void pp_blame_idle_fold(struct pp_blame_place *to, const struct pp_blame_place *from)
{
	GHashTableIter iter;
	gpointer key;

	if (!from->waiters)
		return;
	g_hash_table_iter_init(&iter, from->waiters);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const struct waiter *waiter = key;
		struct waiter *sum = waiter_of(to, &waiter->call);

		sum->wait_ns += waiter->wait_ns;
		sum->folded_ns += idle_ns(from, waiter);
	}
}

int64_t pp_blame_idle_part(const struct pp_blame_place *place, const struct pp_blame_cell *cell)
{
	const struct waiter key = {.call = cell->waiter};
	const struct waiter *waiter =
	    place->waiters ? g_hash_table_lookup(place->waiters, &key) : NULL;
	int64_t part_ns;

	if (!waiter || waiter->wait_ns <= 0)
		return 0;
	part_ns = (int64_t)((__int128)cell->figures.ns * idle_ns(place, waiter) / waiter->wait_ns);
	return CLAMP(part_ns, 0, cell->figures.ns);
}
