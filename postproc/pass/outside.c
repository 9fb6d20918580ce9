/* SPDX-License-Identifier: MIT */
/*
 * The blocking call or system call in which each thread left its CPU, if it was in no recorded
 * operation.
 */
#include "pass/outside.h"

#include "core/text/duration.h"
#include "analysis/select.h"

#define N_CALLS	    3
#define LEAST_SHARE 4 /* a quarter */

struct pp_outside_thread {
	const char *call;   /* the current system call, interned; NULL: none */
	const char *io;	    /* the current blocking call; NULL: none, or not recorded */
	const char *off_in; /* ... or system call: that it was blocked in, since off_ns */
	bool is_operation;  /* it waits in a recorded operation */
	int64_t off_ns;	    /* since when it has been blocked outside of one; PP_TIME_UNKNOWN */
};

struct call {
	const char *name;
	int64_t blocked_ns;
};

void pp_outside_init(struct pp_outside *outside, const struct pp_pass_context *context)
{
	*outside = (struct pp_outside){
	    .context = context,
	    .of_thread = g_array_new(FALSE, FALSE, sizeof(struct pp_outside_thread)),
	    .by_call = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free),
	};
}

void pp_outside_done(struct pp_outside *outside)
{
	g_clear_pointer(&outside->of_thread, g_array_unref);
	g_clear_pointer(&outside->by_call, g_hash_table_unref);
}

static struct pp_outside_thread *state_of(struct pp_outside *outside,
					  const struct pp_thread *thread)
{
	const struct pp_outside_thread unseen = {.off_ns = PP_TIME_UNKNOWN};

	while (thread->serial >= outside->of_thread->len)
		g_array_append_val(outside->of_thread, unseen);
	return &g_array_index(outside->of_thread, struct pp_outside_thread, thread->serial);
}

static void end_sleep(struct pp_outside *outside, const struct pp_thread *thread, int64_t now_ns)
{
	struct pp_outside_thread *state = state_of(outside, thread);
	int64_t *sum_ns;

	if (state->off_ns != PP_TIME_UNKNOWN && pp_selects_thread(outside->context, thread)) {
		sum_ns = g_hash_table_lookup(outside->by_call, state->off_in);
		if (!sum_ns) {
			sum_ns = g_new0(int64_t, 1);
			g_hash_table_insert(outside->by_call, (void *)state->off_in, sum_ns);
		}
		*sum_ns += pp_selected_ns(outside->context, state->off_ns, now_ns);
	}
	state->off_ns = PP_TIME_UNKNOWN;
}

static void on_switch(struct pp_outside *outside, const struct pp_event *event)
{
	const struct pp_thread *prev = event->sched_switch.prev, *next = event->sched_switch.next;
	struct pp_outside_thread *state;

	if (next)
		end_sleep(outside, next, event->time_ns);
	if (!prev || event->sched_switch.prev_state == PP_STATE_RUNNING)
		return;
	state = state_of(outside, prev);
	state->off_in = state->io ? state->io : state->call;
	if (state->off_in && (state->io || !state->is_operation))
		state->off_ns = event->time_ns;
}

void pp_outside_event(struct pp_outside *outside, const struct pp_event *event)
{
	if (!outside->context->has_kernel)
		return;
	if (event->kind == PP_EVENT_SWITCH)
		on_switch(outside, event);
	if (!event->thread)
		return;
	switch (event->kind) {
	case PP_EVENT_SYNC:
		state_of(outside, event->thread)->is_operation =
		    pp_sync_has(event->sync.op, PP_SYNC_BEGIN);
		break;
	case PP_EVENT_WAKING:
		end_sleep(outside, event->thread, event->time_ns);
		break;
	case PP_EVENT_SYSCALL_ENTRY:
		outside->has_calls = true;
		state_of(outside, event->thread)->call = g_intern_string(event->syscall.name);
		break;
	case PP_EVENT_SYSCALL_EXIT:
		state_of(outside, event->thread)->call = NULL;
		break;
	case PP_EVENT_IO_BEGIN:
		outside->has_io = true;
		state_of(outside, event->thread)->io = g_intern_string(pp_io_name(event->io.call));
		break;
	case PP_EVENT_IO:
		state_of(outside, event->thread)->io = NULL;
		break;
	default:
		break;
	}
}

/* --- text ----------------------------------------------------------------------------------- */

static bool is_idle(const struct call *call)
{
	return pp_io_is_idle(pp_io_find(call->name));
}

/* Calls that wait for something outside of the program come last. */
static gint compare_calls(gconstpointer a, gconstpointer b)
{
	const struct call *x = a, *y = b;

	if (is_idle(x) != is_idle(y))
		return is_idle(x) - is_idle(y);
	return x->blocked_ns < y->blocked_ns ? 1 : -(x->blocked_ns > y->blocked_ns);
}

/* Returns the calls in the order of compare_calls(), and their total time. */
static GArray *list_calls(const struct pp_outside *outside, int64_t *ret_sum_ns)
{
	GArray *calls = g_array_new(FALSE, FALSE, sizeof(struct call));
	GHashTableIter each;
	gpointer name, sum_ns;

	*ret_sum_ns = 0;
	g_hash_table_iter_init(&each, outside->by_call);
	while (g_hash_table_iter_next(&each, &name, &sum_ns)) {
		struct call call = {name, *(int64_t *)sum_ns};

		if (call.blocked_ns)
			g_array_append_val(calls, call);
		*ret_sum_ns += call.blocked_ns;
	}
	g_array_sort(calls, compare_calls);
	return calls;
}

/* "read 20.1 ms; idle: poll 1.2 s, clock_nanosleep 1.03 ms".  Returns the time of all calls. */
static int64_t append_calls(GString *text, const struct pp_outside *outside)
{
	int64_t sum_ns;
	g_autoptr(GArray) calls = list_calls(outside, &sum_ns);
	unsigned n_of[2] = {0};

	for (guint i = 0; i < calls->len; i++) {
		const struct call *call = &g_array_index(calls, struct call, i);
		unsigned *n = &n_of[is_idle(call)];
		g_autofree char *time = pp_duration_text(call->blocked_ns);

		if ((*n)++ >= N_CALLS)
			continue;
		g_string_append(text, *n > 1	       ? ", "
				      : !is_idle(call) ? ": "
				      : n_of[0]	       ? "; idle: "
						       : ": idle: ");
		g_string_append_printf(text, "%s %s", call->name, time);
	}
	return sum_ns;
}

static void append_remedy(GString *text, const struct pp_outside *outside, int64_t named_ns,
			  int64_t blocked_ns)
{
	if (outside->has_io)
		g_string_append(text, "; gprof-mt report io shows where");
	if (outside->has_calls)
		g_string_append(text, "; gprof-mt timeline shows when");
	else if (!outside->has_io)
		g_string_append(text, " (sleep, poll, read, ...); gprof-mt record --profile full "
				      "records where");
	else if (named_ns < blocked_ns / 2)
		g_string_append(text, ", and gprof-mt record --profile full records the rest");
}

char *pp_outside_text(const struct pp_outside *outside, int64_t total_ns, int64_t blocked_ns)
{
	GString *text;
	int64_t named_ns;

	if (!outside->context->has_kernel || total_ns <= 0 || blocked_ns < total_ns / LEAST_SHARE)
		return NULL;
	text = g_string_new(NULL);
	g_string_append_printf(text,
			       "%.0f %% of the threads' time was blocked outside of "
			       "synchronization objects",
			       100.0 * (double)blocked_ns / (double)total_ns);
	named_ns = append_calls(text, outside);
	append_remedy(text, outside, named_ns, blocked_ns);
	return g_string_free(text, FALSE);
}
