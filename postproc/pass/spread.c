/* SPDX-License-Identifier: MIT */
#include "pass/spread.h"

#include <glib.h>

#define STEP_BITS 5u
#define STEPS	  (1u << STEP_BITS) /* for each power of two */
/* Room is made for so many at a time, a multiple of which `first` is. */
#define CHUNK 8u

/* 0 to 63 have a step each; 64 to 127 one for two, and so on. */
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

static void add_to_step(struct pp_spread *spread, unsigned step, uint64_t n)
{
	/* Below `first` it wraps around. */
	if (step - spread->first >= spread->n_steps)
		widen(spread, step);
	spread->counts[step - spread->first] += n;
	spread->n += n;
}

void pp_spread_add(struct pp_spread *spread, int64_t ns)
{
	add_to_step(spread, step_of(ns), 1);
	if (ns > spread->max_ns)
		spread->max_ns = ns;
}

void pp_spread_merge(struct pp_spread *spread, const struct pp_spread *other)
{
	for (unsigned i = 0; i < other->n_steps; i++)
		if (other->counts[i])
			add_to_step(spread, other->first + i, other->counts[i]);
	spread->max_ns = MAX(spread->max_ns, other->max_ns);
}

int64_t pp_spread_percentile(const struct pp_spread *spread, unsigned percent)
{
	/* The least number of them that is no less than that share. */
	uint64_t rank = spread->n / 100 * percent + (spread->n % 100 * percent + 99) / 100,
		 seen = 0;

	for (unsigned i = 0; i < spread->n_steps; i++) {
		seen += spread->counts[i];
		if (seen >= rank && seen)
			return MIN(middle_of(spread->first + i), spread->max_ns);
	}
	return spread->max_ns;
}

void pp_spread_done(struct pp_spread *spread)
{
	g_free(spread->counts);
	*spread = (struct pp_spread){0};
}
