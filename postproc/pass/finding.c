/* SPDX-License-Identifier: MIT */
/*
 * The leading cause of waits, in words and figures, for `summary` and for the last lines of
 * `record`.  It is no section: `blame` has all causes.
 */
#include "pass/finding.h"

#include <string.h>

#include "analysis/blame/finding.h"
#include "analysis/select.h"

enum {
	KIND,
	TITLE,
	TEXT,
	OBJECT,
	TYPE,
	OBJECTS,
	FUNCTION,
	SITE,
	ACQUIRED,
	WAITS_PCT,
	OBJECT_PCT,
	SHARE_PCT,
	WAITS,
	WAIT,
	IDLE,
	RUNNING,
	RUNNABLE,
	BLOCKED_SYNC,
	BLOCKED_IO,
	BLOCKED_OTHER,
	NOT_KNOWN,
	CALL,
	NESTED,
	WAITERS,
	WAITER,
	WAITER_PCT,
	N_COLUMNS
};
_Static_assert(N_COLUMNS == PP_N_FINDING_COLUMNS, "finding.h");

const struct pp_column pp_finding_columns[PP_N_FINDING_COLUMNS] = {
    [KIND] = {"kind", "kind", PP_TYPE_TEXT, PP_COLUMN_KEY,
	      "nothing, held, preempted, io, sleep, nested, holder, call, passed, no-cpu, unknown"},
    [TITLE] = {"title", "title", PP_TYPE_TEXT, PP_COLUMN_ID, "in a few words"},
    [TEXT] = {"text", "text", PP_TYPE_TEXT, PP_COLUMN_ID, "in a sentence"},
    [OBJECT] = {"name", "object", PP_TYPE_TEXT, PP_COLUMN_ID,
		"the object, or the common name of several"},
    [TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY, PP_SYNC_TYPES},
    [OBJECTS] = {"objects", "objects", PP_TYPE_COUNT, 0, "number of objects with that name"},
    [FUNCTION] = {"function", "call", PP_TYPE_TEXT, PP_COLUMN_KEY,
		  "the function that ended the hold, or the wait"},
    [SITE] = {"site", "to blame", PP_TYPE_TEXT, PP_COLUMN_KEY, "its call site"},
    [ACQUIRED] = {"acquired", "held since", PP_TYPE_TEXT, PP_COLUMN_KEY,
		  "the call site that began the hold"},
    [WAITS_PCT] = {"waits_pct", "waits", PP_TYPE_PERCENT, 0,
		   "all waits that are not idle, as a share of the threads' lifetimes"},
    [OBJECT_PCT] = {"object_pct", "object", PP_TYPE_PERCENT, 0,
		    "the object's share of these waits"},
    [SHARE_PCT] = {"share_pct", "share", PP_TYPE_PERCENT, 0, "the cause's share of these waits"},
    [WAITS] = {"waits", "waits", PP_TYPE_COUNT, 0, "number of waits with this cause"},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "the part of their time"},
    [IDLE] = {"idle_ns", "idle", PP_TYPE_TIME_NS, 0, "of that, waits that held nothing back"},
    [RUNNING] = {"running_ns", "running", PP_TYPE_TIME_NS, 0,
		 "meanwhile the thread to blame was on a CPU"},
    [RUNNABLE] = {"runnable_ns", "runnable", PP_TYPE_TIME_NS, 0,
		  "... ready without a CPU; hand-over: the waiter was"},
    [BLOCKED_SYNC] = {"blocked_sync_ns", "sync", PP_TYPE_TIME_NS, 0,
		      "... blocked on another object; hand-over: the waiter was not woken yet"},
    [BLOCKED_IO] = {"blocked_io_ns", "I/O", PP_TYPE_TIME_NS, 0, "... blocked in I/O"},
    [BLOCKED_OTHER] = {"blocked_other_ns", "other", PP_TYPE_TIME_NS, 0, "... blocked otherwise"},
    [NOT_KNOWN] = {"unknown_ns", "?", PP_TYPE_TIME_NS, 0, "... what it did is unknown"},
    [CALL] = {"call", "in", PP_TYPE_TEXT, PP_COLUMN_ID,
	      "holder: the call that it was in for most of the time blocked in I/O, or else "
	      "otherwise"},
    [NESTED] = {"nested", "on", PP_TYPE_TEXT, PP_COLUMN_ID,
		"... the other object, for most of the time blocked on one"},
    [WAITERS] = {"waiters", "waiters", PP_TYPE_COUNT, 0,
		 "number of threads that waited for the object; none: not known"},
    [WAITER] = {"waiter", "waiter", PP_TYPE_TEXT, PP_COLUMN_ID, "the one that waited longest"},
    [WAITER_PCT] = {"waiter_pct", "of its life", PP_TYPE_PERCENT, 0,
		    "these waits, as a share of its lifetime"},
};

struct pass {
	const struct pp_pass_context *context;
	struct pp_blame *blame;
	struct pp_meanwhile *meanwhile;
	bool has_operations;
};

static void *finding_start(const struct pp_pass_context *context)
{
	struct pass *self = g_new0(struct pass, 1);

	self->context = context;
	self->blame = pp_blame_new(context);
	self->meanwhile = pp_meanwhile_new(context);
	return self;
}

static void finding_event(void *state, const struct pp_event *event)
{
	struct pass *self = state;

	self->has_operations |= event->kind == PP_EVENT_SYNC;
	pp_blame_event(self->blame, event);
	pp_meanwhile_event(self->meanwhile, event);
}

/* --- the row -------------------------------------------------------------------------------- */

static void set_percent(struct pp_cell *cell, int64_t part_ns, int64_t all_ns)
{
	if (all_ns > 0)
		pp_cell_set_number(cell, 100.0 * (double)part_ns / (double)all_ns);
}

static void set_modes(struct pp_cell *row, const struct pp_blame_figures *figures)
{
	static const unsigned at[PP_N_MODES] = {
	    [PP_MODE_RUNNING] = RUNNING,
	    [PP_MODE_RUNNABLE] = RUNNABLE,
	    [PP_MODE_BLOCKED_SYNC] = BLOCKED_SYNC,
	    [PP_MODE_BLOCKED_IO] = BLOCKED_IO,
	    [PP_MODE_BLOCKED_OTHER] = BLOCKED_OTHER,
	    [PP_MODE_UNKNOWN] = NOT_KNOWN,
	};

	for (unsigned mode = 0; mode < PP_N_MODES; mode++)
		pp_cell_set_time(&row[at[mode]], figures->mode_ns[mode]);
}

static void set_facts(struct pp_cell *row, const struct pp_finding *finding)
{
	const char *io = finding->blocked_in[PP_MODE_BLOCKED_IO];

	pp_cell_set_text(&row[CALL], io ? io : finding->blocked_in[PP_MODE_BLOCKED_OTHER]);
	pp_cell_set_text(&row[NESTED], finding->blocked_in[PP_MODE_BLOCKED_SYNC]);
	if (!finding->n_waiters)
		return;
	pp_cell_set_count(&row[WAITERS], finding->n_waiters);
	pp_cell_set_text(&row[WAITER], finding->waiter);
	set_percent(&row[WAITER_PCT], finding->waiter_ns, finding->waiter_lifetime_ns);
}

static void set_cause(struct pp_cell *row, const struct pp_finding *finding)
{
	pp_cell_set_text(&row[OBJECT], finding->object);
	pp_cell_set_text(&row[TYPE], pp_sync_type_name(finding->type));
	pp_cell_set_count(&row[OBJECTS], finding->n_objects);
	pp_cell_set_text(&row[FUNCTION],
			 finding->op < ST_N_EVENTS ? pp_sync_function(finding->op) : NULL);
	pp_cell_set_text(&row[SITE], finding->site);
	pp_cell_set_text(&row[ACQUIRED], finding->acquired);
	set_percent(&row[OBJECT_PCT], finding->object_ns, finding->waits_ns);
	set_percent(&row[SHARE_PCT], finding->cause_ns, finding->waits_ns);
	pp_cell_set_count(&row[WAITS], finding->figures.n);
	pp_cell_set_time(&row[WAIT], finding->figures.ns);
	pp_cell_set_time(&row[IDLE], finding->figures.ns - finding->cause_ns);
	if (finding->kind != PP_FINDING_UNKNOWN)
		set_modes(row, &finding->figures);
	set_facts(row, finding);
}

static void add_row(struct pp_table *table, const struct pp_finding *finding)
{
	g_autofree char *title = pp_finding_title(finding), *text = pp_finding_text(finding);
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_text(&row[KIND], pp_finding_kind_name(finding->kind));
	pp_cell_set_text(&row[TITLE], title);
	pp_cell_set_text(&row[TEXT], text);
	set_percent(&row[WAITS_PCT], finding->waits_ns, finding->lifetimes_ns);
	if (finding->kind != PP_FINDING_NOTHING)
		set_cause(row, finding);
}

static void finding_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct pass *self = state;
	struct pp_table *table = pp_table_new("finding", "Finding", pp_finding_columns,
					      G_N_ELEMENTS(pp_finding_columns));
	struct pp_finding *finding;

	pp_blame_finish(self->blame, end_ns);
	finding = pp_finding_new(self->blame, self->meanwhile, self->context);
	if (finding->all_ns > 0 || (self->has_operations && self->context->model->threads->len > 1))
		add_row(table, finding);
	pp_finding_free(finding);
	g_ptr_array_add(tables, table);
}

static void finding_free(void *state)
{
	struct pass *self = state;

	pp_blame_free(self->blame);
	pp_meanwhile_free(self->meanwhile);
	g_free(self);
}

/* --- for other passes ----------------------------------------------------------------------- */

struct pp_table *pp_finding_copy(const struct pp_table *finding)
{
	struct pp_table *copy = pp_table_new("finding", "Finding", pp_finding_columns,
					     G_N_ELEMENTS(pp_finding_columns));

	for (guint r = 0; finding && r < finding->rows->len; r++) {
		const struct pp_cell *from = finding->rows->pdata[r];
		struct pp_cell *to = pp_table_add_row(copy);

		for (unsigned c = 0; c < N_COLUMNS; c++)
			if (pp_finding_columns[c].type != PP_TYPE_TEXT)
				to[c] = from[c];
			else if (!from[c].missing)
				pp_cell_set_text(&to[c], from[c].text);
	}
	return copy;
}

char *pp_finding_name(const struct pp_table *finding)
{
	const struct pp_cell *title, *object;

	if (!finding || !finding->rows->len)
		return NULL;
	title = pp_table_cell(finding, 0, "title");
	object = pp_table_cell(finding, 0, "name");
	return object ? g_strdup_printf("%s: %s", title->text, object->text)
		      : g_strdup(title->text);
}

char *pp_finding_line(const struct pp_table *finding)
{
	const struct pp_cell *title, *text;

	if (!finding || !finding->rows->len)
		return NULL;
	title = pp_table_cell(finding, 0, "title");
	text = pp_table_cell(finding, 0, "text");
	return g_strdup_printf("%s: %s", title->text, text->text);
}

/* The end of the first line of a text: a space, but not one before a percent sign; or its end. */
static const char *line_end(const char *text, unsigned width)
{
	const char *end = NULL, *c = text;

	for (; *c; c++) {
		if (*c != ' ' || c[1] == '%')
			continue;
		if ((size_t)(c - text) > width && end)
			return end;
		end = c;
	}
	return (size_t)(c - text) > width && end ? end : c;
}

GStrv pp_finding_lines(const struct pp_table *finding, unsigned width)
{
	g_autofree char *line = pp_finding_line(finding);
	GPtrArray *lines;

	if (!line)
		return NULL;
	lines = g_ptr_array_new();
	for (const char *at = line; *at;) {
		const char *end = line_end(at, width);

		g_ptr_array_add(lines, g_strndup(at, (gsize)(end - at)));
		at = *end ? end + 1 : end;
	}
	g_ptr_array_add(lines, NULL);
	return (GStrv)g_ptr_array_free(lines, FALSE);
}

const struct pp_pass pp_pass_finding = {
    .name = "finding",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_ALL,
    .start = finding_start,
    .event = finding_event,
    .finish = finding_finish,
    .free = finding_free,
};
