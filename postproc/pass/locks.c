/* SPDX-License-Identifier: MIT */
/*
 * What each synchronization object cost: how often it was taken, how long threads waited for it and
 * held it, and from where.
 *
 * A wait belongs to the call that waited, a hold to the call that acquired.  A condition wait lets
 * go of its mutex and takes it again: one more acquisition of that mutex, from the call of the
 * wait; the time in between is a wait for the condition variable alone.
 */
#include "pass/object_row.h"
#include "pass/select.h"
#include "pass/unrecorded.h"

#include <string.h>

/* The rest is seldom of interest, and there may be thousands. */
#define TEXT_ROWS 50

enum {
	ACQUIRED = PP_OBJECT_CELLS,
	CONTENDED,
	WAIT,
	WAIT_MAX,
	HOLD,
	HOLD_MAX,
	SITES,
	N_COLUMNS,
};

static const struct pp_column columns[N_COLUMNS] = {
    PP_OBJECT_COLUMNS,
    [ACQUIRED] = {"acquired", "acquired", PP_TYPE_COUNT, 0,
		  "times a thread obtained it; re-acquisitions by condition waits included"},
    [CONTENDED] = {"contended", "contended", PP_TYPE_COUNT, 0,
		   "calls that found it taken, or had to wait for what it stands for"},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, 0, "time threads waited for it"},
    [WAIT_MAX] = {"wait_max_ns", "longest", PP_TYPE_TIME_NS, 0, "the longest wait"},
    [HOLD] = {"hold_ns", "held", PP_TYPE_TIME_NS, 0,
	      "time from acquisition to release, of each holder; what has no owner has none"},
    [HOLD_MAX] = {"hold_max_ns", "longest", PP_TYPE_TIME_NS, 0, "the longest hold"},
    [SITES] = {"sites", "sites", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY, "where it was acquired from"},
};

enum {
	SITE_SITE,
	SITE_FUNCTION,
	SITE_CALLS,
	SITE_CONTENDED,
	SITE_WAIT,
	SITE_HOLD,
	SITE_ADDRESS,
	N_SITE_COLUMNS,
};

static const struct pp_column site_columns[N_SITE_COLUMNS] = {
    [SITE_SITE] = {"site", "site", PP_TYPE_TEXT, 0, "where the call stands"},
    [SITE_FUNCTION] = {"function", "function", PP_TYPE_TEXT, 0, "what it calls"},
    [SITE_CALLS] = {"calls", "calls", PP_TYPE_COUNT, 0, "how often, failed attempts included"},
    [SITE_CONTENDED] = {"contended", "contended", PP_TYPE_COUNT, 0, "calls that waited"},
    [SITE_WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, 0, "how long in all"},
    [SITE_HOLD] = {"hold_ns", "held", PP_TYPE_TIME_NS, 0,
		   "time it was held after these acquisitions"},
    [SITE_ADDRESS] = {"address", "address", PP_TYPE_ADDRESS, 0,
		      "run-time return address of the call"},
};

struct site {
	uint64_t address;
	enum st_event op;
	uint64_t calls, contended;
	int64_t wait_ns, hold_ns;
};

/* struct pp_object.data */
struct lock {
	uint64_t acquired, contended;
	int64_t wait_ns, wait_max_ns, hold_ns, hold_max_ns;
	GArray *sites; /* of struct site: few, searched in order */
};

struct locks {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	uint64_t unfinished, held_to_end;
};

static void lock_free(void *data)
{
	struct lock *lock = data;

	g_array_unref(lock->sites);
	g_free(lock);
}

static struct lock *lock_of(struct pp_object *object)
{
	struct lock *lock = object->data;

	if (!lock) {
		lock = g_new0(struct lock, 1);
		lock->sites = g_array_new(FALSE, FALSE, sizeof(struct site));
		object->data = lock;
	}
	return lock;
}

static struct site *site_of(struct lock *lock, uint64_t address, enum st_event op)
{
	struct site new = {.address = address, .op = op};

	for (guint i = 0; i < lock->sites->len; i++) {
		struct site *site = &g_array_index(lock->sites, struct site, i);

		if (site->address == address && site->op == op)
			return site;
	}
	g_array_append_val(lock->sites, new);
	return &g_array_index(lock->sites, struct site, lock->sites->len - 1);
}

static bool is_attempt(enum st_event op)
{
	return pp_operation_can_block(op) || op == ST_EVENT_mutex_trylock ||
	       op == ST_EVENT_sem_trywait || op == ST_EVENT_rwlock_tryrdlock ||
	       op == ST_EVENT_rwlock_trywrlock || op == ST_EVENT_spin_trylock;
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct locks *self = data;
	/* The second time that a condition wait comes, for its mutex: the wait was not for that. */
	bool regained = object->type != pp_sync_type(operation->op);
	bool counts = pp_selects_time(self->context, operation->end_ns);
	int64_t wait_ns =
	    regained ? 0 : pp_selected_ns(self->context, operation->begin_ns, operation->end_ns);
	bool contended = operation->waited && !regained && counts;
	struct lock *lock;
	struct site *site;

	if (!is_attempt(operation->op) || (!counts && !wait_ns) ||
	    !pp_may_select_object(self->context, object) ||
	    !pp_selects_operation(self->context, operation))
		return;
	lock = lock_of(object);
	site = site_of(lock, operation->site, operation->op);
	lock->acquired += acquired && counts;
	lock->contended += contended;
	lock->wait_ns += wait_ns;
	lock->wait_max_ns = MAX(lock->wait_max_ns, wait_ns);
	site->calls += counts;
	site->contended += contended;
	site->wait_ns += wait_ns;
	self->unfinished += !operation->finished && counts;
}

/* A hold is selected with the operation that it began with. */
static bool selects_hold(const struct locks *self, const struct pp_object *object,
			 const struct pp_hold *hold)
{
	struct pp_operation operation = {
	    .thread = hold->thread,
	    .op = hold->op,
	    .site = hold->site,
	    .begin_ns = hold->since_ns - hold->wait_ns,
	    .end_ns = hold->since_ns,
	};

	return pp_may_select_object(self->context, object) &&
	       pp_selects_operation(self->context, &operation);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	struct locks *self = data;
	int64_t hold_ns = pp_selected_ns(self->context, hold->since_ns, end_ns);
	struct lock *lock;

	if (self->context->selection && (!hold_ns || !selects_hold(self, object, hold)))
		return;
	lock = lock_of(object);
	lock->hold_ns += hold_ns;
	lock->hold_max_ns = MAX(lock->hold_max_ns, hold_ns);
	site_of(lock, hold->site, hold->op)->hold_ns += hold_ns;
	self->held_to_end += !operation;
}

static void *locks_start(const struct pp_pass_context *context)
{
	struct locks *self = g_new0(struct locks, 1);

	self->context = context;
	self->thread_listener = pp_objects_feed(&self->objects);
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .operation = on_operation,
	    .released = on_released,
	};
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	self->states = pp_thread_states_new(context, &self->thread_listener, NULL);
	return self;
}

static void locks_event(void *state, const struct pp_event *event)
{
	struct locks *self = state;

	pp_thread_states_event(self->states, event);
}

/* --- the table ------------------------------------------------------------------------------ */

static gint compare_sites(gconstpointer a, gconstpointer b)
{
	const struct site *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	if (x->hold_ns != y->hold_ns)
		return x->hold_ns < y->hold_ns ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* The most waited for first, then the most held, then in order of appearance. */
static gint compare_objects(gconstpointer a, gconstpointer b)
{
	const struct pp_object *x = *(const struct pp_object *const *)a;
	const struct pp_object *y = *(const struct pp_object *const *)b;
	const struct lock *of_x = x->data, *of_y = y->data;

	if (of_x->wait_ns != of_y->wait_ns)
		return of_x->wait_ns < of_y->wait_ns ? 1 : -1;
	if (of_x->hold_ns != of_y->hold_ns)
		return of_x->hold_ns < of_y->hold_ns ? 1 : -1;
	return x->serial < y->serial ? -1 : 1;
}

/* Are those of its operations that did not wait known by their number in all only? */
static bool is_counted(const struct pp_object *object)
{
	return object->process->only_waits && strcmp(object->type, "thread") != 0 &&
	       strcmp(object->type, "barrier") != 0;
}

static bool has_holds(const struct pp_object *object)
{
	return pp_object_is_lock(object) && !object->process->only_waits;
}

static struct pp_table *sites_table(const struct locks *self, const struct pp_object *object,
				    const struct lock *lock)
{
	const struct pp_namer *namer = self->context->namer;
	struct pp_table *table = pp_table_new("sites", "Sites", site_columns, N_SITE_COLUMNS);

	g_array_sort(lock->sites, compare_sites);
	for (guint i = 0; i < lock->sites->len; i++) {
		const struct site *site = &g_array_index(lock->sites, struct site, i);
		struct pp_cell *row = pp_table_add_row(table);

		if (site->address && namer && namer->site) {
			g_autofree char *where =
			    namer->site(namer->data, object->process, site->address);

			pp_cell_set_text(&row[SITE_SITE], where);
		}
		if (site->address)
			pp_cell_set_count(&row[SITE_ADDRESS], site->address);
		pp_cell_set_text(&row[SITE_FUNCTION], pp_sync_function(site->op));
		if (!is_counted(object))
			pp_cell_set_count(&row[SITE_CALLS], site->calls);
		pp_cell_set_count(&row[SITE_CONTENDED], site->contended);
		pp_cell_set_time(&row[SITE_WAIT], site->wait_ns);
		if (has_holds(object))
			pp_cell_set_time(&row[SITE_HOLD], site->hold_ns);
	}
	return table;
}

static void add_row(struct pp_table *table, const struct locks *self,
		    const struct pp_object *object)
{
	const struct lock *lock = object->data;
	struct pp_cell *row = pp_table_add_row(table);

	pp_object_row(row, object, self->context->namer);
	if (!is_counted(object))
		pp_cell_set_count(&row[ACQUIRED], lock->acquired);
	pp_cell_set_count(&row[CONTENDED], lock->contended);
	pp_cell_set_time(&row[WAIT], lock->wait_ns);
	pp_cell_set_time(&row[WAIT_MAX], lock->wait_max_ns);
	if (has_holds(object)) {
		pp_cell_set_time(&row[HOLD], lock->hold_ns);
		pp_cell_set_time(&row[HOLD_MAX], lock->hold_max_ns);
	}
	pp_cell_set_table(&row[SITES], sites_table(self, object, lock));
}

static void locks_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct locks *self = state;
	struct pp_table *table = pp_table_new("locks", "Locks", columns, N_COLUMNS);
	g_autoptr(GPtrArray) used = g_ptr_array_new();
	unsigned n_counted = 0;

	table->text_rows = TEXT_ROWS;
	pp_thread_states_finish(self->states, end_ns);
	pp_objects_finish(&self->objects, end_ns);
	for (guint i = 0; i < self->objects.all->len; i++) {
		struct pp_object *object = self->objects.all->pdata[i];

		if (object->data && pp_selects_object(self->context, object))
			g_ptr_array_add(used, object);
	}
	g_ptr_array_sort(used, compare_objects);
	for (guint i = 0; i < used->len; i++) {
		add_row(table, self, used->pdata[i]);
		n_counted += is_counted(used->pdata[i]);
	}
	pp_unrecorded_note(table, self->context->model);
	if (n_counted)
		pp_table_note(table,
			      "recorded with sync.mode = contended: how often %u of these "
			      "were acquired, and how long they were held, is not known",
			      n_counted);
	if (self->unfinished)
		pp_table_note(table,
			      "%" G_GUINT64_FORMAT " waits never ended: they count up to "
			      "the end of their threads, or of what is known of them",
			      self->unfinished);
	if (self->held_to_end)
		pp_table_note(table,
			      "%" G_GUINT64_FORMAT " locks were held at the end: they count "
			      "as held until then",
			      self->held_to_end);
	g_ptr_array_add(tables, table);
}

static void locks_free(void *state)
{
	struct locks *self = state;

	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, lock_free);
	g_free(self);
}

const struct pp_pass pp_pass_locks = {
    .name = "locks",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_ALL,
    .start = locks_start,
    .event = locks_event,
    .finish = locks_finish,
    .free = locks_free,
};
