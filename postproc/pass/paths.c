/* SPDX-License-Identifier: MIT */
/*
 * Call paths of long waits, and of the operations that woke other threads: by object, operation and
 * call path.  Only operations with a recorded path are included (events.h, call_path).  Blocking
 * calls are included, too: by function and call path, for all their descriptors.
 *
 * Paths by different addresses that read alike, with the same functions and lines, have one row.
 * Rows with the same functions show the lines in which they differ.  Generations at one
 * address with the same name share rows.
 */
#include "pass/paths.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/state/idle.h"
#include "analysis/state/object_row.h"
#include "analysis/select.h"
#include "analysis/state/select_object.h"
#include "analysis/paths/frames.h"

/* Text shows only the first rows, since there may be thousands. */
#define TEXT_ROWS 30

enum { FRAME_SITE, FRAME_ADDRESS, N_FRAME_COLUMNS };

static const struct pp_column frame_columns[N_FRAME_COLUMNS] = {
    [FRAME_SITE] = {"site", "site", PP_TYPE_TEXT, PP_COLUMN_KEY, "call site"},
    [FRAME_ADDRESS] = {"address", "address", PP_TYPE_ADDRESS, PP_COLUMN_ID,
		       "its run-time return address; none: that of several paths differs"},
};

enum { FUNCTION = PP_OBJECT_CELLS, CALLS, WAIT, IDLE, WAIT_MAX, PATH, LINES, FRAMES, N_COLUMNS };

static const struct pp_column columns[N_COLUMNS] = {
    PP_OBJECT_COLUMNS,
    [FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED,
		  "called function; thread_exit: the end of a thread that was joined"},
    [CALLS] = {"calls", "calls", PP_TYPE_COUNT, 0, "number of operations with a recorded path"},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
	      "their wait time; releases do not wait"},
    [IDLE] = {"idle_ns", "idle", PP_TYPE_TIME_NS, 0,
	      "part of it in idle waits: for work, for a thread's end, for time, or for any of "
	      "several inputs"},
    [WAIT_MAX] = {"wait_max_ns", "longest", PP_TYPE_TIME_NS, PP_COLUMN_MAX | PP_COLUMN_DETAIL,
		  "the longest wait"},
    [PATH] = {"path", "path", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY | PP_COLUMN_KEY,
	      "the functions, innermost first"},
    [LINES] = {"lines", "called by", PP_TYPE_TEXT, PP_COLUMN_ID | PP_COLUMN_PATH,
	       "the same, with the lines in which paths of the same functions differ"},
    [FRAMES] = {"frames", "frames", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY, "the calls, one by one",
		frame_columns, N_FRAME_COLUMNS},
};

/* struct pp_object.data */
struct place {
	struct pp_object *object; /* after its end, a copy */
	bool is_copy;
	bool is_used;	 /* by a struct use */
	bool is_awaited; /* a thread: a join has waited for its end */
	struct pp_idle_object *idle;
};

/* What blocking calls waited for. */
struct io_object {
	int fd;
	uint64_t object;
	bool is_mixed; /* they differ */
};

struct use {
	struct place *place; /* NULL: of blocking calls */
	const struct pp_process *process;
	const struct pp_path *path;
	enum st_event op; /* of blocking calls: pp_io_op() */
	struct io_object io;
	uint64_t calls;
	int64_t wait_ns, wait_max_ns;
	int64_t idle_ns;	  /* of operations, known at the end */
	struct pp_idle_sums idle; /* all its operations are at one call site */
	uint64_t site;
	unsigned serial;
};

struct paths {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	GPtrArray *ended; /* of struct place *: of objects that no longer exist */
	struct pp_idle idle;
	GHashTable *uses; /* a set of struct use * */
};

static guint use_hash(const void *data)
{
	const struct use *use = data;

	return g_direct_hash(use->place ? (const void *)use->place : use->process) ^
	       g_direct_hash(use->path) * 31 ^ use->op;
}

static gboolean use_equal(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return x->place == y->place && x->process == y->process && x->path == y->path &&
	       x->op == y->op;
}

static void use_free(void *data)
{
	struct use *use = data;

	pp_idle_sums_done(&use->idle);
	g_free(use);
}

static void place_free(void *data)
{
	struct place *place = data;

	pp_idle_object_free(place->idle);
	if (place->is_copy)
		g_free(place->object);
	g_free(place);
}

static struct place *place_of(struct pp_object *object)
{
	struct place *place = object->data;

	if (!place) {
		place = object->data = g_new0(struct place, 1);
		place->object = object;
	}
	return place;
}

static struct use *use_of(struct paths *self, const struct use *key)
{
	struct use *use = g_hash_table_lookup(self->uses, key);

	if (use)
		return use;
	use = g_memdup2(key, sizeof(*key));
	use->serial = g_hash_table_size(self->uses);
	g_hash_table_add(self->uses, use);
	if (use->place)
		use->place->is_used = true;
	return use;
}

static void add_time(struct use *use, bool counts, int64_t wait_ns)
{
	use->calls += counts;
	use->wait_ns += wait_ns;
	use->wait_max_ns = MAX(use->wait_max_ns, wait_ns);
}

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	struct paths *self = data;

	pp_idle_waits(&self->idle, object, operation);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	struct paths *self = data;

	(void)operation;
	pp_idle_released(&self->idle, object, hold, end_ns);
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct paths *self = data;
	struct place *place = place_of(object);
	int64_t wait_ns = pp_selected_ns(self->context, operation->begin_ns, operation->end_ns);
	bool counts = pp_selects_time(self->context, operation->end_ns);
	struct use *use;
	struct use key = {
	    .place = place,
	    .process = object->process,
	    .path = operation->path,
	    .op = operation->op,
	    .site = operation->site,
	};

	place->is_awaited |= operation->op == ST_EVENT_thread_join && operation->waited &&
			     operation->finished && operation->result == 0;
	pp_idle_operation(&self->idle, &place->idle, object, operation, acquired);
	/* The second call for a condition wait, for its mutex. */
	if (!operation->path || object->type != pp_sync_type(operation->op) ||
	    (!counts && !wait_ns) || !pp_selects_operation(self->context, operation))
		return;
	use = use_of(self, &key);
	add_time(use, counts, wait_ns);
	pp_idle_add(&self->idle, place->idle, &use->idle, object, operation, counts, wait_ns);
}

static void on_io_begin(void *data, const struct pp_io *io)
{
	const struct paths *self = pp_objects_owner(data);

	pp_idle_io_begin(&self->idle, io);
}

static void on_io(void *data, const struct pp_io *io)
{
	struct paths *self = pp_objects_owner(data);
	int64_t wait_ns = pp_selected_ns(self->context, io->begin_ns, io->end_ns);
	bool counts = pp_selects_time(self->context, io->end_ns);
	const struct use key = {
	    .process = io->thread->process,
	    .path = io->path,
	    .op = pp_io_op(io->call),
	    .site = io->site,
	    .io = {.fd = io->fd, .object = io->object},
	};
	struct use *use;

	if (!io->path || (!counts && !wait_ns) || pp_selects_by(self->context, PP_SELECT_OBJECT) ||
	    !pp_selects_call(self->context, io->thread, pp_io_name(io->call), io->site,
			     io->end_ns - io->begin_ns))
		return;
	use = use_of(self, &key);
	add_time(use, counts, wait_ns);
	use->idle_ns += pp_idle_io_ns(&self->idle, io, wait_ns);
	use->io.is_mixed |= use->io.object != io->object;
}

/* Keeps the object if it has a use. */
static bool on_end(void *data, struct pp_object *object, struct pp_object *group)
{
	struct paths *self = data;
	struct place *place = g_steal_pointer(&object->data);

	(void)group;
	pp_idle_forget(&self->idle, object);
	if (!place)
		return false;
	if (!place->is_used) {
		place_free(place);
		return false;
	}
	place->object = g_memdup2(object, sizeof(*object));
	place->object->holds = place->object->waiters = NULL;
	place->is_copy = true;
	g_ptr_array_add(self->ended, place);
	return true;
}

static void *paths_start(const struct pp_pass_context *context)
{
	struct paths *self = g_new0(struct paths, 1);

	self->context = context;
	self->thread_listener = pp_objects_feed(&self->objects);
	self->thread_listener.io_begin = on_io_begin;
	self->thread_listener.io = on_io;
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .waits = on_waits,
	    .operation = on_operation,
	    .released = on_released,
	    .fold = on_end,
	};
	self->ended = g_ptr_array_new_with_free_func(place_free);
	self->uses = g_hash_table_new_full(use_hash, use_equal, use_free, NULL);
	pp_idle_init(&self->idle, context);
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	self->states = pp_thread_states_new(context, &self->thread_listener, NULL);
	return self;
}

static void paths_event(void *state, const struct pp_event *event)
{
	struct paths *self = state;

	pp_thread_states_event(self->states, event);
}

char *pp_path_text(const struct pp_path *path, const struct pp_process *process,
		   const struct pp_namer *namer)
{
	g_autoptr(GArray) frames = pp_path_frames(path, process, namer);

	return pp_path_frames_text(frames, NULL);
}

/* --- rows ----------------------------------------------------------------------------------- */

/* A path as readers see it: the sum of all uses with these lines, of one object, or of its
 * generations. */
struct shown {
	struct use use;		 /* path: of the first */
	struct pp_object object; /* stands for all if there are several */
	GHashTable *places;	 /* a set of struct place *: the objects */
	GArray *frames;		 /* of struct pp_path_frame; address 0: that of the uses differs */
	char *functions;	 /* as text */
	GPtrArray *alike;	 /* of struct shown *: with the same functions, this one included */
};

static void shown_free(void *data)
{
	struct shown *shown = data;

	g_hash_table_unref(shown->places);
	g_array_unref(shown->frames);
	g_free(shown->functions);
	g_ptr_array_unref(shown->alike);
	g_free(shown);
}

/* The object of the row; of several, one that stands for them. */
static void add_place(struct shown *shown, struct place *place)
{
	struct pp_object *object = &shown->object;

	if (!g_hash_table_add(shown->places, place))
		return;
	if (g_hash_table_size(shown->places) == 1) {
		*object = *place->object;
		object->one_address = true;
		return;
	}
	object->generation = 0;
	object->n_folded = g_hash_table_size(shown->places);
}

static void add_use(struct shown *shown, const struct use *use, const GArray *frames)
{
	if (use->place)
		add_place(shown, use->place);
	shown->use.io.is_mixed |= use->io.is_mixed || use->io.object != shown->use.io.object;
	shown->use.calls += use->calls;
	shown->use.wait_ns += use->wait_ns;
	shown->use.idle_ns += use->idle_ns;
	shown->use.wait_max_ns = MAX(shown->use.wait_max_ns, use->wait_max_ns);
	shown->use.serial = MIN(shown->use.serial, use->serial);
	for (guint i = 0; i < frames->len; i++)
		if (pp_path_frame_at(shown->frames, i)->address !=
		    pp_path_frame_at(frames, i)->address)
			g_array_index(shown->frames, struct pp_path_frame, i).address = 0;
}

/* The same for the generations at one address, but not for threads, which have names. */
static char *key_of(const struct use *use, const struct pp_namer *namer, guint n_frames,
		    const char *text)
{
	const struct pp_object *object = use->place ? use->place->object : NULL;
	g_autofree char *name = object ? pp_object_group(object, namer) : NULL;
	uint64_t which;

	if (!object)
		return g_strdup_printf("%u %u %s %u %s", use->process->pid, use->process->image,
				       pp_op_function(use->op), n_frames, text);
	which = object->type == GM_SYNC_TYPE_thread ? object->order : object->address;
	return g_strdup_printf("%u %u %u %" PRIu64 " %s %u %u %s", object->process->pid,
			       object->process->image, object->type, which, name, use->op, n_frames,
			       text);
}

static bool *lines_everywhere(guint n)
{
	bool *with_line = g_new(bool, n + 1);

	memset(with_line, true, n + 1);
	return with_line;
}

/* Rows in the making. */
struct joiner {
	const struct pp_namer *namer;
	GPtrArray *all;		  /* of struct shown * */
	GHashTable *by_lines;	  /* text -> struct shown * */
	GHashTable *by_functions; /* text -> GPtrArray of struct shown * */
};

/* Adds a row, with those of the same functions.  Takes ownership of the frames. */
static struct shown *add_shown(struct joiner *joiner, const struct use *use, GArray *frames)
{
	struct shown *shown = g_new0(struct shown, 1);
	g_autofree char *key = NULL;
	GPtrArray *alike;

	shown->use = *use;
	shown->places = g_hash_table_new(NULL, NULL);
	if (use->place)
		add_place(shown, use->place);
	shown->frames = frames;
	shown->functions = pp_path_frames_text(frames, NULL);
	key = key_of(use, joiner->namer, frames->len, shown->functions);
	alike = g_hash_table_lookup(joiner->by_functions, key);
	if (!alike) {
		alike = g_ptr_array_new();
		g_hash_table_insert(joiner->by_functions, g_steal_pointer(&key), alike);
	}
	g_ptr_array_add(alike, shown);
	shown->alike = g_ptr_array_ref(alike);
	g_ptr_array_add(joiner->all, shown);
	return shown;
}

static void join_use(struct joiner *joiner, const struct use *use)
{
	GArray *frames = pp_path_frames(use->path, use->process, joiner->namer);
	g_autofree bool *with_line = lines_everywhere(frames->len);
	g_autofree char *lines = pp_path_frames_text(frames, with_line);
	char *key = key_of(use, joiner->namer, frames->len, lines);
	struct shown *shown = g_hash_table_lookup(joiner->by_lines, key);

	if (!shown) {
		g_hash_table_insert(joiner->by_lines, key, add_shown(joiner, use, frames));
		return;
	}
	add_use(shown, use, frames);
	g_array_unref(frames);
	g_free(key);
}

static gint first_seen(gconstpointer a, gconstpointer b)
{
	const struct use *x = a, *y = b;

	return (x->serial > y->serial) - (x->serial < y->serial);
}

/* Joins the uses that read alike.  Returns an array of struct shown *. */
static GPtrArray *join_uses(const struct paths *self)
{
	g_autoptr(GList) uses = g_list_sort(g_hash_table_get_keys(self->uses), first_seen);
	struct joiner joiner = {
	    .namer = self->context->namer,
	    .all = g_ptr_array_new_with_free_func(shown_free),
	    .by_lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	    .by_functions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
						  (GDestroyNotify)g_ptr_array_unref),
	};

	for (GList *at = uses; at; at = at->next) {
		struct use *use = at->data;
		struct pp_idle_total total = {0};

		if (use->place && (!pp_selects_object(self->context, use->place->object) ||
				   (use->op == ST_EVENT_thread_exit && !use->place->is_awaited)))
			continue;
		if (use->place) {
			pp_idle_get(use->place->idle, use->place->object, &use->idle, use->site,
				    &total);
			use->idle_ns = total.ns;
		}
		join_use(&joiner, use);
	}
	g_hash_table_unref(joiner.by_lines);
	g_hash_table_unref(joiner.by_functions);
	return joiner.all;
}

/* The functions, with the lines in which those of the same functions differ. */
static char *lines_text(const struct shown *shown)
{
	g_autofree bool *with_line = g_new0(bool, shown->frames->len + 1);

	for (guint i = 0; i < shown->frames->len; i++)
		for (guint other = 0; other < shown->alike->len && !with_line[i]; other++) {
			const struct shown *against = shown->alike->pdata[other];

			with_line[i] =
			    !g_str_equal(pp_path_frame_line(pp_path_frame_at(shown->frames, i)),
					 pp_path_frame_line(pp_path_frame_at(against->frames, i)));
		}
	return pp_path_frames_text(shown->frames, with_line);
}

static struct pp_table *frames_table(const struct shown *shown)
{
	struct pp_table *table = pp_table_new_nested(&columns[FRAMES]);

	for (guint i = 0; i < shown->frames->len; i++) {
		const struct pp_path_frame *frame = pp_path_frame_at(shown->frames, i);
		struct pp_cell *row = pp_table_add_row(table);

		pp_cell_set_text(&row[FRAME_SITE], frame->site);
		if (frame->address)
			pp_cell_set_count(&row[FRAME_ADDRESS], pp_address_runtime(frame->address));
	}
	return table;
}

/* The cells of an object, for what blocking calls waited for. */
static void set_io_object(struct pp_cell *row, const struct use *use)
{
	g_autofree char *name =
	    use->io.is_mixed ? g_strdup("several")
			     : pp_io_object_text(pp_op_io(use->op), use->io.fd, use->io.object);

	pp_cell_set_count(&row[PP_OBJECT_PID], use->process->pid);
	pp_cell_set_count(&row[PP_OBJECT_IMAGE], use->process->image);
	pp_cell_set_text(&row[PP_OBJECT_TYPE], "io");
	pp_cell_set_text(&row[PP_OBJECT_NAME], name);
}

static void add_row(struct pp_table *table, const struct paths *self, const struct shown *shown)
{
	const struct use *use = &shown->use;
	struct pp_cell *row = pp_table_add_row(table);
	g_autofree char *lines = lines_text(shown);

	if (use->place)
		pp_object_row(row, &shown->object, self->context->namer);
	else
		set_io_object(row, use);
	pp_cell_set_text(&row[FUNCTION], pp_op_function(use->op) ?: pp_sync_name(use->op));
	pp_cell_set_count(&row[CALLS], use->calls);
	if (!use->place || pp_sync_has(use->op, PP_SYNC_BLOCKS)) {
		pp_cell_set_time(&row[WAIT], use->wait_ns);
		pp_cell_set_time(&row[IDLE], use->idle_ns);
		pp_cell_set_time(&row[WAIT_MAX], use->wait_max_ns);
	}
	pp_cell_set_text(&row[PATH], shown->functions);
	pp_cell_set_text(&row[LINES], lines);
	pp_cell_set_table(&row[FRAMES], frames_table(shown));
}

/* Longest wait first, idle waits last; then most releases, then order of appearance. */
static gint compare_shown(gconstpointer a, gconstpointer b)
{
	const struct use *x = &(*(struct shown *const *)a)->use;
	const struct use *y = &(*(struct shown *const *)b)->use;

	if (x->wait_ns - x->idle_ns != y->wait_ns - y->idle_ns)
		return x->wait_ns - x->idle_ns < y->wait_ns - y->idle_ns ? 1 : -1;
	if (x->idle_ns != y->idle_ns)
		return x->idle_ns < y->idle_ns ? 1 : -1;
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
	g_autoptr(GPtrArray) all = NULL;
	uint64_t n_lost = count_lost(self->context->model);

	table->text_rows = TEXT_ROWS;
	pp_thread_states_finish(self->states, end_ns);
	all = join_uses(self);
	g_ptr_array_sort(all, compare_shown);
	for (guint i = 0; i < all->len; i++)
		add_row(table, self, all->pdata[i]);
	if (!table->rows->len && self->context->selection)
		pp_table_note(table, "no operation selected has a call path");
	else if (!table->rows->len)
		pp_table_note(table, "no operation has a call path: sync.paths was off, no wait "
				     "was long enough, or the code has neither unwind "
				     "tables nor frame pointers");
	if (n_lost)
		pp_table_note(table,
			      "%" PRIu64
			      " more operations have no call path: there was no memory for more "
			      "different call paths",
			      n_lost);
	g_ptr_array_add(tables, table);
}

static void paths_free(void *state)
{
	struct paths *self = state;

	g_hash_table_unref(self->uses);
	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, place_free);
	g_ptr_array_unref(self->ended);
	pp_idle_done(&self->idle);
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
