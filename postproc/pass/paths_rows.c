/* SPDX-License-Identifier: MIT */
/*
 * The rows of `paths`.  Paths by different addresses that read alike, with the same functions and
 * lines, have one row.  Rows with the same functions show the lines in which they differ.
 * Generations at one address with the same name share rows.
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/select.h"
#include "analysis/state/object_row.h"
#include "analysis/state/select_object.h"
#include "analysis/paths/frames.h"
#include "pass/paths_sums.h"

/* Text shows only the first rows, since there may be thousands. */
#define TEXT_ROWS 30

enum { FRAME_SITE, FRAME_ADDRESS, N_FRAME_COLUMNS };

static const struct pp_column frame_columns[N_FRAME_COLUMNS] = {
    [FRAME_SITE] = {"site", "site", PP_TYPE_TEXT, PP_COLUMN_KEY, "call site"},
    [FRAME_ADDRESS] = {"address", "address", PP_TYPE_ADDRESS, PP_COLUMN_ID,
		       "its run-time return address; none: that of several paths differs"},
};

/* The last columns of both tables. */
#define PATH_COLUMNS(first)                                                                        \
	[first] = {"path", "path", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY | PP_COLUMN_KEY,              \
		   "the functions, innermost first"},                                              \
	[(first) + 1] = {"lines", "called by", PP_TYPE_TEXT, PP_COLUMN_ID | PP_COLUMN_PATH,        \
			 "the same, with the lines in which paths of the same functions differ"},  \
	[(first) + 2] = {"frames",                                                                 \
			 "frames",                                                                 \
			 PP_TYPE_TABLE,                                                            \
			 PP_COLUMN_JSON_ONLY,                                                      \
			 "the calls, one by one",                                                  \
			 frame_columns,                                                            \
			 N_FRAME_COLUMNS}
#define PATH_CELLS 3

enum {
	FUNCTION = PP_OBJECT_CELLS,
	CALLS,
	WAIT,
	IDLE,
	WAIT_MAX,
	HOLD,
	PATH,
	N_COLUMNS = PATH + PATH_CELLS
};

static const struct pp_column columns[N_COLUMNS] = {
    PP_OBJECT_COLUMNS,
    [FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED,
		  "called function; thread_exit: the end of a thread that was joined"},
    [CALLS] = {"calls", "calls", PP_TYPE_COUNT, 0, "number of operations with a recorded path"},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
	      "their wait time; releases do not wait"},
    [IDLE] = {"idle_ns", "idle", PP_TYPE_TIME_NS, PP_COLUMN_UNRANKED,
	      "part of it in idle waits: for work, for a thread's end, for time, or for any of "
	      "several inputs"},
    [WAIT_MAX] = {"wait_max_ns", "longest", PP_TYPE_TIME_NS, PP_COLUMN_MAX | PP_COLUMN_DETAIL,
		  "the longest wait"},
    [HOLD] = {"hold_ns", "held", PP_TYPE_TIME_NS, 0,
	      "how long the locks were held that these operations acquired"},
    PATH_COLUMNS(PATH),
};

enum {
	SAMPLE_FUNCTION = PP_OBJECT_CELLS,
	SAMPLES,
	SHARE,
	SAMPLE_HOLD,
	SAMPLE_PATH,
	N_SAMPLE_COLUMNS = SAMPLE_PATH + PATH_CELLS
};

static const struct pp_column sample_columns[N_SAMPLE_COLUMNS] = {
    PP_OBJECT_COLUMNS,
    [SAMPLE_FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED,
			 "called function"},
    [SAMPLES] = {"samples", "samples", PP_TYPE_COUNT, PP_COLUMN_MAIN,
		 "number of acquisitions whose path was recorded"},
    [SHARE] = {"share_pct", "share", PP_TYPE_PERCENT, PP_COLUMN_SHARE,
	       "share of all samples: about that of all acquisitions without a wait"},
    [SAMPLE_HOLD] = {"hold_ns", "held", PP_TYPE_TIME_NS, 0,
		     "how long the locks were held that these samples acquired"},
    PATH_COLUMNS(SAMPLE_PATH),
};

/* A path as readers see it: the sum of all uses with these lines, of one object, or of its
 * generations. */
struct shown {
	struct pp_paths_use use; /* path: of the first */
	struct pp_object object; /* stands for all if there are several */
	GHashTable *places;	 /* a set of struct pp_paths_place *: the objects */
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
static void add_place(struct shown *shown, struct pp_paths_place *place)
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

static void add_use(struct shown *shown, const struct pp_paths_use *use, const GArray *frames)
{
	if (use->place)
		add_place(shown, use->place);
	shown->use.io.is_mixed |= use->io.is_mixed || use->io.object != shown->use.io.object;
	shown->use.calls += use->calls;
	shown->use.wait_ns += use->wait_ns;
	shown->use.hold_ns += use->hold_ns;
	shown->use.idle_ns += use->idle_ns;
	shown->use.wait_max_ns = MAX(shown->use.wait_max_ns, use->wait_max_ns);
	shown->use.serial = MIN(shown->use.serial, use->serial);
	for (guint i = 0; i < frames->len; i++)
		if (pp_path_frame_at(shown->frames, i)->address !=
		    pp_path_frame_at(frames, i)->address)
			g_array_index(shown->frames, struct pp_path_frame, i).address = 0;
}

/* The same for the generations at one address, but not for threads, which have names. */
static char *key_of(const struct pp_paths_use *use, const struct pp_namer *namer, guint n_frames,
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
static struct shown *add_shown(struct joiner *joiner, const struct pp_paths_use *use,
			       GArray *frames)
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

static void join_use(struct joiner *joiner, const struct pp_paths_use *use)
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
	const struct pp_paths_use *x = a, *y = b;

	return (x->serial > y->serial) - (x->serial < y->serial);
}

/* Joins the uses that read alike: samples, or all others.  Returns an array of struct shown *. */
static GPtrArray *join_uses(const struct pp_paths *self, bool samples)
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
		struct pp_paths_use *use = at->data;
		struct pp_idle_total total = {0};

		if (use->is_sample != samples)
			continue;
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
	struct pp_table *table = pp_table_new_nested(&columns[PATH + 2]);

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
static void set_io_object(struct pp_cell *row, const struct pp_paths_use *use)
{
	g_autofree char *name =
	    use->io.is_mixed ? g_strdup("several")
			     : pp_io_object_text(pp_op_io(use->op), use->io.fd, use->io.object);

	pp_cell_set_count(&row[PP_OBJECT_PID], use->process->pid);
	pp_cell_set_count(&row[PP_OBJECT_IMAGE], use->process->image);
	pp_cell_set_text(&row[PP_OBJECT_TYPE], "io");
	pp_cell_set_text(&row[PP_OBJECT_NAME], name);
}

static void set_path(struct pp_cell *cells, const struct shown *shown)
{
	g_autofree char *lines = lines_text(shown);

	pp_cell_set_text(&cells[0], shown->functions);
	pp_cell_set_text(&cells[1], lines);
	pp_cell_set_table(&cells[2], frames_table(shown));
}

/* Its operations acquire a lock, and holds of the process are known. */
static bool has_holds(const struct shown *shown)
{
	return shown->use.place && pp_object_is_lock(&shown->object) &&
	       !shown->object.process->no_holds && pp_sync_has(shown->use.op, PP_SYNC_ACQUIRES);
}

static void add_row(struct pp_table *table, const struct pp_paths *self, const struct shown *shown)
{
	const struct pp_paths_use *use = &shown->use;
	struct pp_cell *row = pp_table_add_row(table);

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
	if (has_holds(shown))
		pp_cell_set_time(&row[HOLD], use->hold_ns);
	set_path(&row[PATH], shown);
}

static void add_sample_row(struct pp_table *table, const struct pp_paths *self,
			   const struct shown *shown, uint64_t n_all)
{
	struct pp_cell *row = pp_table_add_row(table);

	pp_object_row(row, &shown->object, self->context->namer);
	pp_cell_set_text(&row[SAMPLE_FUNCTION], pp_sync_function(shown->use.op));
	pp_cell_set_count(&row[SAMPLES], shown->use.calls);
	pp_cell_set_number(&row[SHARE], 100.0 * (double)shown->use.calls / (double)n_all);
	if (has_holds(shown))
		pp_cell_set_time(&row[SAMPLE_HOLD], shown->use.hold_ns);
	set_path(&row[SAMPLE_PATH], shown);
}

/* Longest wait first, idle waits last; then most releases, then order of appearance. */
static gint compare_shown(gconstpointer a, gconstpointer b)
{
	const struct pp_paths_use *x = &(*(struct shown *const *)a)->use;
	const struct pp_paths_use *y = &(*(struct shown *const *)b)->use;

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

struct pp_table *pp_paths_samples_table(const struct pp_paths *self)
{
	struct pp_table *table = pp_table_new("path_samples", "Sampled acquisitions without a wait",
					      sample_columns, N_SAMPLE_COLUMNS);
	g_autoptr(GPtrArray) all = join_uses(self, true);
	uint64_t n_all = 0;

	table->text_rows = TEXT_ROWS;
	g_ptr_array_sort(all, compare_shown);
	for (guint i = 0; i < all->len; i++)
		n_all += ((const struct shown *)all->pdata[i])->use.calls;
	for (guint i = 0; i < all->len && n_all; i++)
		add_sample_row(table, self, all->pdata[i], n_all);
	table->is_for_programs = !table->rows->len;
	if (table->rows->len)
		pp_table_note(table, "each sample stands for about as many acquisitions as "
				     "sync.path_sample says: 1000, unless it was set");
	return table;
}

struct pp_table *pp_paths_waits_table(const struct pp_paths *self)
{
	struct pp_table *table = pp_table_new("paths", "Call paths", columns, N_COLUMNS);
	g_autoptr(GPtrArray) all = join_uses(self, false);
	uint64_t n_lost = count_lost(self->context->model);

	table->text_rows = TEXT_ROWS;
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
	return table;
}
