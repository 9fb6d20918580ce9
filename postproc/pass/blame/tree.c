/* SPDX-License-Identifier: MIT */
/*
 * Waits and work by call path, as a tree (paper 002): waits where one of the views of blame charges
 * them, work where threads have samples.  Both are shares of the effort of all threads: waits and
 * work.
 *
 * The option "bottom-up" makes the tree begin with the functions that were charged.
 */
#include "analysis/select.h"
#include "analysis/state/select_object.h"
#include "core/text/duration.h"
#include "pass/blame/blame.h"
#include "pass/tree_rows.h"

enum {
	WAIT_PCT = PP_TREE_CELLS,
	SELF_PCT,
	EFFORT_PCT,
	WAIT,
	WORK,
	SELF_WAIT,
	SELF_WORK,
	N_COLUMNS,
};

static const struct pp_column columns[N_COLUMNS] = {
    PP_TREE_COLUMNS,
    [WAIT_PCT] = {"wait_pct", "wait %", PP_TYPE_PERCENT, 0,
		  "waits that are charged here and in all nodes below: share of the effort (waits "
		  "and work of all threads)"},
    [SELF_PCT] = {"self_wait_pct", "self %", PP_TYPE_PERCENT, 0,
		  "... those that are charged to paths that end here"},
    [EFFORT_PCT] = {"effort_pct", "effort %", PP_TYPE_PERCENT, 0,
		    "waits and work, here and below: share of the effort"},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN | PP_COLUMN_NO_SUM,
	      "waits that are charged here and below"},
    [WORK] = {"work_ns", "work", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM,
	      "CPU time by samples, outside of waits and blocking calls, here and below"},
    [SELF_WAIT] = {"self_wait_ns", "self wait", PP_TYPE_TIME_NS, 0,
		   "waits that are charged to paths that end here"},
    [SELF_WORK] = {"self_work_ns", "self work", PP_TYPE_TIME_NS, 0, "work of these paths"},
};

/* The columns of text. */
enum { LINE_PCT, LINE_SELF_PCT, LINE_WAIT, LINE_WORK };

struct pass {
	const struct pp_pass_context *context;
	enum pp_blame_view view;
	bool bottom_up;
	struct pp_path_sums *sums;    /* of work, and of the waits by waiting call */
	struct pp_blame *blame;	      /* by holder; else NULL */
	struct pp_suspects *suspects; /* by suspect, if possible; else NULL */
};

static void *tree_start(const struct pp_pass_context *context)
{
	struct pass *self = g_new0(struct pass, 1);

	self->context = context;
	self->view = pp_blame_views(context, PP_BLAME_BY_HOLDER);
	self->bottom_up = context->options && g_hash_table_contains(context->options, "bottom-up");
	self->sums = pp_path_sums_new(context, false);
	if (self->view == PP_BLAME_BY_HOLDER)
		self->blame = pp_blame_new(context);
	if (self->view == PP_BLAME_BY_SUSPECT && pp_suspects_can(context))
		self->suspects = pp_suspects_new(context);
	return self;
}

static void tree_event(void *state, const struct pp_event *event)
{
	struct pass *self = state;

	pp_path_sums_event(self->sums, event);
	if (self->blame && event->kind != PP_EVENT_SAMPLE)
		pp_blame_event(self->blame, event);
	if (self->suspects)
		pp_suspects_event(self->suspects, event);
}

/* --- what is in the tree -------------------------------------------------------------------- */

struct uses {
	const struct pass *self;
	GPtrArray *all;	     /* of const struct pp_path_use * */
	GPtrArray *owned;    /* ... those made here */
	GStringChunk *texts; /* names of nodes */
};

static struct pp_path_use *add_charge(struct uses *uses, const char *function, int64_t ns)
{
	struct pp_path_use *use = g_new0(struct pp_path_use, 1);

	use->kind = PP_PATH_BLAME;
	use->function = function;
	use->n = 1;
	use->ns = ns;
	g_ptr_array_add(uses->all, use);
	g_ptr_array_add(uses->owned, use);
	return use;
}

/* function: NULL if that of the path's innermost instruction was running. */
static void add_call(struct uses *uses, const struct pp_process *process, const char *function,
		     const struct pp_blame_call *call, int64_t ns)
{
	struct pp_path_use *use = add_charge(uses, function, ns);

	use->process = process;
	use->path = call->path;
	use->site = call->path ? 0 : call->site;
}

/* A root of its own, for what is charged to no code. */
static void add_rest(struct uses *uses, const char *name, int64_t ns)
{
	g_autofree char *text = g_strdup_printf("[%s]", name);

	if (ns)
		add_charge(uses, g_string_chunk_insert_const(uses->texts, text), ns)->is_whole =
		    true;
}

static void take_cell(void *data, const struct pp_object *object, const struct pp_blame_cell *cell,
		      int64_t idle_ns)
{
	struct uses *uses = data;
	const struct pp_blame_cause *cause = &cell->cause;
	g_autofree char *unknown = NULL;

	(void)idle_ns;
	if (!pp_selects_object(uses->self->context, object))
		return;
	switch (cause->kind) {
	case PP_BLAME_HANDOVER:
		add_rest(uses, "hand-over", cell->figures.ns);
		break;
	case PP_BLAME_UNKNOWN:
		unknown = g_strdup_printf("unknown: %s", pp_blame_why_text(cause->why));
		add_rest(uses, unknown, cell->figures.ns);
		break;
	default:
		add_call(uses, object->process, pp_call_function(cause->call.op), &cause->call,
			 cell->figures.ns);
	}
}

static void take_suspect(void *data, const struct pp_suspect *suspect)
{
	const char *function =
	    suspect->call.op == ST_N_EVENTS ? NULL : pp_call_function(suspect->call.op);

	add_call(data, suspect->process, function, &suspect->call, suspect->ns);
}

static void add_suspects(struct uses *uses)
{
	const struct pp_suspect_sums sums = pp_suspects_sums(uses->self->suspects);

	pp_suspects_walk(uses->self->suspects, take_suspect, uses);
	add_rest(uses, PP_BLAME_NOBODY_LOCK, sums.nobody_ns[PP_SUSPECT_LOCK]);
	add_rest(uses, PP_BLAME_NOBODY_OTHER, sums.nobody_ns[PP_SUSPECT_OTHER]);
	add_rest(uses, "correction", sums.correction_ns);
}

/* Adds the work, and the waits by waiting call. */
static void add_paths(struct uses *uses)
{
	const GPtrArray *paths = pp_path_sums_uses(uses->self->sums);

	for (guint i = 0; i < paths->len; i++) {
		struct pp_path_use *path = paths->pdata[i];

		if (path->kind == PP_PATH_CPU && path->ns > path->in_waits_ns)
			g_ptr_array_add(uses->all, path);
		else if (path->kind == PP_PATH_WAIT && uses->self->view == PP_BLAME_BY_WAITER)
			add_call(uses, path->process, pp_sync_function(path->op),
				 &(struct pp_blame_call){.site = path->site, .path = path->path},
				 path->ns);
	}
}

/* --- rows ----------------------------------------------------------------------------------- */

struct rows {
	int64_t effort_ns; /* 0: not known */
	bool has_work;
};

static int64_t work_of(const struct pp_tree_figures *figures)
{
	return figures->ns[PP_TREE_CPU] - figures->in_waits_ns;
}

static void set_share(const struct rows *rows, struct pp_cell *cell, int64_t ns)
{
	if (rows->effort_ns > 0)
		pp_cell_set_number(cell, 100.0 * (double)ns / (double)rows->effort_ns);
}

static void fill_row(void *data, struct pp_cell *row, const struct pp_tree_node *node)
{
	const struct rows *rows = data;
	int64_t wait_ns = node->total.ns[PP_TREE_BLAME];

	set_share(rows, &row[WAIT_PCT], wait_ns);
	set_share(rows, &row[SELF_PCT], node->self.ns[PP_TREE_BLAME]);
	pp_cell_set_time(&row[WAIT], wait_ns);
	pp_cell_set_time(&row[SELF_WAIT], node->self.ns[PP_TREE_BLAME]);
	if (!rows->has_work)
		return;
	set_share(rows, &row[EFFORT_PCT], wait_ns + work_of(&node->total));
	pp_cell_set_time(&row[WORK], work_of(&node->total));
	pp_cell_set_time(&row[SELF_WORK], work_of(&node->self));
}

static void fill_line(void *data, struct pp_cell *row, const struct pp_tree_node *node)
{
	const struct rows *rows = data;

	set_share(rows, &row[LINE_PCT], node->total.ns[PP_TREE_BLAME]);
	set_share(rows, &row[LINE_SELF_PCT], node->self.ns[PP_TREE_BLAME]);
	pp_cell_set_time(&row[LINE_WAIT], node->total.ns[PP_TREE_BLAME]);
	if (rows->has_work)
		pp_cell_set_time(&row[LINE_WORK], work_of(&node->total));
}

static struct pp_table *line_table(const char *title)
{
	static const struct {
		unsigned column, flags;
	} of_rows[] = {{WAIT_PCT, PP_COLUMN_STAYS},
		       {SELF_PCT, PP_COLUMN_MORE},
		       {WAIT, PP_COLUMN_MAIN | PP_COLUMN_NO_SUM},
		       {WORK, PP_COLUMN_NO_SUM}};
	GArray *own = g_array_new(FALSE, TRUE, sizeof(struct pp_column));

	for (unsigned i = 0; i < G_N_ELEMENTS(of_rows); i++) {
		struct pp_column column = columns[of_rows[i].column];

		column.flags = of_rows[i].flags;
		g_array_append_val(own, column);
	}
	g_array_append_val(own, pp_tree_line_column);
	return pp_table_new_own("blame_tree", title, own, g_string_chunk_new(64));
}

/* --- the effort ----------------------------------------------------------------------------- */

/* The time on a CPU outside of waits and blocking calls, by scheduling events. */
static int64_t running_ns(const struct pass *self)
{
	const GPtrArray *threads = self->context->model->threads;
	int64_t ns = 0;

	for (guint i = 0; i < threads->len; i++) {
		const struct pp_path_thread *thread =
		    pp_path_sums_thread(self->sums, threads->pdata[i]);

		if (thread && pp_selects_thread(self->context, threads->pdata[i]))
			ns += thread->elsewhere_ns[PP_MODE_RUNNING];
	}
	return ns;
}

/* Sets the effort, and tells in notes where its parts come from. */
static void find_effort(const struct pass *self, const struct pp_tree *tree, struct rows *rows,
			struct pp_table *table, struct pp_table *lines)
{
	const struct pp_tree_figures *all = &pp_tree_root(tree)->total;
	g_autofree char *text = NULL, *note = NULL;
	int64_t work_ns;

	rows->has_work = pp_path_sums_has_samples(self->sums);
	if (rows->has_work) {
		rows->effort_ns = all->ns[PP_TREE_BLAME] + work_of(all);
		return;
	}
	if (pp_selects_by(self->context, PP_SELECT_OBJECT | PP_SELECT_FUNCTION)) {
		note = g_strdup("--object, --function: work belongs to none of them, so shares of "
				"the effort are unknown");
	} else if (!self->context->has_kernel) {
		note = g_strdup("there are neither samples nor scheduling events: work, and shares "
				"of the effort, are unknown");
	} else {
		work_ns = running_ns(self);
		text = pp_duration_text(work_ns);
		rows->effort_ns = all->ns[PP_TREE_BLAME] + work_ns;
		note = g_strdup_printf("there are no samples: the effort has %s of work, which is "
				       "in no node",
				       text);
	}
	pp_table_note(table, "%s", note);
	pp_table_note(lines, "%s", note);
}

static const char *title_of(const struct pass *self)
{
	switch (self->view) {
	case PP_BLAME_BY_WAITER:
		return self->bottom_up ? "Waits by waiting call, bottom-up"
				       : "Waits by waiting call, as a tree";
	case PP_BLAME_BY_SUSPECT:
		return self->bottom_up ? "Suspects, bottom-up" : "Suspects, as a tree";
	default:
		return self->bottom_up ? "Blame, bottom-up" : "Blame, as a tree";
	}
}

static void make_tables(const struct pass *self, const struct pp_tree *tree, GPtrArray *tables)
{
	struct pp_table *table = pp_table_new("blame_tree", title_of(self), columns, N_COLUMNS);
	struct pp_table *lines = line_table(title_of(self));
	struct rows rows = {0};

	find_effort(self, tree, &rows, table, lines);
	pp_tree_add_rows(table, tree, fill_row, &rows);
	pp_tree_add_lines(lines, tree, self->context->for_text, fill_line, &rows);
	if (self->view == PP_BLAME_BY_SUSPECT && !self->suspects) {
		pp_table_note(table, PP_BLAME_NO_SUSPECTS);
		pp_table_note(lines, PP_BLAME_NO_SUSPECTS);
	}
	g_ptr_array_add(tables, table);
	g_ptr_array_add(tables, lines);
}

static void tree_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct pass *self = state;
	struct uses uses = {
	    .self = self,
	    .all = g_ptr_array_new(),
	    .owned = g_ptr_array_new_with_free_func(g_free),
	    .texts = g_string_chunk_new(256),
	};
	struct pp_tree *tree;

	pp_path_sums_finish(self->sums, end_ns);
	if (self->blame) {
		pp_blame_finish(self->blame, end_ns);
		pp_blame_walk(self->blame, take_cell, &uses);
	}
	if (self->suspects) {
		pp_suspects_finish(self->suspects, end_ns);
		add_suspects(&uses);
	}
	add_paths(&uses);
	tree = pp_tree_new(self->context, uses.all, self->bottom_up, false);
	make_tables(self, tree, tables);
	pp_tree_free(tree);
	g_ptr_array_unref(uses.all);
	g_ptr_array_unref(uses.owned);
	g_string_chunk_free(uses.texts);
}

static void tree_free(void *state)
{
	struct pass *self = state;

	pp_path_sums_free(self->sums);
	if (self->blame)
		pp_blame_free(self->blame);
	pp_suspects_free(self->suspects);
	g_free(self);
}

const struct pp_pass pp_pass_blame_tree = {
    .name = "blame-tree",
    .summary = "causes, by call path",
    .kinds = PP_SUSPECTS_KINDS,
    .selects = PP_SELECT_ALL,
    .has_operations = true,
    .start = tree_start,
    .event = tree_event,
    .finish = tree_finish,
    .free = tree_free,
};
