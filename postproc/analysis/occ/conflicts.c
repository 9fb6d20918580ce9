/* SPDX-License-Identifier: MIT */
/*
 * See conflicts.h.  Each thread has a ring of its last traces.  A new trace of thread u is compared
 * with the last one of each other thread, which is the nearest before it, and it is the nearest
 * after all traces of other threads since the last one of u.  Each trace is reached in this way
 * once for each other thread.
 */
#include "analysis/occ/conflicts.h"

#include "analysis/occ/numbers.h"

/* A ring begins with so many places, since most of many locks are entered rarely. */
#define FEW 4u

struct trace {
	struct pp_access_set *set; /* a reference */
	uint64_t order;		   /* 1, 2, ... in the section */
	uint32_t n;		   /* traces in all its S */
	uint32_t n_conflicts[PP_OCC_GRAINS];
};

struct thread {
	uint64_t last; /* order of its last trace */
	unsigned room, n, newest;
	struct trace *ring; /* room places; the n last traces, up to `newest` */
};

struct pp_occ_conflicts {
	struct pp_occ_memo *memo;
	GArray *threads; /* of struct thread, by position in `numbers` */
	struct pp_occ_numbers numbers;
	struct pp_occ_sums sums;
};

struct pp_occ_conflicts *pp_occ_conflicts_new(struct pp_occ_memo *memo)
{
	struct pp_occ_conflicts *self = g_new0(struct pp_occ_conflicts, 1);

	self->memo = memo;
	self->threads = g_array_new(FALSE, TRUE, sizeof(struct thread));
	return self;
}

/* --- pairs ---------------------------------------------------------------------------------- */

static void compare(struct pp_occ_conflicts *self, struct trace *trace,
		    const struct pp_access_set *with)
{
	struct pp_occ_common common = pp_occ_memo_common(self->memo, trace->set, with);

	trace->n++;
	if (!common.n_lines)
		return;
	trace->n_conflicts[PP_OCC_LINES]++;
	self->sums.n_conflicts[PP_OCC_LINES]++;
	if (!common.n_locations) {
		self->sums.n_false_lines += common.n_lines;
		return;
	}
	trace->n_conflicts[PP_OCC_LOCATIONS]++;
	self->sums.n_conflicts[PP_OCC_LOCATIONS]++;
	self->sums.n_common[PP_OCC_LOCATIONS] += common.n_locations;
	self->sums.n_common[PP_OCC_LINES] += common.n_lines;
}

/* The trace before which `back` newer ones are in the ring. */
static struct trace *trace_at(const struct thread *thread, unsigned back)
{
	return &thread->ring[(thread->newest + thread->room - back) % thread->room];
}

/* No other trace will be in its S. */
static void settle(struct pp_occ_conflicts *self, struct trace *trace)
{
	pp_access_set_unref(g_steal_pointer(&trace->set));
	if (!trace->n)
		return;
	self->sums.n_compared++;
	for (unsigned grain = 0; grain < PP_OCC_GRAINS; grain++)
		self->sums.p_tr[grain] += 0.5 * trace->n_conflicts[grain] / trace->n;
}

static void grow(struct thread *thread)
{
	unsigned room = thread->room ? MIN(thread->room * 2, PP_OCC_WINDOW) : FEW;
	struct trace *ring = g_new(struct trace, room);

	for (unsigned i = 0; i < thread->n; i++)
		ring[thread->n - 1 - i] = *trace_at(thread, i);
	g_free(thread->ring);
	thread->ring = ring;
	thread->room = room;
	thread->newest = thread->n ? thread->n - 1 : room - 1;
}

static void push(struct pp_occ_conflicts *self, struct thread *thread, const struct trace *trace)
{
	if (thread->n == thread->room && thread->room < PP_OCC_WINDOW)
		grow(thread);
	thread->newest = (thread->newest + 1) % thread->room;
	if (thread->n == thread->room)
		settle(self, &thread->ring[thread->newest]);
	else
		thread->n++;
	thread->ring[thread->newest] = *trace;
	thread->last = trace->order;
}

void pp_occ_conflicts_add(struct pp_occ_conflicts *self, unsigned number, struct pp_access_set *set,
			  struct pp_access_set *freed)
{
	guint at = pp_occ_numbers_get(&self->numbers, number);
	struct pp_access_set *whole = pp_access_set_union(set, freed);
	struct trace trace = {.set = whole, .order = ++self->sums.n_traces};
	struct thread *thread;

	if (at == self->threads->len)
		g_array_set_size(self->threads, at + 1);
	thread = &g_array_index(self->threads, struct thread, at);

	for (guint i = 0; i < self->threads->len; i++) {
		const struct thread *other = &g_array_index(self->threads, struct thread, i);

		if (i == at)
			continue;
		compare(self, &trace, trace_at(other, 0)->set);
		for (unsigned back = 0; back < other->n; back++) {
			struct trace *waiting = trace_at(other, back);

			if (waiting->order < thread->last)
				break;
			compare(self, waiting, whole);
		}
	}
	/* Later traces access other memory at these addresses. */
	trace.set = pp_access_set_ref(set);
	pp_access_set_unref(whole);
	push(self, thread, &trace);
}

/* --- the result ----------------------------------------------------------------------------- */

static void settle_all(struct pp_occ_conflicts *self)
{
	for (guint i = 0; i < self->threads->len; i++) {
		struct thread *thread = &g_array_index(self->threads, struct thread, i);

		for (unsigned back = thread->n; back-- > 0;)
			settle(self, trace_at(thread, back));
		thread->n = 0;
	}
}

void pp_occ_conflicts_free(struct pp_occ_conflicts *self)
{
	if (!self)
		return;
	settle_all(self);
	for (guint i = 0; i < self->threads->len; i++)
		g_free(g_array_index(self->threads, struct thread, i).ring);
	g_array_unref(self->threads);
	pp_occ_numbers_done(&self->numbers);
	g_free(self);
}

void pp_occ_conflicts_finish(struct pp_occ_conflicts *self, struct pp_occ_sums *sums)
{
	settle_all(self);
	pp_occ_sums_add(sums, &self->sums);
}

void pp_occ_sums_add(struct pp_occ_sums *to, const struct pp_occ_sums *sums)
{
	to->n_traces += sums->n_traces;
	to->n_compared += sums->n_compared;
	to->n_false_lines += sums->n_false_lines;
	for (unsigned grain = 0; grain < PP_OCC_GRAINS; grain++) {
		to->p_tr[grain] += sums->p_tr[grain];
		to->n_conflicts[grain] += sums->n_conflicts[grain];
		to->n_common[grain] += sums->n_common[grain];
	}
}

double pp_occ_sums_p_c(const struct pp_occ_sums *sums, enum pp_occ_grain grain)
{
	return sums->n_compared ? sums->p_tr[grain] / (double)sums->n_compared : 0;
}

double pp_occ_sums_common(const struct pp_occ_sums *sums, enum pp_occ_grain grain)
{
	uint64_t n = sums->n_conflicts[PP_OCC_LOCATIONS], n_lines = sums->n_conflicts[PP_OCC_LINES];

	if (n)
		return (double)sums->n_common[grain] / (double)n;
	return grain == PP_OCC_LINES && n_lines ? (double)sums->n_false_lines / (double)n_lines : 0;
}
