/* SPDX-License-Identifier: MIT */
/*
 * The threads that wait at the end: now, if the program still runs; or when it ended, or was
 * killed.  Each has the object that it waits for, since when, and for a lock the thread that holds
 * it, where that took it, and what that waits for itself.  A selection limits the rows only.
 *
 * The holder is the thread whose acquisition is the last one known, or else the owner that the lock
 * named when the wait began: uncontended acquisitions may not be recorded (sync.mode).  A join
 * waits for the joined thread.
 *
 * Threads that wait for each other in a cycle, without a timeout, are a deadlock: a note names
 * them.
 */
#include "analysis/select.h"
#include "analysis/state/object_state.h"
#include "analysis/state/select_object.h"
#include "analysis/state/wait_end.h"
#include "analysis/thread_cells.h"

enum {
	OBJECT = PP_N_NAMED_THREAD_CELLS,
	TYPE,
	NAME,
	FUNCTION,
	SITE,
	WAIT,
	HOLDER_TID,
	HOLDER,
	HOLDER_SITE,
	HOLD,
	HOLDER_WAITS,
};

static const struct pp_column columns[] = {
    PP_NAMED_THREAD_COLUMNS("thread"),
    [OBJECT] = {"object", "address", PP_TYPE_ADDRESS, PP_COLUMN_ID | PP_COLUMN_REPEATED,
		"address of the object"},
    [TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED, PP_SYNC_TYPES},
    [NAME] = {"name", "waits for", PP_TYPE_TEXT, PP_COLUMN_KEY, "the object"},
    [FUNCTION] = {"function", "in", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_DETAIL,
		  "function that it called"},
    [SITE] = {"site", "at", PP_TYPE_TEXT, PP_COLUMN_KEY, "where it called it"},
    [WAIT] = {"wait_ns", "for", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "since it began to wait"},
    [HOLDER_TID] = {"holder_tid", "holder", PP_TYPE_COUNT, PP_COLUMN_ID | PP_COLUMN_REPEATED,
		    "tid of the thread that holds the object, or that is joined"},
    [HOLDER] = {"holder", "held by", PP_TYPE_TEXT, PP_COLUMN_KEY, "its name"},
    [HOLDER_SITE] = {"holder_site", "taken at", PP_TYPE_TEXT, PP_COLUMN_KEY,
		     "where it acquired the object"},
    [HOLD] = {"hold_ns", "held", PP_TYPE_TIME_NS, PP_COLUMN_DETAIL, "for how long it has it"},
    [HOLDER_WAITS] = {"holder_waits", "and waits for", PP_TYPE_TEXT,
		      PP_COLUMN_KEY | PP_COLUMN_DETAIL,
		      "what the holder waits for itself; none: it does not wait"},
};

/* The last wait of a thread for which no return was recorded. */
struct wait {
	const struct pp_thread *thread; /* NULL: it does not wait */
	bool is_shown;			/* it is selected */
	bool timed;
	enum gm_sync_type type;
	enum st_event op;
	char *name; /* of the object; owned */
	uint64_t object, site;
	int64_t begin_ns, end_ns;
	const struct pp_thread *holder; /* NULL: none, or not known */
	uint64_t holder_site;		/* 0: not known */
	int64_t hold_since_ns;		/* PP_TIME_UNKNOWN */
	unsigned chain;			/* number of the search that came here last */
};

struct waiting {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	struct pp_wait_ends ends;
	GPtrArray *waits; /* of struct wait *, by thread serial; NULL: no wait so far */
};

/* --- while events arrive -------------------------------------------------------------------- */

static struct wait *wait_of(const struct waiting *self, const struct pp_thread *thread)
{
	return thread->serial < self->waits->len ? self->waits->pdata[thread->serial] : NULL;
}

static void forget(struct waiting *self, const struct pp_thread *thread)
{
	struct wait *wait = wait_of(self, thread);

	if (!wait)
		return;
	wait->thread = NULL;
	g_clear_pointer(&wait->name, g_free);
}

static void keep(struct waiting *self, const struct wait *wait)
{
	pp_by_serial_reach(self->waits, wait->thread->serial);
	forget(self, wait->thread);
	if (!self->waits->pdata[wait->thread->serial])
		self->waits->pdata[wait->thread->serial] = g_new(struct wait, 1);
	*(struct wait *)self->waits->pdata[wait->thread->serial] = *wait;
}

/* The only hold that no other acquisition has superseded; NULL: none, or several. */
static const struct pp_hold *current_hold(const struct pp_object *object)
{
	for (guint i = 0; object->n_current == 1 && i < pp_object_n_holds(object); i++) {
		const struct pp_hold *hold = &g_array_index(object->holds, struct pp_hold, i);

		if (hold->superseded_ns == PP_TIME_UNKNOWN)
			return hold;
	}
	return NULL;
}

static void find_holder(const struct waiting *self, struct wait *wait,
			const struct pp_object *object, const struct pp_operation *operation)
{
	const struct pp_hold *hold = pp_object_is_lock(object) ? current_hold(object) : NULL;

	if (hold)
		wait->holder = hold->thread;
	else if (object->subject)
		wait->holder = object->subject;
	else
		wait->holder = pp_wait_owner(&self->ends, object, operation, &hold);
	if (!hold)
		return;
	wait->holder_site = hold->site;
	wait->hold_since_ns = hold->since_ns;
}

static bool is_wait(const struct pp_object *object, const struct pp_operation *operation)
{
	/* A condition wait has a second call, for its mutex. */
	return operation->waited && !operation->finished && !operation->thread->ended &&
	       object->type == pp_sync_type(operation->op);
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct waiting *self = data;
	struct wait wait = {.thread = operation->thread, .hold_since_ns = PP_TIME_UNKNOWN};

	(void)acquired;
	if (!is_wait(object, operation)) {
		forget(self, operation->thread);
		return;
	}
	wait.is_shown = pp_selects_thread(self->context, operation->thread) &&
			pp_selects_object(self->context, object);
	wait.timed = pp_sync_has(operation->op, PP_SYNC_TIMED);
	wait.type = object->type;
	wait.op = operation->op;
	wait.name = pp_object_name(object, self->context->namer);
	wait.object = object->address;
	wait.site = operation->site;
	wait.begin_ns = operation->begin_ns;
	wait.end_ns = operation->end_ns;
	find_holder(self, &wait, object, operation);
	keep(self, &wait);
}

/* No object is needed after its end, but for a selection: it was there. */
static bool on_end(void *data, struct pp_object *object, struct pp_object *group)
{
	const struct waiting *self = data;

	(void)group;
	if (pp_selects_by(self->context, PP_SELECT_OBJECT))
		(void)pp_selects_object(self->context, object);
	return false;
}

/* Finds the selected objects, also those for which no thread waits. */
static void find_selected(const struct waiting *self)
{
	for (guint i = 0; i < self->objects.all->len; i++)
		if (self->objects.all->pdata[i])
			(void)pp_selects_object(self->context, self->objects.all->pdata[i]);
}

/* --- the table ------------------------------------------------------------------------------ */

static void set_site(const struct waiting *self, struct pp_cell *cell,
		     const struct pp_thread *thread, uint64_t site)
{
	const struct pp_namer *namer = self->context->namer;
	g_autofree char *text = site ? namer->site(namer->data, thread->process, site) : NULL;

	pp_cell_set_text(cell, text);
}

static const struct wait *wait_now(const struct waiting *self, const struct pp_thread *thread)
{
	const struct wait *wait = wait_of(self, thread);

	return wait && wait->thread ? wait : NULL;
}

static void set_holder(const struct waiting *self, struct pp_cell *row, const struct wait *wait)
{
	const struct wait *further = wait_now(self, wait->holder);

	pp_cell_set_count(&row[HOLDER_TID], wait->holder->tid);
	pp_cell_set_text(&row[HOLDER], pp_thread_name(wait->holder));
	set_site(self, &row[HOLDER_SITE], wait->holder, wait->holder_site);
	if (wait->hold_since_ns != PP_TIME_UNKNOWN)
		pp_cell_set_time(&row[HOLD], wait->end_ns - wait->hold_since_ns);
	if (further)
		pp_cell_set_text(&row[HOLDER_WAITS], further->name);
}

static void add_row(const struct waiting *self, struct pp_table *table, const struct wait *wait)
{
	struct pp_cell *row = pp_named_thread_row(table, wait->thread);

	pp_cell_set_count(&row[OBJECT], wait->object);
	pp_cell_set_text(&row[TYPE], pp_sync_type_name(wait->type));
	pp_cell_set_text(&row[NAME], wait->name);
	pp_cell_set_text(&row[FUNCTION], pp_sync_function(wait->op));
	set_site(self, &row[SITE], wait->thread, wait->site);
	pp_cell_set_time(&row[WAIT], wait->end_ns - wait->begin_ns);
	if (wait->holder)
		set_holder(self, row, wait);
}

/* The longest wait first; else in order of the threads. */
static gint by_wait(gconstpointer a, gconstpointer b)
{
	const struct wait *x = *(struct wait *const *)a, *y = *(struct wait *const *)b;
	int64_t of_x = x->end_ns - x->begin_ns, of_y = y->end_ns - y->begin_ns;

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return x->thread->serial < y->thread->serial ? -1 : x->thread->serial > y->thread->serial;
}

/* The wait of the thread that this one waits for; NULL: that does not wait, or this has a timeout.
 */
static struct wait *next_in_chain(const struct waiting *self, const struct wait *wait)
{
	struct wait *next = wait->holder && !wait->timed ? wait_of(self, wait->holder) : NULL;

	return next && next->thread ? next : NULL;
}

static void note_deadlock(const struct waiting *self, struct pp_table *table,
			  const struct wait *first)
{
	GString *text = g_string_new("deadlock: ");
	const struct wait *wait = first;

	do {
		g_string_append_printf(text, "%s%s (tid %u)%s waits for %s",
				       wait == first ? "" : ", held by ",
				       pp_thread_name(wait->thread), wait->thread->tid,
				       wait == first ? "" : ", which", wait->name);
		wait = next_in_chain(self, wait);
	} while (wait != first);
	g_string_append_printf(text, ", held by %s (tid %u)", pp_thread_name(first->thread),
			       first->thread->tid);
	pp_table_note(table, "%s", text->str);
	g_string_free(text, TRUE);
}

/* Follows each chain of waits as far as no other search did. */
static void note_deadlocks(const struct waiting *self, struct pp_table *table,
			   const GPtrArray *waits)
{
	for (guint i = 0; i < waits->len; i++) {
		struct wait *wait = waits->pdata[i];

		while (wait && !wait->chain) {
			wait->chain = i + 1;
			wait = next_in_chain(self, wait);
		}
		if (wait && wait->chain == i + 1 && next_in_chain(self, wait))
			note_deadlock(self, table, wait);
	}
}

static void waiting_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct waiting *self = state;
	struct pp_table *table =
	    pp_table_new("waiting", "Waiting at the end", columns, G_N_ELEMENTS(columns));
	g_autoptr(GPtrArray) waits = g_ptr_array_new();

	pp_thread_states_finish(self->states, end_ns);
	if (pp_selects_by(self->context, PP_SELECT_OBJECT))
		find_selected(self);
	for (guint i = 0; i < self->waits->len; i++) {
		const struct wait *wait = self->waits->pdata[i];

		if (wait && wait->thread)
			g_ptr_array_add(waits, (void *)wait);
	}
	g_ptr_array_sort(waits, by_wait);
	for (guint i = 0; i < waits->len; i++)
		if (((const struct wait *)waits->pdata[i])->is_shown)
			add_row(self, table, waits->pdata[i]);
	note_deadlocks(self, table, waits);
	g_ptr_array_add(tables, table);
}

/* -------------------------------------------------------------------------------------------- */

static void free_wait(void *data)
{
	struct wait *wait = data;

	if (wait)
		g_free(wait->name);
	g_free(wait);
}

static void *waiting_start(const struct pp_pass_context *context)
{
	struct waiting *self = g_new0(struct waiting, 1);

	self->context = context;
	self->waits = g_ptr_array_new_with_free_func(free_wait);
	self->thread_listener = pp_objects_feed(&self->objects);
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .operation = on_operation,
	    .fold = on_end,
	    .context = context,
	};
	self->states = pp_thread_states_share(context, &self->thread_listener);
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	pp_wait_ends_init(&self->ends, context->model);
	return self;
}

static void waiting_event(void *state, const struct pp_event *event)
{
	struct waiting *self = state;

	pp_thread_states_event(self->states, event);
}

static void waiting_free(void *state)
{
	struct waiting *self = state;

	pp_wait_ends_done(&self->ends);
	pp_objects_done(&self->objects, NULL);
	pp_thread_states_free(self->states);
	g_ptr_array_unref(self->waits);
	g_free(self);
}

const struct pp_pass pp_pass_waiting = {
    .name = "waiting",
    .summary = "who waits at the end",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_THREAD | PP_SELECT_OBJECT,
    .has_operations = true,
    .start = waiting_start,
    .event = waiting_event,
    .finish = waiting_finish,
    .free = waiting_free,
};
