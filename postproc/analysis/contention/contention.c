/* SPDX-License-Identifier: MIT */
/*
 * The cost of a contended release is the difference of two means: of the CPU time from the release
 * to the next operation, if other threads waited for the lock, and if none did. Only times between
 * the same two call sites are compared.
 */
#include "analysis/contention/contention.h"

#include <string.h>

/* Longer times, and times until a wake-up, have another cause, such as an interrupt. */
#define LONGEST_NS	200000
#define LONGEST_WAKE_NS 20000

/* Means of fewer times are not compared. */
#define LEAST 8

/* A key: two call sites. */
struct sites {
	uint64_t from, to;
};

/* Times between two call sites, by whether others waited for the lock. */
struct between {
	uint64_t n[2], sum_ns[2];
};

struct pp_contention {
	GHashTable *between;		 /* struct sites -> struct between */
	uint64_t n_first, first_ns;	 /* waits that blocked; CPU time before */
	uint64_t n_blocked, blocked_ns;	 /* times that a wait blocked; CPU time afterwards */
	uint64_t n_wakes, until_wake_ns; /* of releases; from the release to the wake-up */
};

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
	if (contender->has_blocked) {
		self->n_first++;
		self->first_ns += contender->wait_cpu_ns;
	}
	contender->is_waiting = contender->has_blocked = false;
}

static void wait_passes(struct pp_contention *self, struct pp_contender *contender, int64_t ns,
			enum pp_mode mode)
{
	if (!contender->is_waiting || mode == PP_MODE_RUNNABLE || mode == PP_MODE_UNKNOWN)
		return;
	if (mode != PP_MODE_RUNNING) {
		contender->has_blocked = true;
		self->n_blocked++;
	} else if (contender->has_blocked) {
		self->blocked_ns += (uint64_t)ns;
	} else {
		contender->wait_cpu_ns += (uint64_t)ns;
	}
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
	if (ns > LONGEST_WAKE_NS)
		return;
	self->n_wakes++;
	self->until_wake_ns += (uint64_t)ns;
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
	return n > 0 && self->n_wakes ? MAX(sum / n, 0) : 0;
}

struct pp_contention_costs pp_contention_costs(const struct pp_contention *self)
{
	double block_ns = mean(self->first_ns, self->n_first);
	/* A wait that blocks again has used CPU time for this, too. */
	double again_ns =
	    (double)self->blocked_ns -
	    block_ns * (double)(self->n_blocked - MIN(self->n_first, self->n_blocked));
	double retry_ns = self->n_blocked ? MAX(again_ns / (double)self->n_blocked, 0) : 0;
	struct pp_contention_costs costs = {
	    .block_ns = (int64_t)block_ns,
	    .retry_ns = (int64_t)retry_ns,
	    .release_ns = (int64_t)release_cost(self),
	    .wake_up_ns = (int64_t)mean(self->until_wake_ns, self->n_wakes),
	};

	return costs;
}
