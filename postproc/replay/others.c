/* SPDX-License-Identifier: MIT */
/*
 * The times by number of threads that wanted a CPU, from all begins and ends in order of time.
 * Other programs' own switches are not recorded: a CPU is taken until a thread of the program comes
 * to it.
 */
#include "replay/others.h"

#include <stdlib.h>

#include "replay/model.h"

#define MAX_OTHERS (PP_REPLAY_MOST_OTHERS / 1000.0)

/* In the number of threads that run, of those that wait for a CPU, and of CPUs that are taken. */
struct change {
	int64_t at_ns;
	int running, runnable, taken;
};

struct pp_replay_others {
	GArray *changes;   /* of struct change */
	GHashTable *taken; /* CPUs that run other programs */
};

struct pp_replay_others *pp_replay_others_new(void)
{
	struct pp_replay_others *self = g_new(struct pp_replay_others, 1);

	self->changes = g_array_new(FALSE, FALSE, sizeof(struct change));
	self->taken = g_hash_table_new(NULL, NULL);
	return self;
}

void pp_replay_others_free(struct pp_replay_others *self)
{
	g_array_unref(self->changes);
	g_hash_table_unref(self->taken);
	g_free(self);
}

void pp_replay_others_take(struct pp_replay_others *self, int cpu, int64_t at_ns, bool is_taken)
{
	struct change change = {.at_ns = at_ns, .taken = is_taken ? 1 : -1};
	void *key = GINT_TO_POINTER(cpu);

	if (is_taken ? g_hash_table_add(self->taken, key) : g_hash_table_remove(self->taken, key))
		g_array_append_val(self->changes, change);
}

void pp_replay_others_add(struct pp_replay_others *self, int64_t start_ns, int64_t end_ns,
			  bool is_running)
{
	struct change begin = {start_ns, is_running, !is_running, 0};
	struct change end = {end_ns, -begin.running, -begin.runnable, 0};

	g_array_append_val(self->changes, begin);
	g_array_append_val(self->changes, end);
}

static int compare_changes(const void *a, const void *b)
{
	int64_t x = ((const struct change *)a)->at_ns, y = ((const struct change *)b)->at_ns;

	return (x > y) - (x < y);
}

/* The CPUs that `wanted` threads get beside so many others, each with a fair share. */
static double share(double wanted, double others, double n_cpus)
{
	return MIN(wanted, n_cpus * wanted / (wanted + others));
}

/* Returns the others for which the program's threads get the CPU time that they had. */
static double solve_others(const GArray *wanted_ns, double running_ns, double n_cpus)
{
	double low = 0, high = MAX_OTHERS;

	for (int step = 0; step < 40; step++) {
		double others = (low + high) / 2, sum_ns = 0;

		for (guint n = 1; n < wanted_ns->len; n++)
			sum_ns += g_array_index(wanted_ns, double, n) * share(n, others, n_cpus);
		if (sum_ns > running_ns)
			low = others;
		else
			high = others;
	}
	return low;
}

uint32_t pp_replay_others_count(struct pp_replay_others *self, uint32_t n_cpus)
{
	g_autoptr(GArray) wanted_ns = g_array_new(FALSE, TRUE, sizeof(double)); /* by threads */
	double running_ns = 0;
	int running = 0, runnable = 0, taken = 0;
	int64_t before_ns = 0;

	if (!self->changes->len)
		return 0;
	qsort(self->changes->data, self->changes->len, sizeof(struct change), compare_changes);
	for (guint i = 0; i < self->changes->len; i++) {
		const struct change *change = &g_array_index(self->changes, struct change, i);
		double ns = (double)(change->at_ns - before_ns);
		int wanted = running + (taken ? runnable : 0);

		if (wanted > 0) {
			if ((guint)wanted >= wanted_ns->len)
				g_array_set_size(wanted_ns, (guint)wanted + 1);
			g_array_index(wanted_ns, double, wanted) += ns;
			running_ns += ns * running;
		}
		before_ns = change->at_ns;
		running += change->running;
		runnable += change->runnable;
		taken += change->taken;
	}
	return (uint32_t)(1000 * solve_others(wanted_ns, running_ns, n_cpus) + 0.5);
}
