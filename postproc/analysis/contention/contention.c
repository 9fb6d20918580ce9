/* SPDX-License-Identifier: MIT */
/*
 * The cost of a contended release is the difference of two means: of the CPU time from the release
 * to the next operation, if other threads waited for the lock, and if none did. Only times between
 * the same two call sites are compared.
 *
 * The other costs are medians: the CPU may do something else for long meanwhile, for an interrupt,
 * or because a hypervisor has taken it. If there are many times, it keeps
 * every second, fourth, ... one.
 */
#include "analysis/contention/contention.h"

#include <stdlib.h>
#include <string.h>

/* Longer times, and times until a wake-up, have another cause, such as an interrupt. */
#define LONGEST_NS	200000
#define LONGEST_WAKE_NS 20000

/* Means of fewer times are not compared. */
#define LEAST 8

/* The most times that are kept. */
#define MOST 4096

struct times {
	GArray *ns;	 /* of uint32_t; NULL: none */
	uint64_t n_seen; /* of which every one in `stride` is kept */
	uint32_t stride;
};

/* A key: two call sites. */
struct sites {
	uint64_t from, to;
};

/* Times between two call sites, by whether others waited for the lock. */
struct between {
	uint64_t n[2], sum_ns[2];
};

struct pp_contention {
	GHashTable *between; /* struct sites -> struct between */
	/* CPU times of waits before they blocked, and from their last wake-up to their end. */
	struct times block, retry;
	struct times until_wake; /* from a release to the wake-up */
};

static void times_done(struct times *times)
{
	g_clear_pointer(&times->ns, g_array_unref);
}

/* Keeps every second time. */
static void thin_out(struct times *times)
{
	for (guint i = 0; i < MOST / 2; i++)
		g_array_index(times->ns, uint32_t, i) = g_array_index(times->ns, uint32_t, 2 * i);
	g_array_set_size(times->ns, MOST / 2);
	times->stride *= 2;
}

static void add_time(struct times *times, uint64_t ns)
{
	uint32_t time_ns = (uint32_t)MIN(ns, UINT32_MAX);

	if (!times->ns) {
		times->ns = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		times->stride = 1;
	}
	if (times->n_seen++ % times->stride)
		return;
	g_array_append_val(times->ns, time_ns);
	if (times->ns->len == MOST)
		thin_out(times);
}

static guint sites_hash(gconstpointer key)
{
	const struct sites *sites = key;

	return g_int64_hash(&sites->from) * 31 + g_int64_hash(&sites->to);
}

static gboolean sites_equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(struct sites)) == 0;
}

struct pp_contention *pp_contention_new(void)
{
	struct pp_contention *self = g_new0(struct pp_contention, 1);

	self->between = g_hash_table_new_full(sites_hash, sites_equal, g_free, g_free);
	return self;
}

void pp_contention_free(struct pp_contention *self)
{
	g_hash_table_unref(self->between);
	times_done(&self->block);
	times_done(&self->retry);
	times_done(&self->until_wake);
	g_free(self);
}

/* --- waits ------------------------------------------------------------------------------------ */

void pp_contention_waits(struct pp_contender *contender, bool is_lock)
{
	contender->n_waits++;
	if (!is_lock)
		return;
	contender->is_waiting = true;
	contender->has_blocked = false;
	contender->wait_cpu_ns = 0;
}

void pp_contention_waited(struct pp_contention *self, struct pp_contender *contender)
{
	contender->n_waits -= contender->n_waits > 0;
	if (contender->has_blocked)
		add_time(&self->retry, contender->wait_cpu_ns);
	contender->is_waiting = contender->has_blocked = false;
}

static void wait_passes(struct pp_contention *self, struct pp_contender *contender, int64_t ns,
			enum pp_mode mode)
{
	if (!contender->is_waiting || mode == PP_MODE_RUNNABLE || mode == PP_MODE_UNKNOWN)
		return;
	if (mode == PP_MODE_RUNNING) {
		contender->wait_cpu_ns += (uint64_t)ns;
		return;
	}
	if (!contender->has_blocked)
		add_time(&self->block, contender->wait_cpu_ns);
	contender->has_blocked = true;
	contender->wait_cpu_ns = 0;
}

int64_t pp_contention_pass(struct pp_contention *self, struct pp_contender *contender,
			   int64_t until_ns, enum pp_mode mode)
{
	int64_t ns = until_ns - contender->until_ns;

	if (contender->until_ns == PP_TIME_UNKNOWN || ns <= 0) {
		contender->until_ns = MAX(contender->until_ns, until_ns);
		return 0;
	}
	contender->until_ns = until_ns;
	if (contender->n_waits)
		wait_passes(self, contender, ns, mode);
	else if (mode == PP_MODE_RUNNING || mode == PP_MODE_UNKNOWN)
		contender->cpu_ns += (uint64_t)ns;
	else if (mode == PP_MODE_BLOCKED_IO || mode == PP_MODE_BLOCKED_OTHER)
		return ns;
	return 0;
}

/* --- releases --------------------------------------------------------------------------------- */

void pp_contention_released(struct pp_contender *contender, uint64_t site, bool had_waiters,
			    int64_t now_ns)
{
	contender->release_site = site;
	contender->release_ns = now_ns;
	contender->is_after_release = true;
	contender->had_waiters = had_waiters;
	contender->has_woken = false;
}

void pp_contention_wakes(struct pp_contention *self, struct pp_contender *contender, int64_t now_ns)
{
	int64_t ns = MAX(now_ns - contender->release_ns, 0);

	if (!contender->is_after_release || !contender->had_waiters || contender->has_woken)
		return;
	contender->has_woken = true;
	if (ns <= LONGEST_WAKE_NS)
		add_time(&self->until_wake, (uint64_t)ns);
}

static struct between *between_sites(struct pp_contention *self, uint64_t from, uint64_t to)
{
	const struct sites key = {from, to};
	struct between *between = g_hash_table_lookup(self->between, &key);

	if (!between) {
		between = g_new0(struct between, 1);
		g_hash_table_insert(self->between, g_memdup2(&key, sizeof(key)), between);
	}
	return between;
}

uint64_t pp_contention_step(struct pp_contention *self, struct pp_contender *contender,
			    uint64_t site, bool *ret_contended)
{
	uint64_t cpu_ns = contender->cpu_ns;
	struct between *between;

	*ret_contended = contender->is_after_release && contender->had_waiters;
	contender->cpu_ns = 0;
	if (!contender->is_after_release)
		return cpu_ns;
	contender->is_after_release = false;
	between = between_sites(self, contender->release_site, site);
	if (cpu_ns <= LONGEST_NS) {
		between->n[contender->had_waiters]++;
		between->sum_ns[contender->had_waiters] += cpu_ns;
	}
	return cpu_ns;
}

/* --- costs ------------------------------------------------------------------------------------ */

static int compare_times(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* 0: there are no times. */
static int64_t median(const struct times *times)
{
	g_autofree uint32_t *sorted = NULL;

	if (!times->ns)
		return 0;
	sorted = g_memdup2(times->ns->data, times->ns->len * sizeof(uint32_t));
	qsort(sorted, times->ns->len, sizeof(uint32_t), compare_times);
	return sorted[times->ns->len / 2];
}

static double mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : 0;
}

/* The mean of all differences, by the number of contended releases. */
static double release_cost(const struct pp_contention *self)
{
	GHashTableIter iter;
	void *value;
	double n = 0, sum = 0;

	g_hash_table_iter_init(&iter, self->between);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const struct between *between = value;

		if (between->n[0] < LEAST || between->n[1] < LEAST)
			continue;
		n += (double)between->n[1];
		sum += (double)between->n[1] * (mean(between->sum_ns[1], between->n[1]) -
						mean(between->sum_ns[0], between->n[0]));
	}
	/* Without scheduling events, CPU times may have waits for a CPU in them. */
	return n > 0 && self->until_wake.ns ? MAX(sum / n, 0) : 0;
}

struct pp_contention_costs pp_contention_costs(const struct pp_contention *self)
{
	return (struct pp_contention_costs){
	    .block_ns = median(&self->block),
	    .retry_ns = median(&self->retry),
	    .release_ns = (int64_t)release_cost(self),
	    .wake_up_ns = median(&self->until_wake),
	};
}
