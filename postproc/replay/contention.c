/* SPDX-License-Identifier: MIT */
/*
 * The cost of a contended release is the difference of two means: of the CPU time from the release
 * to the next operation, if other threads waited for the lock, and if none did. Only times between
 * the same two call sites are compared.
 */
#include "replay/contention.h"

/* Longer times, and times until a wake-up, have another cause, such as an interrupt. */
#define LONGEST_NS	200000
#define LONGEST_WAKE_NS 20000

/* Means of fewer times are not compared. */
#define LEAST 8

/* Times between two call sites, by whether others waited for the lock. */
struct between {
	uint64_t n[2], sum_ns[2];
};

struct pp_replay_contention {
	GHashTable *between;		 /* sites -> struct between */
	uint64_t n_first, first_ns;	 /* waits that blocked; CPU time before */
	uint64_t n_blocked, blocked_ns;	 /* times that a wait blocked; CPU time afterwards */
	uint64_t n_wakes, until_wake_ns; /* of releases; from the release to the wake-up */
};

struct pp_replay_contention *pp_replay_contention_new(void)
{
	struct pp_replay_contention *self = g_new0(struct pp_replay_contention, 1);

	self->between = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	return self;
}

void pp_replay_contention_free(struct pp_replay_contention *self)
{
	g_hash_table_unref(self->between);
	g_free(self);
}

void pp_replay_contender_done(struct pp_replay_contender *contender)
{
	g_clear_pointer(&contender->contended, g_array_unref);
}

/* --- waits ------------------------------------------------------------------------------------ */

void pp_replay_contention_waits(struct pp_replay_contender *contender)
{
	contender->is_waiting = true;
	contender->has_blocked = false;
	contender->wait_cpu_ns = 0;
}

void pp_replay_contention_acquired(struct pp_replay_contention *self,
				   struct pp_replay_contender *contender)
{
	if (contender->has_blocked) {
		self->n_first++;
		self->first_ns += contender->wait_cpu_ns;
	}
	contender->is_waiting = contender->has_blocked = false;
}

void pp_replay_contention_ran(struct pp_replay_contention *self,
			      struct pp_replay_contender *contender, int64_t ns)
{
	if (!contender->is_waiting)
		return;
	if (contender->has_blocked)
		self->blocked_ns += (uint64_t)ns;
	else
		contender->wait_cpu_ns += (uint64_t)ns;
}

void pp_replay_contention_blocked(struct pp_replay_contention *self,
				  struct pp_replay_contender *contender)
{
	if (!contender->is_waiting)
		return;
	contender->has_blocked = true;
	self->n_blocked++;
}

/* --- releases --------------------------------------------------------------------------------- */

void pp_replay_contention_released(struct pp_replay_contender *contender, uint32_t site,
				   bool had_waiters, int64_t now_ns)
{
	contender->release_site = site;
	contender->release_ns = now_ns;
	contender->is_after_release = true;
	contender->had_waiters = had_waiters;
	contender->has_woken = false;
}

void pp_replay_contention_wakes(struct pp_replay_contention *self,
				struct pp_replay_contender *contender, int64_t now_ns)
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

void pp_replay_contention_step(struct pp_replay_contention *self,
			       struct pp_replay_contender *contender, uint32_t number,
			       uint32_t site, uint64_t cpu_ns)
{
	uint64_t sites = (uint64_t)contender->release_site << 32 | site;
	struct between *between;

	if (!contender->is_after_release)
		return;
	contender->is_after_release = false;
	if (contender->had_waiters) {
		if (!contender->contended)
			contender->contended = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_array_append_val(contender->contended, number);
	}
	between = g_hash_table_lookup(self->between, &sites);
	if (!between) {
		between = g_new0(struct between, 1);
		g_hash_table_insert(self->between, g_memdup2(&sites, sizeof(sites)), between);
	}
	if (cpu_ns > LONGEST_NS)
		return;
	between->n[contender->had_waiters]++;
	between->sum_ns[contender->had_waiters] += cpu_ns;
}

/* --- costs ------------------------------------------------------------------------------------ */

static double mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : 0;
}

/* The mean of all differences, by the number of contended releases. */
static double release_cost(const struct pp_replay_contention *self)
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

struct pp_replay_costs pp_replay_contention_costs(const struct pp_replay_contention *self)
{
	double block_ns = mean(self->first_ns, self->n_first);
	/* A wait that blocks again has used CPU time for this, too. */
	double again_ns =
	    (double)self->blocked_ns -
	    block_ns * (double)(self->n_blocked - MIN(self->n_first, self->n_blocked));
	double retry_ns = self->n_blocked ? MAX(again_ns / (double)self->n_blocked, 0) : 0;
	struct pp_replay_costs costs = {
	    .block_ns = (int64_t)block_ns,
	    .retry_ns = (int64_t)retry_ns,
	    .release_ns = (int64_t)release_cost(self),
	    .wake_up_ns = (int64_t)mean(self->until_wake_ns, self->n_wakes),
	};

	return costs;
}

void pp_replay_contention_take_out(const struct pp_replay_contender *contender,
				   const struct pp_replay_costs *costs, GArray *steps)
{
	for (guint i = 0; contender->contended && i < contender->contended->len; i++) {
		uint32_t number = g_array_index(contender->contended, uint32_t, i);
		struct pp_replay_step *step = &g_array_index(steps, struct pp_replay_step, number);

		step->cpu_ns -= MIN(step->cpu_ns, (uint64_t)costs->release_ns);
	}
}
