/* SPDX-License-Identifier: MIT */
/*
 * Pairs of sections in both orders (postproc/replay/reverse): verdicts and lines by hand, and which
 * operations come before both sections, in random events, against a search of the whole graph of
 * what happened before what.
 */
#include <stdio.h>
#include <string.h>

#include "replay/reverse/lines.h"
#include "replay/reverse/order.h"
#include "replay/reverse/verdict.h"

static unsigned n_failed;

static void expect(const char *what, bool is_true)
{
	if (is_true)
		return;
	printf("%s\n", what);
	n_failed++;
}

/* --- verdicts --------------------------------------------------------------------------------- */

/* Two runs of each order, in turn; in both, the bytes go from 1 over 2 to 3. */
static void make_runs(struct pp_reversal_run *runs)
{
	for (unsigned i = 0; i < 4; i++)
		runs[i] = (struct pp_reversal_run){.is_reversed = i % 2,
						   .digests = {.before = 1,
							       .between = 2,
							       .after = 3,
							       .of_first = 4,
							       .of_second = 4},
						   .has_bytes = true,
						   .has_own = true};
}

static void test_verdicts(void)
{
	struct pp_reversal_run runs[4];

	make_runs(runs);
	expect("same", pp_reversal_verdict(runs, 4) == PP_REVERSAL_SAME);
	runs[1].digests.after = runs[3].digests.after = 5;
	expect("different", pp_reversal_verdict(runs, 4) == PP_REVERSAL_DIFFERENT);
	runs[3].digests.after = 6;
	expect("unstable after", pp_reversal_verdict(runs, 4) == PP_REVERSAL_UNSTABLE);
	make_runs(runs);
	runs[2].digests.before = 5;
	expect("unstable before", pp_reversal_verdict(runs, 4) == PP_REVERSAL_UNSTABLE);
	make_runs(runs);
	runs[3].has_bytes = false;
	expect("other bytes", pp_reversal_verdict(runs, 4) == PP_REVERSAL_ELSEWHERE);
	make_runs(runs);
	runs[0].digests.n_unread = 1;
	expect("unread bytes", pp_reversal_verdict(runs, 4) == PP_REVERSAL_ELSEWHERE);
	make_runs(runs);
	for (unsigned i = 0; i < 4; i++)
		runs[i].digests.between = runs[i].digests.after = 1;
	expect("nothing changes", pp_reversal_verdict(runs, 4) == PP_REVERSAL_ELSEWHERE);
	expect("one order only", pp_reversal_verdict(runs, 0) == PP_REVERSAL_STUCK);
}

/* In a reversed run the section that was recorded first is the second one. */
static void test_own_bytes(void)
{
	struct pp_reversal_run runs[4];

	make_runs(runs);
	for (unsigned i = 0; i < 4; i++) {
		runs[i].digests.of_first = i % 2 ? 8 : 7;
		runs[i].digests.of_second = i % 2 ? 7 : 8;
	}
	expect("the same sections", pp_reversal_verdict(runs, 4) == PP_REVERSAL_SAME);
	for (unsigned i = 1; i < 4; i += 2) {
		runs[i].digests.of_first = 7;
		runs[i].digests.of_second = 8;
	}
	expect("exchanged results", pp_reversal_verdict(runs, 4) == PP_REVERSAL_DIFFERENT);
	runs[2].has_own = false;
	expect("results not found", pp_reversal_verdict(runs, 4) == PP_REVERSAL_SAME);
}

/* --- lines ------------------------------------------------------------------------------------ */

static struct pp_access_set *set_of(struct pp_access_sets *sets, const struct pp_access_line *lines,
				    unsigned n)
{
	struct pp_access_line copy[4];

	memcpy(copy, lines, n * sizeof(*lines));
	return pp_access_set_get(sets, copy, n);
}

static void test_lines(void)
{
	static const struct pp_access_line of_first[] = {
	    {.address = 0x1000, .read = 0x0f, .written = 0xf0},
	    {.address = 0x1040, .written = 0x3},
	    {.address = 0x1080, .read = 0x1}};
	static const struct pp_access_line of_second[] = {
	    {.address = 0x1000, .read = 0x10, .written = 0xf01},
	    {.address = 0x1080, .read = 0x1},
	    {.address = 0x10c0, .written = 0x8}};
	static const struct pp_reversal_line wanted[] = {{NULL, 0x1000, 0x11, PP_REVERSAL_BOTH},
							 {NULL, 0x1000, 0xe0, PP_REVERSAL_FIRST},
							 {NULL, 0x1000, 0xf00, PP_REVERSAL_SECOND},
							 {NULL, 0x1040, 0x3, PP_REVERSAL_FIRST},
							 {NULL, 0x10c0, 0x8, PP_REVERSAL_SECOND}};
	struct pp_access_sets *sets = pp_access_sets_new();
	struct pp_access_set *first = set_of(sets, of_first, 3);
	struct pp_access_set *second = set_of(sets, of_second, 3);
	const struct pp_namer namer = {.data = NULL};
	g_autoptr(GArray) lines = pp_reversal_lines(first, second, NULL, &namer);
	g_autoptr(GArray) exchanged = pp_reversal_lines(second, first, NULL, &namer);

	expect("number of lines", lines->len == G_N_ELEMENTS(wanted));
	for (guint i = 0; i < MIN(lines->len, G_N_ELEMENTS(wanted)); i++) {
		const struct pp_reversal_line *line =
		    &g_array_index(lines, struct pp_reversal_line, i);

		expect("line", !line->module && line->offset == wanted[i].offset &&
				   line->bytes == wanted[i].bytes &&
				   line->owner == wanted[i].owner);
	}
	expect("equal", pp_reversal_lines_equal(lines, exchanged, PP_REVERSAL_BOTH));
	expect("not equal", !pp_reversal_lines_equal(lines, exchanged, PP_REVERSAL_FIRST));
	expect("meet", pp_reversal_lines_meet(lines, exchanged));
	g_array_index(exchanged, struct pp_reversal_line, 0).bytes = 0x22;
	expect("do not meet", !pp_reversal_lines_meet(lines, exchanged));
	pp_access_set_unref(first);
	pp_access_set_unref(second);
	pp_access_sets_free(sets);
}

/* --- order ------------------------------------------------------------------------------------ */

#define N_THREADS 4u
#define N_EVENTS  40u
#define N_RUNS	  3000u
#define N_OBJECTS 4u

/* An operation on the object, or two: a condition wait has its mutex, too. */
enum { SENDS = 1, RECEIVES = 2, MUTEX_SENDS = 4, MUTEX_RECEIVES = 8, IS_OP = 16 };

static const struct {
	enum st_event event;
	unsigned traits;
} kinds[] = {
    {ST_EVENT_mutex_lock, SENDS | RECEIVES | IS_OP},
    {ST_EVENT_mutex_lock, SENDS | RECEIVES | IS_OP},
    {ST_EVENT_mutex_lock_begin, 0},
    {ST_EVENT_mutex_unlock, SENDS},
    {ST_EVENT_sem_post, SENDS},
    {ST_EVENT_sem_wait, SENDS | RECEIVES | IS_OP},
    {ST_EVENT_cond_signal, SENDS},
    {ST_EVENT_cond_wait_begin, MUTEX_SENDS},
    {ST_EVENT_cond_wait, SENDS | RECEIVES | MUTEX_SENDS | MUTEX_RECEIVES | IS_OP},
    {ST_EVENT_barrier_wait_begin, SENDS},
    {ST_EVENT_barrier_wait, SENDS | RECEIVES},
    {ST_EVENT_thread_create, SENDS | RECEIVES},
    {ST_EVENT_thread_join, SENDS | RECEIVES},
};

struct step {
	struct pp_event event;
	unsigned traits;
	uint64_t op; /* UINT64_MAX: none */
};

static struct pp_thread *threads[N_THREADS];

static void draw_steps(GRand *random, struct step *steps)
{
	uint64_t n_ops[N_THREADS] = {0};

	for (unsigned i = 0; i < N_EVENTS; i++) {
		unsigned thread = (unsigned)g_rand_int_range(random, 0, N_THREADS);
		unsigned kind = (unsigned)g_rand_int_range(random, 0, G_N_ELEMENTS(kinds));
		unsigned traits = kinds[kind].traits;
		/* Each type has addresses of its own, mutexes the first ones. */
		uint64_t type = 0x1000 * (uint64_t)pp_sync_type(kinds[kind].event);
		uint64_t mutex = 0x1000 * (uint64_t)GM_SYNC_TYPE_mutex;

		steps[i] = (struct step){.traits = traits, .op = UINT64_MAX};
		steps[i].event = (struct pp_event){
		    .kind = PP_EVENT_SYNC, .time_ns = i, .thread = threads[thread]};
		steps[i].event.sync.op = kinds[kind].event;
		steps[i].event.sync.object =
		    type + 0x100 + (uint64_t)g_rand_int_range(random, 0, N_OBJECTS);
		if (traits & (MUTEX_SENDS | MUTEX_RECEIVES))
			steps[i].event.sync.value =
			    mutex + 0x100 + (uint64_t)g_rand_int_range(random, 0, N_OBJECTS);
		if (traits & IS_OP)
			steps[i].op = n_ops[thread]++;
	}
}

static bool is_passed(const struct step *from, const struct step *to)
{
	uint64_t sent[2] = {from->traits & SENDS ? from->event.sync.object : 0,
			    from->traits & MUTEX_SENDS ? from->event.sync.value : 0};
	uint64_t received[2] = {to->traits & RECEIVES ? to->event.sync.object : 0,
				to->traits & MUTEX_RECEIVES ? to->event.sync.value : 0};

	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < 2; k++)
			if (sent[i] && sent[i] == received[k])
				return true;
	return false;
}

/* All steps that the first one happened before; the end is not looked at. */
static void reach(const struct step *steps, unsigned first, unsigned end, bool *is_reached)
{
	memset(is_reached, 0, N_EVENTS * sizeof(*is_reached));
	is_reached[first] = true;
	for (unsigned i = first; i < end; i++)
		for (unsigned k = i + 1; is_reached[i] && k < end; k++)
			is_reached[k] |= steps[i].event.thread == steps[k].event.thread ||
					 is_passed(&steps[i], &steps[k]);
}

static void check_order(const struct step *steps, unsigned first, unsigned second,
			const GArray *before)
{
	bool is_reached[N_EVENTS], is_possible = true;
	uint64_t n[N_THREADS] = {0};

	reach(steps, first, second, is_reached);
	for (unsigned i = 0; i < second; i++) {
		uint32_t thread = steps[i].event.thread->serial;

		is_possible &=
		    !is_reached[i] || steps[i].event.thread != steps[second].event.thread;
		n[thread] += steps[i].op != UINT64_MAX && !is_reached[i];
	}
	expect("whether the second section can come first", is_possible == (before != NULL));
	for (unsigned i = 0; before && is_possible && i < N_THREADS; i++)
		expect("operations before",
		       n[i] == (i < before->len ? g_array_index(before, uint64_t, i) : 0));
}

/* The next acquisition of that mutex, if another thread makes it; 0: there is none. */
static unsigned second_of(const struct step *steps, unsigned first)
{
	for (unsigned i = first + 1; i < N_EVENTS; i++)
		if (steps[i].event.sync.op == ST_EVENT_mutex_lock &&
		    steps[i].event.sync.object == steps[first].event.sync.object)
			return steps[i].event.thread != steps[first].event.thread ? i : 0;
	return 0;
}

static unsigned test_random_order(GRand *random)
{
	struct step steps[N_EVENTS];
	struct pp_reversal_order *order = pp_reversal_order_new();
	unsigned firsts[N_EVENTS], n = 0, n_possible = 0;

	draw_steps(random, steps);
	for (unsigned i = 0; i < N_EVENTS; i++) {
		unsigned second = second_of(steps, i);
		struct pp_reversal_end a, b;

		if (steps[i].event.sync.op != ST_EVENT_mutex_lock || !second)
			continue;
		a = (struct pp_reversal_end){steps[i].event.thread->serial, steps[i].op};
		b = (struct pp_reversal_end){steps[second].event.thread->serial, steps[second].op};
		pp_reversal_order_add(order, &a, &b);
		firsts[n++] = i;
	}
	for (unsigned i = 0; i < N_EVENTS; i++)
		pp_reversal_order_event(order, &steps[i].event, steps[i].op);
	for (unsigned i = 0; i < n; i++) {
		const GArray *before = pp_reversal_order_before(order, i);

		check_order(steps, firsts[i], second_of(steps, firsts[i]), before);
		n_possible += before != NULL;
	}
	pp_reversal_order_free(order);
	return n_possible;
}

int main(void)
{
	GRand *random = g_rand_new_with_seed(22);
	unsigned n_possible = 0;

	for (unsigned i = 0; i < N_THREADS; i++) {
		threads[i] = g_new0(struct pp_thread, 1);
		threads[i]->serial = i;
	}
	test_verdicts();
	test_own_bytes();
	test_lines();
	for (unsigned i = 0; i < N_RUNS && !n_failed; i++)
		n_possible += test_random_order(random);
	printf("%u pairs can be reversed\n", n_possible);
	expect("some can be reversed", n_possible > N_RUNS / 10);
	for (unsigned i = 0; i < N_THREADS; i++)
		g_free(threads[i]);
	g_rand_free(random);
	return n_failed ? 1 : 0;
}
