/* SPDX-License-Identifier: MIT */
/*
 * Waits, spins, holds and blocking calls that are at least as long as the selection asks for, one
 * by one.  Those that have not ended last up to the end of the events.
 *
 * A begin before the selected time is the true one if it was read, so rows of different parts of
 * the time that are the same operation have the same begin.  Its name is found when it is added,
 * so that no object is needed after its end.
 *
 * With the option "names", a second table has all objects and called functions.
 */
#include "analysis/select.h"
#include "analysis/state/object_name.h"
#include "analysis/state/try_runs.h"
#include "analysis/thread_cells.h"

/* Conditions of microseconds would otherwise be true of any number of operations. */
#define MAX_ROWS 20000

enum {
	KIND = PP_N_THREAD_CELLS,
	OBJECT,
	TYPE,
	NAME,
	BEGIN,
	TIME,
	ENDED,
	N_COLUMNS,
};

static const struct pp_column columns[N_COLUMNS] = {
    PP_THREAD_COLUMNS,
    [KIND] = {"kind", "kind", PP_TYPE_TEXT, PP_COLUMN_KEY, "wait, hold or call"},
    [OBJECT] = {"object", "address", PP_TYPE_ADDRESS, PP_COLUMN_ID, "address of the object"},
    [TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY, PP_SYNC_TYPES},
    [NAME] = {"name", "name", PP_TYPE_TEXT, PP_COLUMN_KEY, "the object, or the called function"},
    [BEGIN] = {"begin_ns", "begin", PP_TYPE_TIME_NS, PP_COLUMN_ID, "by CLOCK_MONOTONIC"},
    [TIME] = {"time_ns", "time", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "its length so far"},
    [ENDED] = {"ended", "ended", PP_TYPE_BOOL, 0, "it has ended"},
};

enum { NAMED_OBJECT, NAMED_TYPE, NAMED_NAME, N_NAMED_COLUMNS };

static const struct pp_column named_columns[N_NAMED_COLUMNS] = {
    [NAMED_OBJECT] = {"object", "address", PP_TYPE_ADDRESS, PP_COLUMN_ID, "address of the object"},
    [NAMED_TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY,
		    "none: a function; " PP_SYNC_TYPES},
    [NAMED_NAME] = {"name", "name", PP_TYPE_TEXT, PP_COLUMN_KEY, "the object, or the function"},
};

struct long_operations {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	struct pp_try_runs try_runs;
	struct pp_table *table, *names; /* names: NULL: not asked for */
	GHashTable *called;		/* enum st_io_call that `names` has */
	uint64_t n_left_out;
};

static bool is_long(const struct long_operations *self, int64_t begin_ns, int64_t end_ns)
{
	const struct pp_selection *selection = self->context->selection;

	return end_ns - begin_ns >= (selection ? selection->min_wait_ns : 0) &&
	       pp_selected_ns(self->context, begin_ns, end_ns) > 0;
}

/* Returns NULL if the operation is short, or there are too many rows. */
static struct pp_cell *add_row(struct long_operations *self, const char *kind,
			       const struct pp_thread *thread, int64_t begin_ns, int64_t end_ns,
			       bool has_ended)
{
	struct pp_cell *row;

	if (!is_long(self, begin_ns, end_ns))
		return NULL;
	if (self->table->rows->len == MAX_ROWS) {
		self->n_left_out++;
		return NULL;
	}
	row = pp_thread_row(self->table, thread);
	pp_cell_set_text(&row[KIND], kind);
	pp_cell_set_time(&row[BEGIN], begin_ns);
	pp_cell_set_time(&row[TIME], end_ns - begin_ns);
	pp_cell_set_bool(&row[ENDED], has_ended || thread->ended);
	return row;
}

static void add_of_object(struct long_operations *self, const char *kind,
			  const struct pp_object *object, const struct pp_thread *thread,
			  int64_t begin_ns, int64_t end_ns, bool has_ended)
{
	struct pp_cell *row = add_row(self, kind, thread, begin_ns, end_ns, has_ended);
	g_autofree char *name = row ? pp_object_name(object, self->context->namer) : NULL;

	if (!row)
		return;
	pp_cell_set_count(&row[OBJECT], object->address);
	pp_cell_set_text(&row[TYPE], pp_sync_type_name(object->type));
	pp_cell_set_text(&row[NAME], name);
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct long_operations *self = data;
	const struct pp_try_run *run =
	    pp_try_runs_operation(&self->try_runs, object, operation, acquired);

	if (run && acquired)
		add_of_object(self, "wait", object, operation->thread, run->since_ns,
			      operation->end_ns, true);
	/* A condition wait has a second call, for its mutex. */
	if (operation->waited && object->type == pp_sync_type(operation->op))
		add_of_object(self, "wait", object, operation->thread, operation->begin_ns,
			      operation->end_ns, operation->finished);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	add_of_object(data, "hold", object, hold->thread, hold->since_ns, end_ns,
		      operation != NULL);
}

static void name_object(struct long_operations *self, const struct pp_object *object)
{
	g_autofree char *name = NULL;
	struct pp_cell *row;

	if (!self->names || self->names->rows->len == MAX_ROWS)
		return;
	name = pp_object_name(object, self->context->namer);
	row = pp_table_add_row(self->names);
	pp_cell_set_count(&row[NAMED_OBJECT], object->address);
	pp_cell_set_text(&row[NAMED_TYPE], pp_sync_type_name(object->type));
	pp_cell_set_text(&row[NAMED_NAME], name);
}

static void name_call(struct long_operations *self, enum st_io_call call)
{
	if (self->names && g_hash_table_add(self->called, GUINT_TO_POINTER(call)))
		pp_cell_set_text(&pp_table_add_row(self->names)[NAMED_NAME], pp_io_name(call));
}

static void on_io_begin(void *data, const struct pp_io *io)
{
	name_call(pp_objects_owner(data), io->call);
}

static void on_io(void *data, const struct pp_io *io)
{
	struct long_operations *self = pp_objects_owner(data);
	struct pp_cell *row =
	    add_row(self, "call", io->thread, io->begin_ns, io->end_ns, io->finished);

	if (row)
		pp_cell_set_text(&row[NAME], pp_io_name(io->call));
}

static bool on_end(void *data, struct pp_object *object, struct pp_object *group)
{
	(void)group;
	name_object(data, object);
	return false;
}

static void *long_start(const struct pp_pass_context *context)
{
	struct long_operations *self = g_new0(struct long_operations, 1);

	self->context = context;
	self->table = pp_table_new("long_operations", "Long operations", columns, N_COLUMNS);
	self->called = g_hash_table_new(NULL, NULL);
	if (context->options && g_hash_table_contains(context->options, "names"))
		self->names =
		    pp_table_new("names", "Objects and calls", named_columns, N_NAMED_COLUMNS);
	self->thread_listener = pp_objects_feed(&self->objects);
	self->thread_listener.io_begin = on_io_begin;
	self->thread_listener.io = on_io;
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .operation = on_operation,
	    .released = on_released,
	    .fold = on_end,
	    .context = context,
	};
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	pp_try_runs_init(&self->try_runs);
	self->states = pp_thread_states_share(context, &self->thread_listener);
	return self;
}

static void long_event(void *state, const struct pp_event *event)
{
	struct long_operations *self = state;

	pp_thread_states_event(self->states, event);
}

static void long_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct long_operations *self = state;

	pp_thread_states_finish(self->states, end_ns);
	pp_objects_finish(&self->objects, end_ns);
	if (self->n_left_out)
		pp_table_note(self->table, "%" G_GUINT64_FORMAT " more are left out",
			      self->n_left_out);
	for (guint i = 0; self->names && i < self->objects.all->len; i++)
		if (self->objects.all->pdata[i])
			name_object(self, self->objects.all->pdata[i]);
	g_ptr_array_add(tables, g_steal_pointer(&self->table));
	if (self->names)
		g_ptr_array_add(tables, g_steal_pointer(&self->names));
}

static void long_free(void *state)
{
	struct long_operations *self = state;

	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, NULL);
	pp_try_runs_done(&self->try_runs);
	if (self->table)
		pp_table_free(self->table);
	if (self->names)
		pp_table_free(self->names);
	g_hash_table_unref(self->called);
	g_free(self);
}

const struct pp_pass pp_pass_long_operations = {
    .name = "long-operations",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_TIME | PP_SELECT_MIN_WAIT,
    .start = long_start,
    .event = long_event,
    .finish = long_finish,
    .free = long_free,
};
