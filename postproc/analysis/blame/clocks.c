/* SPDX-License-Identifier: MIT */
/*
 * The clocks of the holds of a watched lock: each runs at its share of the time, by what its thread
 * does.
 *
 * All holds that are active share each instant equally, so the lock has one clock, which runs at
 * 1 / n, and the clock of a hold takes over what it has advanced when its thread's mode changes,
 * and when a wait is charged.  An event thus costs the same with any number of holds.  The clocks
 * are in units of 2^-32 ns, and the rest of each division is added to the next one.
 *
 * A wait is charged what a clock advanced since its begin.  The clock's value then follows from the
 * lock's clock, and from a mark: the hold's clock before it took over the time in which waits
 * began.
 */
#include "analysis/blame/internal.h"

#include "analysis/select.h"

#define UNIT_BITS 32
#define UNIT	  (UINT64_C(1) << UNIT_BITS)

/* So many marks of a hold are kept, although their waits may have ended. */
#define FEW_MARKS 16

/* --- the clock of the lock -------------------------------------------------------------------- */

void pp_blame_run(struct pp_blame *blame, struct pp_blame_place *place, int64_t now_ns)
{
	struct pp_blame_watch *watch = place->watch;
	int64_t past_ns;
	pp_blame_units units;

	if (!watch || now_ns <= watch->until_ns)
		return;
	past_ns = pp_selected_ns(blame->context, watch->until_ns, now_ns);
	watch->until_ns = now_ns;
	if (!watch->n_active) {
		watch->free_ns += past_ns;
		return;
	}
	units = (pp_blame_units)past_ns * UNIT + watch->rest;
	if (watch->n_active == 1) {
		watch->clock += units;
		watch->rest = 0;
	} else if (units <= UINT64_MAX) {
		watch->clock += (uint64_t)units / watch->n_active;
		watch->rest = (uint64_t)units % watch->n_active;
	} else {
		watch->clock += units / watch->n_active;
		watch->rest = (uint64_t)(units % watch->n_active);
	}
}

/* --- the clock of a hold ---------------------------------------------------------------------- */

static struct pp_blame_mark *mark_at(const struct pp_blame_instance *hold, guint i)
{
	return &g_array_index(hold->marks, struct pp_blame_mark, i);
}

/* The position of the last mark that was made up to then. */
static guint find_mark(const struct pp_blame_instance *hold, pp_blame_units at)
{
	guint low = 0, high = hold->marks->len;

	while (high - low > 1) {
		guint middle = low + (high - low) / 2;

		if (mark_at(hold, middle)->at <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Keeps the marks that an open wait needs. */
static void drop_marks(struct pp_blame_instance *hold)
{
	const GPtrArray *waits = hold->place->waits;
	guint n = 0;

	for (guint i = 0; i < hold->marks->len; i++)
		mark_at(hold, i)->is_needed = false;
	for (guint i = 0; i < waits->len; i++) {
		const struct pp_blame_wait *wait = waits->pdata[i];

		mark_at(hold, find_mark(hold, wait->begin))->is_needed = true;
	}
	for (guint i = 0; i < hold->marks->len; i++)
		if (mark_at(hold, i)->is_needed)
			*mark_at(hold, n++) = *mark_at(hold, i);
	g_array_set_size(hold->marks, n);
	hold->n_marks = n;
}

static void add_mark(struct pp_blame_instance *hold, enum pp_mode mode)
{
	struct pp_blame_mark mark = {.at = hold->seen, .mode = mode, .clock = hold->clock};

	if (!hold->marks)
		hold->marks = g_array_new(FALSE, FALSE, sizeof(mark));
	else if (hold->marks->len >= 2 * hold->n_marks + FEW_MARKS)
		drop_marks(hold);
	g_array_append_val(hold->marks, mark);
}

/* Takes over what the lock's clock has advanced, while the hold's thread was in that mode. */
static void take_over(struct pp_blame_instance *hold, enum pp_mode mode)
{
	const struct pp_blame_watch *watch = hold->place->watch;

	if (!hold->is_active || hold->seen == watch->clock)
		return;
	if (hold->n_begun != watch->n_begun)
		add_mark(hold, mode);
	hold->n_begun = watch->n_begun;
	hold->clock.mode[mode] += watch->clock - hold->seen;
	hold->seen = watch->clock;
}

void pp_blame_take_over(const struct pp_blame *blame, struct pp_blame_instance *hold)
{
	take_over(hold, pp_blame_mode(blame, hold->thread));
}

void pp_blame_thread_ran(struct pp_blame *blame, struct pp_blame_instance *hold,
			 const struct pp_interval *interval)
{
	/* Until the lock's last event, its mode was the one that was known then. */
	pp_blame_take_over(blame, hold);
	pp_blame_run(blame, hold->place, interval->end_ns);
	take_over(hold, interval->mode);
}

/* --- what a wait is charged ------------------------------------------------------------------- */

/* The clock of the hold since the begin of the wait, in units. */
static struct pp_blame_clock since_begin(const struct pp_blame_wait *wait,
					 const struct pp_blame_instance *hold)
{
	struct pp_blame_clock clock = hold->clock;
	const struct pp_blame_mark *mark;

	if (wait->begin >= hold->seen)
		return (struct pp_blame_clock){0};
	if (wait->begin <= hold->since)
		return clock;
	mark = mark_at(hold, find_mark(hold, wait->begin));
	for (unsigned mode = 0; mode < PP_N_MODES; mode++)
		clock.mode[mode] -= mark->clock.mode[mode];
	clock.mode[mark->mode] -= wait->begin - mark->at;
	return clock;
}

/* The fractions of charges add up: the sum of all is rounded. */
struct pp_blame_figures pp_blame_share(struct pp_blame *blame, struct pp_blame_wait *wait,
				       struct pp_blame_instance *hold)
{
	struct pp_blame_figures figures = {0};
	struct pp_blame_clock clock;

	pp_blame_take_over(blame, hold);
	clock = since_begin(wait, hold);
	for (unsigned mode = 0; mode < PP_N_MODES; mode++) {
		pp_blame_units units = clock.mode[mode] + wait->fraction;

		figures.mode_ns[mode] = (int64_t)(units >> UNIT_BITS);
		figures.ns += figures.mode_ns[mode];
		wait->fraction = (uint32_t)units;
	}
	return figures;
}

int64_t pp_blame_blocked_ns(const struct pp_blame *blame, const struct pp_blame_wait *wait,
			    struct pp_blame_instance *hold)
{
	pp_blame_take_over(blame, hold);
	return (int64_t)(since_begin(wait, hold).mode[PP_MODE_BLOCKED_SYNC] >> UNIT_BITS);
}
