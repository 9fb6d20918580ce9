/* SPDX-License-Identifier: MIT */
/*
 * Call paths of long waits, and of the operations that woke other threads: by object, operation and
 * call path.  Only operations with a recorded path are included (events.h, call_path).
 */
#include "pass/paths.h"

#include <inttypes.h>

#include "analysis/state/object_row.h"
#include "analysis/select.h"
#include "analysis/state/select_object.h"

/* Text shows only the first rows, since there may be thousands. */
#define TEXT_ROWS 30

enum { FRAME_SITE, FRAME_ADDRESS, N_FRAME_COLUMNS };

static const struct pp_column frame_columns[N_FRAME_COLUMNS] = {
    [FRAME_SITE] = {"site", "site", PP_TYPE_TEXT, PP_COLUMN_KEY, "call site"},
    [FRAME_ADDRESS] = {"address", "address", PP_TYPE_ADDRESS, PP_COLUMN_ID,
		       "its run-time return address"},
};

enum { FUNCTION = PP_OBJECT_CELLS, CALLS, WAIT, WAIT_MAX, PATH, FRAMES, N_COLUMNS };

static const struct pp_column columns[N_COLUMNS] = {
    PP_OBJECT_COLUMNS,
    [FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY, "called function"},
    [CALLS] = {"calls", "calls", PP_TYPE_COUNT, 0, "number of operations with a recorded path"},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
	      "their wait time; releases do not wait"},
    [WAIT_MAX] = {"wait_max_ns", "longest", PP_TYPE_TIME_NS, PP_COLUMN_MAX, "the longest wait"},
    [PATH] = {"path", "called by", PP_TYPE_TEXT, PP_COLUMN_KEY, "the functions, innermost first"},
    [FRAMES] = {"frames", "frames", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY, "the calls, one by one",
		frame_columns, N_FRAME_COLUMNS},
};

struct use {
	struct pp_object *object;
	const struct pp_path *path;
	enum st_event op;
	uint64_t calls;
	int64_t wait_ns, wait_max_ns;
	unsigned serial;
};

struct paths {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	GHashTable *uses; /* a set of struct use * */
};

static guint use_hash(const void *data)
{
	const struct use *use = data;

	return g_direct_hash(use->object) ^ g_direct_hash(use->path) * 31 ^ use->op;
}

static gboolean use_equal(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return x->object == y->object && x->path == y->path && x->op == y->op;
}

static struct use *use_of(struct paths *self, struct pp_object *object,
			  const struct pp_operation *operation)
{
	struct use key = {.object = object, .path = operation->path, .op = operation->op};
	struct use *use = g_hash_table_lookup(self->uses, &key);

	if (use)
		return use;
	use = g_memdup2(&key, sizeof(key));
	use->serial = g_hash_table_size(self->uses);
	g_hash_table_add(self->uses, use);
	return use;
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct paths *self = data;
	int64_t wait_ns = pp_selected_ns(self->context, operation->begin_ns, operation->end_ns);
	bool counts = pp_selects_time(self->context, operation->end_ns);
	struct use *use;

	(void)acquired;
	/* The second call for a condition wait, for its mutex. */
	if (!operation->path || object->type != pp_sync_type(operation->op) ||
	    (!counts && !wait_ns) || !pp_selects_operation(self->context, operation))
		return;
	use = use_of(self, object, operation);
	use->calls += counts;
	use->wait_ns += wait_ns;
	use->wait_max_ns = MAX(use->wait_max_ns, wait_ns);
}

static void *paths_start(const struct pp_pass_context *context)
{
	struct paths *self = g_new0(struct paths, 1);

	self->context = context;
	self->thread_listener = pp_objects_feed(&self->objects);
	self->object_listener =
	    (struct pp_object_listener){.data = self, .operation = on_operation};
	self->uses = g_hash_table_new_full(use_hash, use_equal, g_free, NULL);
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	self->states = pp_thread_states_new(context, &self->thread_listener, NULL);
	return self;
}

static void paths_event(void *state, const struct pp_event *event)
{
	struct paths *self = state;

	pp_thread_states_event(self->states, event);
}

static void append_function(GString *text, const char *name)
{
	g_string_append_printf(text, "%s%s", text->len ? " < " : "", name);
}

/* Appends the function and those inlined there. */
static void append_functions(GString *text, const struct pp_namer *namer,
			     const struct pp_process *process, uint64_t address)
{
	g_autofree char *name = NULL;

	if (namer && namer->frames) {
		g_autoptr(GPtrArray) frames = namer->frames(namer->data, process, address);

		for (guint i = 0; i < frames->len; i++)
			append_function(text, ((struct pp_frame *)frames->pdata[i])->function);
		return;
	}
	name = namer && namer->function ? namer->function(namer->data, process, address)
					: g_strdup_printf("0x%" PRIx64, address);
	append_function(text, name);
}

char *pp_path_text(const struct pp_path *path, const struct pp_process *process,
		   const struct pp_namer *namer)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < path->n; i++)
		append_functions(text, namer, process, path->addresses[i]);
	return g_string_free(text, FALSE);
}

static void add_frame(struct pp_table *table, const char *site, uint64_t address)
{
	struct pp_cell *row = pp_table_add_row(table);

	if (site)
		pp_cell_set_text(&row[FRAME_SITE], site);
	pp_cell_set_count(&row[FRAME_ADDRESS], pp_address_runtime(address));
}

/* Each inlined function has a row of its own, with the same address. */
static void add_frames(struct pp_table *table, const struct pp_namer *namer,
		       const struct pp_process *process, uint64_t address)
{
	if (namer && namer->frames) {
		g_autoptr(GPtrArray) frames = namer->frames(namer->data, process, address);

		for (guint i = 0; i < frames->len; i++)
			add_frame(table, ((struct pp_frame *)frames->pdata[i])->site, address);
	} else {
		g_autofree char *site =
		    namer && namer->site ? namer->site(namer->data, process, address) : NULL;

		add_frame(table, site, address);
	}
}

static struct pp_table *frames_table(const struct use *use, const struct pp_namer *namer)
{
	struct pp_table *table = pp_table_new_nested(&columns[FRAMES]);

	for (unsigned i = 0; i < use->path->n; i++)
		add_frames(table, namer, use->object->process, use->path->addresses[i]);
	return table;
}

static void add_row(struct pp_table *table, const struct paths *self, const struct use *use)
{
	const struct pp_namer *namer = self->context->namer;
	struct pp_cell *row = pp_table_add_row(table);
	g_autofree char *text = pp_path_text(use->path, use->object->process, namer);

	pp_object_row(row, use->object, namer);
	pp_cell_set_text(&row[FUNCTION], pp_sync_function(use->op));
	pp_cell_set_count(&row[CALLS], use->calls);
	if (pp_sync_has(use->op, PP_SYNC_BLOCKS)) {
		pp_cell_set_time(&row[WAIT], use->wait_ns);
		pp_cell_set_time(&row[WAIT_MAX], use->wait_max_ns);
	}
	pp_cell_set_text(&row[PATH], text);
	pp_cell_set_table(&row[FRAMES], frames_table(use, namer));
}

/* Longest wait first, then most releases, then order of appearance. */
static gint compare_uses(gconstpointer a, gconstpointer b)
{
	const struct use *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static uint64_t count_lost(const struct pp_model *model)
{
	uint64_t n = 0;

	for (guint i = 0; i < model->processes->len; i++)
		n += ((const struct pp_process *)model->processes->pdata[i])->paths_lost;
	return n;
}

static void paths_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct paths *self = state;
	struct pp_table *table = pp_table_new("paths", "Call paths", columns, N_COLUMNS);
	g_autoptr(GList) uses = NULL;
	uint64_t n_lost = count_lost(self->context->model);

	table->text_rows = TEXT_ROWS;
	pp_thread_states_finish(self->states, end_ns);
	uses = g_list_sort(g_hash_table_get_keys(self->uses), compare_uses);
	for (GList *at = uses; at; at = at->next)
		if (pp_selects_object(self->context, ((const struct use *)at->data)->object))
			add_row(table, self, at->data);
	if (!table->rows->len && self->context->selection)
		pp_table_note(table, "no operation selected has a call path");
	else if (!table->rows->len)
		pp_table_note(table, "no operation has a call path: sync.paths was off, no wait "
				     "was long enough, or the code has no frame "
				     "pointers (-pg, -fno-omit-frame-pointer)");
	if (n_lost)
		pp_table_note(table,
			      "%" PRIu64
			      " more operations have no call path: a thread had too many "
			      "different call paths, or no memory was left",
			      n_lost);
	g_ptr_array_add(tables, table);
}

static void paths_free(void *state)
{
	struct paths *self = state;

	g_hash_table_unref(self->uses);
	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, NULL);
	g_free(self);
}

const struct pp_pass pp_pass_paths = {
    .name = "paths",
    .summary = "call paths to waits",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_ALL,
    .has_operations = true,
    .start = paths_start,
    .event = paths_event,
    .finish = paths_finish,
    .free = paths_free,
};
