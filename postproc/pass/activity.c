/* SPDX-License-Identifier: MIT */
/*
 * The activity of each thread when it gets a CPU: functions executed per active period (section 2
 * of the paper), from switch-in to switch-out.
 *
 * The average needs only the number of calls; figures of single periods need the call history.
 */
#include "core/cache_lines.h"
#include "analysis/select.h"
#include "analysis/thread_cells.h"
#include "analysis/state/thread_state.h"

enum { PERIODS = PP_N_NAMED_THREAD_CELLS, CALLS, PER_ACTIVITY, MOST, WITHOUT };

static const struct pp_column columns[] = {
    PP_NAMED_THREAD_COLUMNS("name"),
    [PERIODS] = {"activities", "periods", PP_TYPE_COUNT, 0, "number of switch-ins"},
    [CALLS] = {"calls", "calls", PP_TYPE_COUNT, PP_COLUMN_RANK, "number of functions entered"},
    [PER_ACTIVITY] = {"functions_per_activity", "calls/period", PP_TYPE_RATIO, 0,
		      "functions entered per period", .mean_over = "activities"},
    [MOST] = {"most_per_activity", "most", PP_TYPE_COUNT, PP_COLUMN_MAX,
	      "maximum number of functions entered in a period"},
    [WITHOUT] = {"activities_without_calls", "without", PP_TYPE_COUNT, 0,
		 "number of periods without function entry"},
};

/*
 * The figures of a thread.  Several threads count at once, each the calls of others; they grow the
 * array only at a thread's first call, which arrives alone.
 */
struct activity {
	bool recorded;	  /* its calls are in a history */
	uint64_t in_time; /* of these, those within the selected time */
	uint64_t n_calls; /* since the last switch-out */
	uint64_t most, n_with_calls;
	char apart[PP_APART_BYTES]; /* from the figures of the next thread */
};

struct activities {
	const struct pp_pass_context *context;
	struct pp_thread_states *states;
	GArray *threads; /* of struct activity, by serial */
};

static struct activity *activity_of(struct activities *self, const struct pp_thread *thread)
{
	if (thread->serial >= self->threads->len)
		g_array_set_size(self->threads, thread->serial + 1);
	return &g_array_index(self->threads, struct activity, thread->serial);
}

static void end_period(struct activity *activity)
{
	activity->most = MAX(activity->most, activity->n_calls);
	activity->n_with_calls += activity->n_calls > 0;
	activity->n_calls = 0;
}

static void *activity_start(const struct pp_pass_context *context)
{
	struct activities *self = g_new0(struct activities, 1);

	self->context = context;
	self->states = pp_thread_states_new(context, NULL, NULL);
	self->threads = g_array_new(FALSE, TRUE, sizeof(struct activity));
	return self;
}

static void activity_event(void *state, const struct pp_event *event)
{
	struct activities *self = state;
	struct activity *activity;

	if (event->kind == PP_EVENT_CALL) {
		activity = activity_of(self, event->thread);
		activity->recorded = true;
		activity->in_time += pp_selects_time(self->context, event->time_ns);
		activity->n_calls++;
		return;
	}
	pp_thread_states_event(self->states, event);
	if (event->kind == PP_EVENT_SWITCH && event->sched_switch.prev)
		end_period(activity_of(self, event->sched_switch.prev));
}

/* The calls within the selected time.  Returns false if not known. */
static bool calls_of(struct activities *self, const struct pp_thread *thread, uint64_t *ret_calls)
{
	const struct activity *activity = activity_of(self, thread);

	if (!pp_selects_by(self->context, PP_SELECT_TIME))
		return pp_thread_calls(thread, ret_calls);
	*ret_calls = activity->in_time;
	return activity->recorded && !thread->records_lost;
}

static void add_row(struct activities *self, struct pp_table *table, const struct pp_thread *thread)
{
	const struct pp_thread_state *life = pp_thread_state(self->states, thread);
	bool scheduled = self->context->has_kernel && life && life->scheduled;
	struct activity *activity = activity_of(self, thread);
	struct pp_cell *row = pp_named_thread_row(table, thread);
	uint64_t calls;

	if (scheduled)
		pp_cell_set_count(&row[PERIODS], life->activities);
	if (!calls_of(self, thread, &calls))
		return;
	pp_cell_set_count(&row[CALLS], calls);
	if (!scheduled || !life->activities)
		return;
	pp_cell_set_number(&row[PER_ACTIVITY], (double)calls / (double)life->activities);
	end_period(activity);
	if (activity->recorded && !thread->records_lost &&
	    !pp_selects_by(self->context, PP_SELECT_TIME)) {
		pp_cell_set_count(&row[MOST], activity->most);
		if (activity->n_with_calls <= life->activities)
			pp_cell_set_count(&row[WITHOUT], life->activities - activity->n_with_calls);
	}
}

static void activity_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct activities *self = state;
	const GPtrArray *threads = self->context->model->threads;
	struct pp_table *table =
	    pp_table_new("activity", "Activity", columns, G_N_ELEMENTS(columns));
	bool any_recorded = false;

	pp_thread_states_finish(self->states, end_ns);
	for (guint i = 0; i < threads->len; i++) {
		const struct pp_thread *thread = threads->pdata[i];

		any_recorded |= activity_of(self, thread)->recorded;
		if (pp_selects_thread(self->context, thread) &&
		    (thread->arcs || pp_thread_state(self->states, thread)))
			add_row(self, table, thread);
	}
	if (!self->context->has_kernel)
		pp_table_note(
		    table,
		    "no scheduling events in this capture: the periods of activity are unknown");
	else if (!any_recorded)
		pp_table_note(table, "calls were only counted: the calls of single periods are "
				     "unknown ([calls] mode = history records them)");
	if (pp_selects_by(self->context, PP_SELECT_TIME))
		pp_table_note(table, "--time may begin or end within a period, so figures of "
				     "single periods are left out");
	g_ptr_array_add(tables, table);
}

static void activity_free(void *state)
{
	struct activities *self = state;

	pp_thread_states_free(self->states);
	g_array_unref(self->threads);
	g_free(self);
}

const struct pp_pass pp_pass_activity = {
    .name = "activity",
    .summary = "calls per time on CPU",
    .kinds = PP_THREAD_STATE_KINDS | PP_EVENT_MASK(PP_EVENT_CALL),
    .selects = PP_SELECT_THREAD | PP_SELECT_TIME,
    .start = activity_start,
    .event = activity_event,
    .calls_apart = true,
    .finish = activity_finish,
    .free = activity_free,
};
