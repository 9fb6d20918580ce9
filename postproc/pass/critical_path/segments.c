/* SPDX-License-Identifier: MIT */
/*
 * The segments of the path: thread, time, and how the path passes to the next.  JSON and CSV have
 * all segments that the chain keeps, text the longest of these.
 */
#include <inttypes.h>

#include "core/text/duration.h"
#include "pass/critical_path/critical_path.h"
#include "analysis/state/object_row.h"
#include "analysis/thread_cells.h"

#define TEXT_ROWS 20

_Static_assert(PP_CHAIN_MODES == PP_CRITICAL_MODES, "a time for each");

enum {
	START = PP_N_NAMED_THREAD_CELLS,
	TIME,
	DURATION,
	RUNNING,
	RUNNABLE,
	BLOCKED, /* text shows the sum of the next three */
	SYNC,
	IO,
	OTHER,
	UNKNOWN,
	OUTSIDE,
	CALL,
	SITE,
	BLOCKED_IN,
	OBJECT,
	OBJECT_NAME,
	TO_TID,
	TO_INDEX,
	TO_NAME,
	N_COLUMNS
};

static const struct pp_column columns[N_COLUMNS] = {
    PP_NAMED_THREAD_COLUMNS("name"),
    [START] = {"start_ns", "start", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
	       "when it begins"},
    [TIME] = {"time", "time (s)", PP_TYPE_TEXT,
	      PP_COLUMN_TEXT_ONLY | PP_COLUMN_RIGHT | PP_COLUMN_STAYS,
	      "the same, relative to the start of the recording, as for --time"},
    [DURATION] = {"duration_ns", "for", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "duration"},
    [RUNNING] = {"running_ns", "running", PP_TYPE_TIME_NS, 0, "of this: on a CPU"},
    [RUNNABLE] = {"runnable_ns", "runnable", PP_TYPE_TIME_NS, 0, "... waiting for a CPU"},
    [BLOCKED] = {"blocked", "blocked", PP_TYPE_TIME_NS, PP_COLUMN_TEXT_ONLY,
		 "... blocked, and not woken by a thread of the program"},
    [SYNC] = {"blocked_sync_ns", "sync", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,
	      "... blocked on an object, and not woken by a thread of the program"},
    [IO] = {"blocked_io_ns", "I/O", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY, "... uninterruptible"},
    [OTHER] = {"blocked_other_ns", "other", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,
	       "... blocked otherwise"},
    [UNKNOWN] = {"unknown_ns", "unknown", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,
		 "... unknown from the events"},
    [OUTSIDE] = {"outside_ns", "outside", PP_TYPE_TIME_NS, PP_COLUMN_DETAIL,
		 "... blocked without a lock held: for input, a child, or time"},
    [CALL] = {"call", "since", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED,
	      "the thread's last synchronization or blocking call before it; none: its begin"},
    [SITE] = {"site", "at", PP_TYPE_TEXT, PP_COLUMN_KEY, "... and its call site"},
    [BLOCKED_IN] = {"blocked_in", "blocked in", PP_TYPE_TEXT, PP_COLUMN_MORE,
		    "the call in which it was blocked longest, and its call site"},
    [OBJECT] = {"object", "object", PP_TYPE_ADDRESS, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
		"the object for which the next thread of the path waited"},
    [OBJECT_NAME] = {"object_name", "object", PP_TYPE_TEXT, PP_COLUMN_ID | PP_COLUMN_MORE,
		     "its name"},
    [TO_TID] = {"to_tid", "to", PP_TYPE_COUNT, PP_COLUMN_ID | PP_COLUMN_REPEATED,
		"the next thread of the path; none: the same one, or the end"},
    [TO_INDEX] = {"to_index", "to index", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
		  "its number in its process"},
    [TO_NAME] = {"to_name", "name", PP_TYPE_TEXT, PP_COLUMN_ID, "its name"},
};

static void set_time(struct pp_cell *row, const struct pp_critical_sums *path, int64_t start_ns)
{
	int64_t from_ns = path->critical->context->model->start_ns;
	g_autofree char *text = NULL;

	pp_cell_set_time(&row[START], start_ns);
	if (from_ns == PP_TIME_UNKNOWN)
		return;
	text = g_strdup_printf("%" PRId64 ".%06" PRId64, (start_ns - from_ns) / 1000000000,
			       (start_ns - from_ns) % 1000000000 / 1000);
	pp_cell_set_text(&row[TIME], text);
}

static void set_place(struct pp_cell *row, const struct pp_critical *critical, guint number)
{
	const struct pp_call_site *place = pp_call_sites_at(&critical->places, number);
	g_autofree char *site = pp_call_site_text(place, critical->context->namer);

	pp_cell_set_text(&row[CALL], pp_call_site_function(place));
	pp_cell_set_text(&row[SITE], site);
}

static void set_blocked(struct pp_cell *row, const struct pp_critical *critical, guint number)
{
	const struct pp_call_site *place = pp_call_sites_at(&critical->places, number);
	g_autofree char *site = pp_call_site_text(place, critical->context->namer);
	g_autofree char *text = g_strdup_printf("%s%s%s", pp_call_site_function(place),
						site ? " at " : "", site ? site : "");

	pp_cell_set_text(&row[BLOCKED_IN], text);
}

static void set_object(struct pp_cell *row, const struct pp_critical *critical, guint number)
{
	const struct pp_object *object = pp_object_refs_at(&critical->refs, number);
	g_autofree char *name = pp_object_name(object, critical->context->namer);

	if (!pp_object_is_group(object))
		pp_cell_set_count(&row[OBJECT], object->address);
	pp_cell_set_text(&row[OBJECT_NAME], name);
}

static void set_next(struct pp_cell *row, const struct pp_critical *critical,
		     const struct pp_chain_segment *segment)
{
	const struct pp_thread *to = critical->context->model->threads->pdata[segment->to - 1];

	if (segment->object != PP_CRITICAL_NO_OBJECT)
		set_object(row, critical, segment->object);
	pp_cell_set_count(&row[TO_TID], to->tid);
	pp_cell_set_count(&row[TO_INDEX], to->index);
	pp_cell_set_text(&row[TO_NAME], pp_thread_name(to));
}

static void add_row(struct pp_table *table, const struct pp_critical_sums *path,
		    const struct pp_chain_segment *segment)
{
	static const unsigned columns_of[PP_CRITICAL_MODES] = {
	    [PP_CRITICAL_MODE_OUTSIDE] = OUTSIDE, [PP_MODE_UNKNOWN] = UNKNOWN,
	    [PP_MODE_RUNNING] = RUNNING,	  [PP_MODE_RUNNABLE] = RUNNABLE,
	    [PP_MODE_BLOCKED_SYNC] = SYNC,	  [PP_MODE_BLOCKED_IO] = IO,
	    [PP_MODE_BLOCKED_OTHER] = OTHER,
	};
	const struct pp_critical *critical = path->critical;
	const GPtrArray *threads = critical->context->model->threads;
	struct pp_cell *row = pp_named_thread_row(table, threads->pdata[segment->thread]);

	set_time(row, path, segment->start_ns);
	pp_cell_set_time(&row[DURATION], segment->end_ns - segment->start_ns);
	for (unsigned mode = 0; mode < PP_CRITICAL_MODES; mode++)
		pp_cell_set_time(&row[columns_of[mode]], segment->ns[mode]);
	pp_cell_set_time(&row[BLOCKED], segment->ns[PP_MODE_BLOCKED_SYNC] +
					    segment->ns[PP_MODE_BLOCKED_IO] +
					    segment->ns[PP_MODE_BLOCKED_OTHER]);
	set_place(row, critical, segment->place);
	if (segment->longest.ns)
		set_blocked(row, critical, segment->longest.place);
	if (segment->to)
		set_next(row, critical, segment);
}

static int64_t length_of(const GArray *segments, guint i)
{
	const struct pp_chain_segment *segment =
	    &g_array_index(segments, struct pp_chain_segment, i);

	return segment->end_ns - segment->start_ns;
}

static gint longest_first(gconstpointer a, gconstpointer b, void *segments)
{
	guint i = *(const guint *)a, j = *(const guint *)b;
	int64_t x = length_of(segments, i), y = length_of(segments, j);

	return x != y ? (x < y ? 1 : -1) : (i > j) - (i < j);
}

/* A table of at most that many segments, the longest, in time order. */
static struct pp_table *make_table(const struct pp_critical_sums *path, GArray *segments,
				   guint n_max)
{
	struct pp_table *table =
	    pp_table_new("critical_stretches", "Critical path: segments", columns, N_COLUMNS);
	g_autofree guint *order = g_new(guint, segments->len + 1);
	g_autofree bool *is_shown = g_new0(bool, segments->len + 1);

	for (guint i = 0; i < segments->len; i++)
		order[i] = i;
	g_qsort_with_data(order, (gint)segments->len, sizeof(*order), longest_first, segments);
	for (guint i = 0; i < segments->len && i < n_max; i++)
		is_shown[order[i]] = true;
	for (guint i = 0; i < segments->len; i++)
		if (is_shown[i])
			add_row(table, path, &g_array_index(segments, struct pp_chain_segment, i));
	table->is_in_order = true;
	return table;
}

/* Adds a note about segments that are not in the table. */
static void note_rest(struct pp_table *table, const struct pp_critical_sums *path, uint64_t n_all,
		      const char *where)
{
	int64_t rest_ns = path->length_ns;
	g_autofree char *text = NULL;

	for (guint i = 0; i < table->rows->len; i++)
		rest_ns -= ((const struct pp_cell *)table->rows->pdata[i])[DURATION].time_ns;
	text = pp_duration_text(rest_ns);
	if (n_all > table->rows->len)
		pp_table_note(
		    table, "the longest %u of %" PRIu64 " segments; the others are %s together%s",
		    table->rows->len, n_all, text, where);
}

void pp_critical_segments(const struct pp_critical_sums *path, GPtrArray *tables)
{
	struct pp_table *all, *longest;
	uint64_t n_left_out = 0;
	GArray *segments;

	if (!path->end) {
		segments = g_array_new(FALSE, FALSE, sizeof(struct pp_chain_segment));
	} else {
		const struct pp_critical_track *track =
		    path->critical->tracks->pdata[path->end->serial];

		segments = pp_chain_segments(&track->chain, &n_left_out);
	}
	all = make_table(path, segments, segments->len);
	all->is_for_programs = true;
	/* Their sums are in the other tables, so there is nothing to compare. */
	all->is_excerpt = true;
	note_rest(all, path, segments->len + n_left_out, "");
	longest = make_table(path, segments, TEXT_ROWS);
	longest->is_for_text = true;
	note_rest(longest, path, segments->len + n_left_out, "; --format json has more");
	g_ptr_array_add(tables, all);
	g_ptr_array_add(tables, longest);
	g_array_unref(segments);
}
