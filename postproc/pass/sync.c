/* SPDX-License-Identifier: MIT */
/*
 * Table 2 of the paper: how often each thread called each synchronization function, how often the
 * call blocked, and how long it waited.
 */
#include "core/text/printable.h"
#include "analysis/site_set.h"
#include "analysis/state/object_state.h"
#include "analysis/select.h"
#include "analysis/state/select_object.h"
#include "analysis/thread_cells.h"

enum { FUNCTION = PP_N_NAMED_THREAD_CELLS, CALLS, BLOCKED, WAIT, WAIT_MAX };

static const struct pp_column columns[] = {
    PP_NAMED_THREAD_COLUMNS("thread"),
    [FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY, "called function"},
    [CALLS] = {"calls", "calls", PP_TYPE_COUNT, 0, "how often"},
    [BLOCKED] = {"blocked", "blocked", PP_TYPE_COUNT, 0,
		 "number of calls in which it left the CPU; without scheduling events: that found "
		 "the object not free"},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN | PP_COLUMN_RANK,
	      "from finding the object not free to the return, all calls"},
    [WAIT_MAX] = {"wait_max_ns", "longest", PP_TYPE_TIME_NS, PP_COLUMN_MAX, "the longest of these"},
};

/* Threads are columns, as in the paper, if they fit into this many characters. */
#define MAX_WIDTH 132
#define GAP	  2

struct usage {
	uint64_t calls, blocked;
	int64_t wait_ns, wait_max_ns;
};

struct thread_usage {
	struct usage of[ST_N_EVENTS];
};

/*
 * The figures of a thread for one object, if objects are selected, since their names are known only
 * at their end.
 */
struct object_usage {
	struct pp_site_key key; /* address: the thread's serial */
	const struct pp_thread *thread;
	struct usage usage;
	uint64_t unfinished;
};

struct sync {
	const struct pp_pass_context *context;
	struct pp_thread_listener listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	GPtrArray *threads;	   /* by serial, of struct thread_usage *; NULL: no calls */
	struct pp_objects objects; /* if objects are selected; data: pp_site_set of object_usage */
	bool by_object;
	uint64_t unfinished;
};

/* The figures of a thread; NULL if it made no calls or is not selected. */
static struct thread_usage *usage_shown(const struct sync *self, const struct pp_thread *thread)
{
	if (!pp_selects_thread(self->context, thread))
		return NULL;
	return thread->serial < self->threads->len ? self->threads->pdata[thread->serial] : NULL;
}

static struct thread_usage *usage_of(struct sync *self, const struct pp_thread *thread)
{
	pp_by_serial_reach(self->threads, thread->serial);
	if (!self->threads->pdata[thread->serial])
		self->threads->pdata[thread->serial] = g_new0(struct thread_usage, 1);
	return self->threads->pdata[thread->serial];
}

/* A wait counts in the time range that it overlaps, its call at its return. */
static void account(const struct sync *self, struct usage *usage,
		    const struct pp_operation *operation)
{
	int64_t wait_ns = pp_selected_ns(self->context, operation->begin_ns, operation->end_ns);

	usage->wait_ns += wait_ns;
	usage->wait_max_ns = MAX(usage->wait_max_ns, wait_ns);
	if (!pp_selects_time(self->context, operation->end_ns))
		return;
	usage->calls++;
	usage->blocked += pp_operation_blocked(self->states, operation);
}

static void on_operation(void *data, const struct pp_operation *operation)
{
	struct sync *self = data;

	if (!pp_sync_function(operation->op) || !pp_selects_operation(self->context, operation))
		return;
	account(self, &usage_of(self, operation->thread)->of[operation->op], operation);
	self->unfinished +=
	    !operation->finished && pp_selects_time(self->context, operation->end_ns);
}

/* --- with selected objects ------------------------------------------------------------------ */

static void on_object_operation(void *data, struct pp_object *object,
				const struct pp_operation *operation, bool acquired)
{
	struct sync *self = data;
	const struct pp_site_key key = {.address = operation->thread->serial, .op = operation->op};
	struct object_usage *usage;

	(void)acquired;
	/* The second call for a condition wait, for its mutex. */
	if (object->type != pp_sync_type(operation->op) || !pp_sync_function(operation->op) ||
	    !pp_may_select_object(self->context, object) ||
	    !pp_selects_operation(self->context, operation))
		return;
	if (!object->data)
		object->data = g_new0(struct pp_site_set, 1);
	usage = pp_site_set_get(object->data, sizeof(*usage), &key);
	usage->thread = operation->thread;
	account(self, &usage->usage, operation);
	usage->unfinished +=
	    !operation->finished && pp_selects_time(self->context, operation->end_ns);
}

static void usages_free(void *data)
{
	pp_site_set_done(data);
	g_free(data);
}

/* Adds the figures of the object, if it is selected, and frees them. */
static bool end_object(void *data, struct pp_object *object, struct pp_object *group)
{
	struct sync *self = data;
	struct pp_site_set *usages = g_steal_pointer(&object->data);
	bool selected = usages && pp_selects_object(self->context, object);

	(void)group;
	for (unsigned i = 0; selected && i < usages->n; i++) {
		const struct object_usage *of = PP_SITE_SET_AT(usages, struct object_usage, i);
		struct usage *usage = &usage_of(self, of->thread)->of[of->key.op];

		usage->calls += of->usage.calls;
		usage->blocked += of->usage.blocked;
		usage->wait_ns += of->usage.wait_ns;
		usage->wait_max_ns = MAX(usage->wait_max_ns, of->usage.wait_max_ns);
		self->unfinished += of->unfinished;
	}
	if (usages)
		usages_free(usages);
	return false;
}

static void end_all_objects(struct sync *self)
{
	for (guint i = 0; i < self->objects.all->len; i++)
		if (self->objects.all->pdata[i])
			end_object(self, self->objects.all->pdata[i], NULL);
}

/* -------------------------------------------------------------------------------------------- */

static void *sync_start(const struct pp_pass_context *context)
{
	struct sync *self = g_new0(struct sync, 1);

	self->context = context;
	self->listener.data = self;
	self->listener.operation = on_operation;
	if (pp_selects_by(context, PP_SELECT_OBJECT)) {
		self->by_object = true;
		self->object_listener = (struct pp_object_listener){
		    .data = self, .operation = on_object_operation, .fold = end_object};
		pp_objects_init(&self->objects, &self->object_listener, NULL);
		self->listener = pp_objects_feed(&self->objects);
	}
	self->threads = g_ptr_array_new_with_free_func(g_free);
	self->states = pp_thread_states_share(context, &self->listener);
	return self;
}

static void sync_event(void *state, const struct pp_event *event)
{
	struct sync *self = state;

	pp_thread_states_event(self->states, event);
}

static bool leaves_out_calls_without_wait(const struct sync *self)
{
	return self->context->selection && self->context->selection->min_wait_ns > 0;
}

/*
 * True if only the total of uncontended operations is known, but not their number in the selection.
 */
static bool is_uncounted(const struct sync *self, const struct pp_thread *thread)
{
	return thread->sync_counts && !leaves_out_calls_without_wait(self) &&
	       pp_selects_by(self->context, PP_SELECT_TIME | PP_SELECT_OBJECT | PP_SELECT_FUNCTION);
}

static bool is_usage(const struct usage *usage)
{
	return usage->calls || usage->wait_ns;
}

static void add_row(const struct sync *self, struct pp_table *table, const struct pp_thread *thread,
		    enum st_event op)
{
	const struct usage *usage = &usage_shown(self, thread)->of[op];
	struct pp_cell *row = pp_named_thread_row(table, thread);

	pp_cell_set_text(&row[FUNCTION], pp_sync_function(op));
	if (!is_uncounted(self, thread))
		pp_cell_set_count(&row[CALLS], usage->calls);
	if (!pp_sync_has(op, PP_SYNC_BLOCKS))
		return;
	if (pp_thread_blocking_known(self->states, thread))
		pp_cell_set_count(&row[BLOCKED], usage->blocked);
	pp_cell_set_time(&row[WAIT], usage->wait_ns);
	pp_cell_set_time(&row[WAIT_MAX], usage->wait_max_ns);
}

/* --- a row per function, a column per thread ------------------------------------------------ */

/* Finds the functions that were called, by operation. */
static void find_used(const struct sync *self, bool used[ST_N_EVENTS])
{
	const GPtrArray *threads = self->context->model->threads;

	for (guint i = 0; i < threads->len; i++) {
		const struct thread_usage *usage = usage_shown(self, threads->pdata[i]);

		for (enum st_event op = 0; usage && op < ST_N_EVENTS; op++)
			used[op] |= is_usage(&usage->of[op]);
	}
}

static char *usage_text(const struct sync *self, const struct pp_thread *thread, enum st_event op)
{
	const struct usage *usage = &usage_shown(self, thread)->of[op];
	g_autofree char *calls = is_uncounted(self, thread)
				     ? g_strdup("-")
				     : g_strdup_printf("%" G_GUINT64_FORMAT, usage->calls);

	if (!is_usage(usage))
		return g_strdup(".");
	if (!pp_sync_has(op, PP_SYNC_BLOCKS) || !pp_thread_blocking_known(self->states, thread))
		return g_strdup_printf("%s/-", calls);
	return g_strdup_printf("%s/%" G_GUINT64_FORMAT, calls, usage->blocked);
}

/* The first column: two header lines, then the called functions. */
static GPtrArray *first_column(const bool used[ST_N_EVENTS])
{
	GPtrArray *cells = g_ptr_array_new_with_free_func(g_free);

	g_ptr_array_add(cells, g_strdup("function"));
	g_ptr_array_add(cells, g_strdup("(calls/blocked)"));
	for (enum st_event op = 0; op < ST_N_EVENTS; op++)
		if (used[op])
			g_ptr_array_add(cells, g_strdup(pp_sync_function(op)));
	return cells;
}

static GPtrArray *thread_column(const struct sync *self, const struct pp_thread *thread,
				const bool used[ST_N_EVENTS])
{
	GPtrArray *cells = g_ptr_array_new_with_free_func(g_free);

	g_ptr_array_add(cells, g_strdup_printf("%u", thread->tid));
	g_ptr_array_add(cells, pp_thread_label(thread));
	for (enum st_event op = 0; op < ST_N_EVENTS; op++)
		if (used[op])
			g_ptr_array_add(cells, usage_text(self, thread, op));
	return cells;
}

static int width_of(const GPtrArray *column)
{
	glong width = 0;

	for (guint i = 0; i < column->len; i++)
		width = MAX(width, g_utf8_strlen(column->pdata[i], -1));
	return (int)width;
}

static void append_padded(GString *text, const char *cell, int width, bool to_right)
{
	int pad = width - (int)g_utf8_strlen(cell, -1);

	g_string_append_printf(text, "%*s%s%*s", to_right ? pad : 0, "", cell, to_right ? 0 : pad,
			       "");
}

/* The paper's table; NULL if the threads do not fit into a line. */
static char *side_by_side(const struct sync *self)
{
	const GPtrArray *threads = self->context->model->threads;
	g_autoptr(GPtrArray) columns_of = NULL;
	bool used[ST_N_EVENTS] = {false};
	GPtrArray *column;
	GString *text;
	int width;

	columns_of = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
	find_used(self, used);
	column = first_column(used);
	width = width_of(column) + GAP;
	g_ptr_array_add(columns_of, column);
	for (guint i = 0; i < threads->len && width <= MAX_WIDTH; i++) {
		if (!usage_shown(self, threads->pdata[i]))
			continue;
		column = thread_column(self, threads->pdata[i], used);
		width += width_of(column) + GAP;
		g_ptr_array_add(columns_of, column);
	}
	if (columns_of->len == 1 || width > MAX_WIDTH)
		return NULL;
	text = g_string_new(NULL);
	for (guint line = 0; line < ((GPtrArray *)columns_of->pdata[0])->len; line++) {
		for (guint i = 0; i < columns_of->len; i++) {
			column = columns_of->pdata[i];
			g_string_append_printf(text, "%*s", GAP, "");
			append_padded(text, column->pdata[line], width_of(column), i > 0);
		}
		g_string_append_c(text, '\n');
	}
	return g_string_free(text, FALSE);
}

/* -------------------------------------------------------------------------------------------- */

static void add_notes(const struct sync *self, struct pp_table *table)
{
	const GPtrArray *threads = self->context->model->threads;
	unsigned not_known = 0, uncounted = 0;

	for (guint i = 0; i < threads->len; i++) {
		if (!usage_shown(self, threads->pdata[i]))
			continue;
		not_known += !pp_thread_blocking_known(self->states, threads->pdata[i]);
		uncounted += is_uncounted(self, threads->pdata[i]);
	}
	if (!self->context->has_kernel)
		pp_table_note(table, "no scheduling events in this capture: a call counts as "
				     "blocked when it found the object not free");
	if (not_known)
		pp_table_note(table,
			      "there are no scheduling events of %u of the threads: whether their "
			      "calls blocked is unknown",
			      not_known);
	if (uncounted)
		pp_table_note(table,
			      "recorded with sync.mode = contended: of %u of the threads, only "
			      "calls that waited can be selected",
			      uncounted);
	if (self->unfinished)
		pp_table_note(table,
			      "%" G_GUINT64_FORMAT " calls never returned: they waited until the "
			      "end of their threads, or of the capture",
			      self->unfinished);
}

/* Adds the calls that were counted without an event. */
static void add_counted(struct sync *self, const struct pp_thread *thread)
{
	if (is_uncounted(self, thread) || leaves_out_calls_without_wait(self))
		return;
	for (enum st_counted i = 0; thread->sync_counts && i < ST_N_COUNTED; i++)
		if (thread->sync_counts[i])
			usage_of(self, thread)->of[pp_sync_counted(i)].calls +=
			    thread->sync_counts[i];
}

static void sync_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct sync *self = state;
	const GPtrArray *threads = self->context->model->threads;
	struct pp_table *table =
	    pp_table_new("sync", "Synchronization", columns, G_N_ELEMENTS(columns));

	pp_thread_states_finish(self->states, end_ns);
	if (self->by_object)
		end_all_objects(self);
	for (guint i = 0; i < threads->len; i++)
		add_counted(self, threads->pdata[i]);
	for (guint i = 0; i < threads->len; i++) {
		const struct thread_usage *usage = usage_shown(self, threads->pdata[i]);

		for (enum st_event op = 0; usage && op < ST_N_EVENTS; op++)
			if (is_usage(&usage->of[op]))
				add_row(self, table, threads->pdata[i], op);
	}
	if (!self->context->top && !self->context->group)
		table->text = side_by_side(self);
	add_notes(self, table);
	g_ptr_array_add(tables, table);
}

static void sync_free(void *state)
{
	struct sync *self = state;

	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, usages_free);
	g_ptr_array_unref(self->threads);
	g_free(self);
}

const struct pp_pass pp_pass_sync = {
    .name = "sync",
    .summary = "operations by thread",
    .is_default = true,
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_ALL,
    .has_operations = true,
    .start = sync_start,
    .event = sync_event,
    .finish = sync_finish,
    .free = sync_free,
};
