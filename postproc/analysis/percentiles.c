/* SPDX-License-Identifier: MIT */
/*
 * The three forms of a histogram (inline values, a list of steps, counts by step), and the
 * percentiles of each.
 */
#include "analysis/percentiles.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>

#define STEP_BITS 5u
#define STEPS	  (1u << STEP_BITS) /* for each power of two */
/* Counts are allocated in chunks; `first` is a multiple of the chunk size. */
#define CHUNK 8u

/* Durations from 0 to 63 have one step each; 64 to 127 have one step for two values, and so on. */
static unsigned step_of(int64_t ns)
{
	uint64_t value = ns > 0 ? (uint64_t)ns : 0;
	unsigned shift;

	if (value < 2 * STEPS)
		return (unsigned)value;
	shift = 63u - (unsigned)__builtin_clzll(value) - STEP_BITS;
	return shift * STEPS + (unsigned)(value >> shift);
}

static int64_t middle_of(unsigned step)
{
	unsigned shift;
	uint64_t low;

	if (step < 2 * STEPS)
		return step;
	shift = step / STEPS - 1;
	low = (uint64_t)(step % STEPS + STEPS) << shift;
	return (int64_t)(low + ((UINT64_C(1) << shift) - 1) / 2);
}

/* The list of steps of a small set; NULL if there is a histogram. */
static const uint16_t *steps_of(const struct pp_spread *spread)
{
	if (spread->n_steps)
		return NULL;
	return spread->n <= PP_SPREAD_FEW ? spread->few : spread->list;
}

static void widen(struct pp_spread *spread, unsigned step)
{
	unsigned first = step / CHUNK * CHUNK, end = first + CHUNK;
	uint64_t *counts;

	if (spread->n_steps) {
		first = MIN(first, spread->first);
		end = MAX(end, spread->first + spread->n_steps);
	}
	counts = g_new0(uint64_t, end - first);
	for (unsigned i = 0; i < spread->n_steps; i++)
		counts[spread->first - first + i] = spread->counts[i];
	g_free(spread->counts);
	spread->counts = counts;
	spread->first = first;
	spread->n_steps = end - first;
}

static void count_step(struct pp_spread *spread, unsigned step, uint64_t n)
{
	/* Steps below `first` wrap around. */
	if (step - spread->first >= spread->n_steps)
		widen(spread, step);
	spread->counts[step - spread->first] += n;
}

/* Converts the list to a histogram. */
static void make_histogram(struct pp_spread *spread)
{
	uint16_t steps[PP_SPREAD_LIST] = {0};

	if (spread->n)
		memcpy(steps, steps_of(spread), spread->n * sizeof(*steps));
	if (spread->n > PP_SPREAD_FEW)
		g_free(spread->list);
	spread->counts = NULL;
	spread->first = spread->n_steps = 0;
	for (uint64_t i = 0; i < spread->n; i++)
		count_step(spread, steps[i], 1);
}

/* Makes room in the list, doubling it. */
static void make_list_room(struct pp_spread *spread)
{
	uint16_t *list;

	if (spread->n < PP_SPREAD_FEW || (spread->n & (spread->n - 1)))
		return;
	list = g_new(uint16_t, 2 * spread->n);
	memcpy(list, steps_of(spread), spread->n * sizeof(*list));
	if (spread->n > PP_SPREAD_FEW)
		g_free(spread->list);
	spread->list = list;
}

static void add_to_step(struct pp_spread *spread, unsigned step, uint64_t n)
{
	if (!spread->n_steps && spread->n + n > PP_SPREAD_LIST)
		make_histogram(spread);
	if (spread->n_steps || spread->n + n > PP_SPREAD_LIST) {
		count_step(spread, step, n);
		spread->n += n;
		return;
	}
	for (; n; n--) {
		make_list_room(spread);
		(spread->n < PP_SPREAD_FEW ? spread->few : spread->list)[spread->n] =
		    (uint16_t)step;
		spread->n++;
	}
}

void pp_spread_add(struct pp_spread *spread, int64_t ns)
{
	add_to_step(spread, step_of(ns), 1);
	if (ns > spread->max_ns)
		spread->max_ns = ns;
}

void pp_spread_merge(struct pp_spread *spread, const struct pp_spread *other)
{
	const uint16_t *steps = steps_of(other);

	for (uint64_t i = 0; steps && i < other->n; i++)
		add_to_step(spread, steps[i], 1);
	for (unsigned i = 0; i < other->n_steps; i++)
		if (other->counts[i])
			add_to_step(spread, other->first + i, other->counts[i]);
	spread->max_ns = MAX(spread->max_ns, other->max_ns);
}

static int compare_steps(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* The step of the rank-th smallest duration (from 1) of a list. */
static unsigned step_at(const struct pp_spread *spread, uint64_t rank)
{
	uint16_t steps[PP_SPREAD_LIST];

	memcpy(steps, steps_of(spread), spread->n * sizeof(*steps));
	qsort(steps, spread->n, sizeof(*steps), compare_steps);
	return steps[rank - 1];
}

int64_t pp_spread_percentile(const struct pp_spread *spread, unsigned percent)
{
	/* The smallest rank that covers this percentage. */
	uint64_t rank = spread->n / 100 * percent + (spread->n % 100 * percent + 99) / 100,
		 seen = 0;

	if (!spread->n_steps && spread->n)
		return MIN(middle_of(step_at(spread, MAX(rank, 1))), spread->max_ns);
	for (unsigned i = 0; i < spread->n_steps; i++) {
		seen += spread->counts[i];
		if (seen >= rank && seen)
			return MIN(middle_of(spread->first + i), spread->max_ns);
	}
	return spread->max_ns;
}

void pp_spread_done(struct pp_spread *spread)
{
	if (spread->n_steps)
		g_free(spread->counts);
	else if (spread->n > PP_SPREAD_FEW)
		g_free(spread->list);
	*spread = (struct pp_spread){0};
}
