/* SPDX-License-Identifier: MIT */
/*
 * Waits at barriers.  Each arrival is charged to by all threads that wait already, for the time
 * since the arrival before.  A round keeps its arrivals in order, so that a thread's charges are
 * those after its own, and memory is linear in the number of threads.
 *
 * The call path of an arrival is known when its wait ends.  When all waits of a round have ended,
 * one sweep through the arrivals adds the charges to the cells: the time of an arrival, times the
 * number of threads that waited then at each call.
 */
#include "analysis/blame/internal.h"

#define NONE G_MAXUINT

struct arrival {
	struct pp_blame_call call; /* that waits, and to which others are charged */
	struct pp_blame_figures figures;
	int64_t sum_ns; /* of all arrivals up to this one */
	bool counts;
	guint last; /* the last arrival that the wait is charged to; NONE: it is not charged */
};

struct pp_blame_round {
	struct pp_blame_place *place;
	GArray *arrivals; /* of struct arrival */
	guint n_open;
	bool is_complete;
	int64_t until_ns; /* the last arrival */
};

static struct arrival *arrival_at(const struct pp_blame_round *round, guint i)
{
	return &g_array_index(round->arrivals, struct arrival, i);
}

static struct pp_blame_round *round_new(struct pp_blame_place *place)
{
	struct pp_blame_round *round = g_new0(struct pp_blame_round, 1);

	round->place = place;
	round->arrivals = g_array_new(FALSE, FALSE, sizeof(struct arrival));
	if (!place->rounds)
		place->rounds = g_ptr_array_new();
	g_ptr_array_add(place->rounds, round);
	return round;
}

/* The round that threads arrive at; NULL: none. */
static struct pp_blame_round *open_round(const struct pp_blame_place *place)
{
	struct pp_blame_round *last = place->rounds && place->rounds->len
					  ? place->rounds->pdata[place->rounds->len - 1]
					  : NULL;

	return last && !last->is_complete ? last : NULL;
}

/* --- arrivals --------------------------------------------------------------------------------- */

/* Others wait, whose threads may hold locks for which further ones wait. */
static void charge_nested(struct pp_blame *blame, struct pp_blame_place *place,
			  const struct pp_operation *operation, int64_t now_ns, bool is_last)
{
	const struct pp_blame_cause cause = pp_blame_cause_of(operation);
	struct pp_blame_instance *instance = NULL;

	if (!blame->n_held)
		return;
	if (!is_last) {
		instance = pp_blame_instance_new(place, operation->thread);
		instance->cause = cause;
	}
	for (guint i = 0; i < place->waits->len; i++) {
		struct pp_blame_wait *wait = place->waits->pdata[i];

		if (!pp_blame_is_passed(wait))
			pp_blame_nested_charge(blame, wait, &cause, instance, now_ns);
	}
	if (instance)
		pp_blame_resolve_later(pp_blame_thread(blame, operation->thread), instance);
}

static void arrive(struct pp_blame *blame, struct pp_blame_round *round,
		   const struct pp_operation *operation, int64_t now_ns)
{
	struct arrival arrival = {.call = {operation->op, operation->site, operation->path},
				  .last = NONE};

	if (round->arrivals->len) {
		pp_blame_activity(blame, operation->thread, round->until_ns,
				  MAX(now_ns, round->until_ns), &arrival.figures);
		arrival.sum_ns = arrival_at(round, round->arrivals->len - 1)->sum_ns;
	}
	arrival.sum_ns += arrival.figures.ns;
	round->until_ns = MAX(now_ns, round->until_ns);
	g_array_append_val(round->arrivals, arrival);
}

void pp_blame_barrier_waits(struct pp_blame *blame, struct pp_blame_wait *wait,
			    const struct pp_operation *operation)
{
	struct pp_blame_round *round = open_round(wait->place);

	if (round)
		charge_nested(blame, wait->place, operation, operation->begin_ns, false);
	else
		round = round_new(wait->place);
	arrive(blame, round, operation, operation->begin_ns);
	wait->round = round;
	wait->arrival = round->arrivals->len - 1;
	round->n_open++;
}

void pp_blame_barrier_passed(struct pp_blame *blame, struct pp_blame_place *place,
			     const struct pp_operation *operation)
{
	struct pp_blame_round *round = open_round(place);

	if (!round)
		return;
	charge_nested(blame, place, operation, operation->end_ns, true);
	arrive(blame, round, operation, operation->end_ns);
	round->is_complete = true;
}

bool pp_blame_is_passed(const struct pp_blame_wait *wait)
{
	return wait->round && wait->round->is_complete;
}

/* --- the sweep -------------------------------------------------------------------------------- */

struct sweep {
	struct pp_blame_round *round;
	GArray *calls;	  /* of struct pp_blame_call, different ones */
	guint *call_of;	  /* by arrival: its position there */
	guint *first;	  /* by arrival: the first of the waits whose last one it is, NONE */
	guint *next;	  /* by arrival: the next one of these waits */
	guint *n_waiting; /* by call */
	guint *seen;	  /* by call: 1 + its last arrival that took time; 0: none yet */
};

static guint hash_call(const void *data)
{
	const struct pp_blame_call *call = data;

	return (guint)(call->site ^ call->op) ^ g_direct_hash(call->path);
}

static gboolean equal_calls(const void *a, const void *b)
{
	return pp_blame_call_equal(a, b);
}

static void number_calls(struct sweep *sweep)
{
	g_autoptr(GHashTable) numbers = g_hash_table_new(hash_call, equal_calls);

	for (guint i = 0; i < sweep->round->arrivals->len; i++) {
		struct pp_blame_call *call = &arrival_at(sweep->round, i)->call;
		guint number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, call));

		if (!number) {
			g_array_append_val(sweep->calls, *call);
			number = sweep->calls->len;
			g_hash_table_insert(numbers, call, GUINT_TO_POINTER(number));
		}
		sweep->call_of[i] = number - 1;
	}
}

static void list_ends(struct sweep *sweep)
{
	guint n = sweep->round->arrivals->len;

	for (guint i = 0; i < n; i++)
		sweep->first[i] = NONE;
	for (guint i = 0; i < n; i++) {
		guint last = arrival_at(sweep->round, i)->last;

		if (last == NONE || last == i)
			continue;
		sweep->next[i] = sweep->first[last];
		sweep->first[last] = i;
	}
}

static void add(const struct sweep *sweep, guint cause_call, guint waiter_call,
		const struct pp_blame_figures *figures)
{
	const struct pp_blame_cause cause = {
	    .kind = PP_BLAME_CALL,
	    .call = g_array_index(sweep->calls, struct pp_blame_call, cause_call),
	    .acquired = {.op = ST_N_EVENTS},
	};

	pp_blame_add(sweep->round->place, &cause,
		     &g_array_index(sweep->calls, struct pp_blame_call, waiter_call), figures);
}

/* All that wait now are charged to the arrival. */
static void add_arrival(struct sweep *sweep, guint at)
{
	const struct pp_blame_figures *one = &arrival_at(sweep->round, at)->figures;

	if (!one->ns)
		return;
	sweep->seen[sweep->call_of[at]] = at + 1;
	for (guint call = 0; call < sweep->calls->len; call++) {
		int64_t n = sweep->n_waiting[call];
		struct pp_blame_figures all = {.ns = n * one->ns};

		for (unsigned mode = 0; mode < PP_N_MODES; mode++)
			all.mode_ns[mode] = n * one->mode_ns[mode];
		if (n)
			add(sweep, sweep->call_of[at], call, &all);
	}
}

/* Counts the wait once for each call that it was charged to. */
static void count_wait(struct sweep *sweep, guint wait)
{
	const struct pp_blame_figures one = {.n = arrival_at(sweep->round, wait)->counts};

	sweep->n_waiting[sweep->call_of[wait]]--;
	for (guint call = 0; one.n && call < sweep->calls->len; call++)
		if (sweep->seen[call] > wait + 1)
			add(sweep, call, sweep->call_of[wait], &one);
}

static void run(struct sweep *sweep)
{
	for (guint i = 0; i < sweep->round->arrivals->len; i++) {
		guint last = arrival_at(sweep->round, i)->last;

		add_arrival(sweep, i);
		for (guint wait = sweep->first[i]; wait != NONE; wait = sweep->next[wait])
			count_wait(sweep, wait);
		if (last != NONE && last != i)
			sweep->n_waiting[sweep->call_of[i]]++;
	}
}

static void round_end(struct pp_blame_round *round)
{
	guint n = round->arrivals->len;
	struct sweep sweep = {
	    .round = round,
	    .calls = g_array_new(FALSE, FALSE, sizeof(struct pp_blame_call)),
	    .call_of = g_new(guint, n),
	    .first = g_new(guint, n),
	    .next = g_new(guint, n),
	};

	number_calls(&sweep);
	list_ends(&sweep);
	sweep.n_waiting = g_new0(guint, sweep.calls->len);
	sweep.seen = g_new0(guint, sweep.calls->len);
	run(&sweep);
	g_array_unref(sweep.calls);
	g_free(sweep.call_of);
	g_free(sweep.first);
	g_free(sweep.next);
	g_free(sweep.n_waiting);
	g_free(sweep.seen);
	g_ptr_array_remove(round->place->rounds, round);
	g_array_unref(round->arrivals);
	g_free(round);
}

/* --- the end of a wait ------------------------------------------------------------------------ */

void pp_blame_barrier_ends(struct pp_blame_wait *wait, const struct pp_path *path)
{
	if (wait->round)
		arrival_at(wait->round, wait->arrival)->call.path = path;
}

int64_t pp_blame_barrier_settle(struct pp_blame_wait *wait)
{
	struct pp_blame_round *round = wait->round;
	struct arrival *arrival;

	if (!round)
		return 0;
	arrival = arrival_at(round, wait->arrival);
	arrival->last = round->arrivals->len - 1;
	arrival->counts = wait->counts;
	wait->covered_ns = MAX(wait->covered_ns, round->until_ns);
	return arrival_at(round, arrival->last)->sum_ns - arrival->sum_ns;
}

void pp_blame_barrier_leave(struct pp_blame_wait *wait)
{
	struct pp_blame_round *round = g_steal_pointer(&wait->round);

	if (round && --round->n_open == 0)
		round_end(round);
}

void pp_blame_barrier_finish(struct pp_blame_place *place)
{
	while (place->rounds && place->rounds->len)
		round_end(place->rounds->pdata[0]);
	g_clear_pointer(&place->rounds, g_ptr_array_unref);
}
