/* SPDX-License-Identifier: MIT */
/*
 * A tree of call paths shows where threads ran and waited: top-down, or with the option "bottom-up"
 * from the functions that ran or waited to their callers.
 *
 * A second table has each thread's time, and the part that no path covers.
 */
#include "core/text/duration.h"
#include "analysis/select.h"
#include "analysis/thread_cells.h"
#include "pass/tree_rows.h"
#include "pass/unsampled.h"

enum {
	SHARE = PP_TREE_CELLS,
	WALL,
	CPU,
	WAIT,
	KINDS,
	BLOCKING = KINDS + PP_N_SYNC_TYPES,
	SELF_WALL,
	SELF_CPU,
	SELF_WAIT,
	SELF_BLOCKING,
	WAITS,
	CALLS,
	SAMPLES,
	N_COLUMNS
};

#define TITLE_mutex   "mutex"
#define TITLE_cond    "cond"
#define TITLE_rwlock  "rwlock"
#define TITLE_sem     "sem"
#define TITLE_barrier "barrier"
#define TITLE_spin    "spin"
#define TITLE_thread  "join"
#define TITLE_signal  "signal"
#define TITLE_once    "once"

#define KIND_COLUMN(name)                                                                          \
	[KINDS + GM_SYNC_TYPE_##name] = {#name "_ns", TITLE_##name, PP_TYPE_TIME_NS,               \
					 PP_COLUMN_NO_SUM | PP_COLUMN_DETAIL,                      \
					 "part of the waits: for objects of that type"},

static const struct pp_column columns[N_COLUMNS] = {
    PP_TREE_COLUMNS,
    [SHARE] = {"share_pct", "%", PP_TYPE_PERCENT, 0, "share of the wall time of all nodes"},
    [WALL] =
	{"wall_ns", "wall", PP_TYPE_TIME_NS, PP_COLUMN_MAIN | PP_COLUMN_NO_SUM,
	 "CPU time, waits and blocking calls, here and in all nodes below; CPU time in the others "
	 "counts once"},
    [CPU] = {"cpu_ns", "CPU", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM, "CPU time by samples"},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM,
	      "in waits for synchronization objects: the sum of the next columns"},
    GM_SYNC_TYPES(
	KIND_COLUMN)[BLOCKING] = {"blocking_ns", "blocking", PP_TYPE_TIME_NS,
				  PP_COLUMN_NO_SUM | PP_COLUMN_DETAIL,
				  "in other blocking calls: read(), poll(), sleep(), ..."},
    [SELF_WALL] = {"self_wall_ns", "self", PP_TYPE_TIME_NS, 0,
		   "wall time of the paths that end here"},
    [SELF_CPU] = {"self_cpu_ns", "self CPU", PP_TYPE_TIME_NS, 0, "their CPU time"},
    [SELF_WAIT] = {"self_wait_ns", "self wait", PP_TYPE_TIME_NS, 0, "their waits"},
    [SELF_BLOCKING] = {"self_blocking_ns", "self blocking", PP_TYPE_TIME_NS, 0,
		       "their blocking calls"},
    [WAITS] = {"waits", "waits", PP_TYPE_COUNT, PP_COLUMN_NO_SUM, "number of waits"},
    [CALLS] = {"blocking_calls", "calls", PP_TYPE_COUNT, PP_COLUMN_NO_SUM | PP_COLUMN_DETAIL,
	       "number of blocking calls"},
    [SAMPLES] = {"samples", "samples", PP_TYPE_COUNT, PP_COLUMN_NO_SUM | PP_COLUMN_DETAIL,
		 "number of samples"},
};

enum {
	LIFETIME = PP_N_NAMED_THREAD_CELLS,
	IN_WAITS,
	IN_CALLS,
	SAMPLED,
	RUNNING,
	RUNNABLE,
	BLOCKED,
	REST,
	N_THREAD_COLUMNS,
};

static const struct pp_column thread_columns[N_THREAD_COLUMNS] = {
    PP_NAMED_THREAD_COLUMNS("name"),
    [LIFETIME] = {"lifetime_ns", "lifetime", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
		  "from start to end, within the selected time: the sum of the next columns"},
    [IN_WAITS] = {"wait_ns", "wait", PP_TYPE_TIME_NS, 0, "in waits"},
    [IN_CALLS] = {"blocking_ns", "blocking", PP_TYPE_TIME_NS, 0, "in other blocking calls"},
    [SAMPLED] = {"cpu_ns", "CPU", PP_TYPE_TIME_NS, 0, "in neither: CPU time by samples"},
    [RUNNING] = {"unsampled_ns", "unsampled", PP_TYPE_TIME_NS, 0,
		 "on a CPU, minus the samples' time: negative if there are samples too many"},
    [RUNNABLE] = {"runnable_ns", "runnable", PP_TYPE_TIME_NS, 0, "ready without a CPU"},
    [BLOCKED] = {"blocked_ns", "blocked", PP_TYPE_TIME_NS, 0, "blocked"},
    [REST] = {"unknown_ns", "unknown", PP_TYPE_TIME_NS, 0,
	      "the rest: what the thread did is unknown"},
};

struct calltree {
	const struct pp_pass_context *context;
	struct pp_path_sums *sums;
	bool bottom_up;
};

static void *calltree_start(const struct pp_pass_context *context)
{
	struct calltree *self = g_new0(struct calltree, 1);

	self->context = context;
	self->bottom_up = context->options && g_hash_table_contains(context->options, "bottom-up");
	self->sums = pp_path_sums_new(context, context->group);
	return self;
}

static void calltree_event(void *state, const struct pp_event *event)
{
	struct calltree *self = state;

	pp_path_sums_event(self->sums, event);
}

/* --- rows ----------------------------------------------------------------------------------- */

struct rows {
	const struct calltree *self;
	bool has_samples;
	int64_t all_ns;
};

static double share_of(const struct rows *rows, const struct pp_tree_node *node)
{
	return 100.0 * (double)pp_tree_wall_ns(&node->total) / (double)MAX(rows->all_ns, 1);
}

static void fill_row(void *data, struct pp_cell *row, const struct pp_tree_node *node)
{
	const struct rows *rows = data;

	pp_cell_set_number(&row[SHARE], share_of(rows, node));
	pp_cell_set_time(&row[WALL], pp_tree_wall_ns(&node->total));
	pp_cell_set_time(&row[WAIT], pp_tree_wait_ns(&node->total));
	for (unsigned kind = 0; kind < PP_N_SYNC_TYPES; kind++)
		pp_cell_set_time(&row[KINDS + kind], node->total.ns[kind]);
	pp_cell_set_time(&row[SELF_WALL], pp_tree_wall_ns(&node->self));
	pp_cell_set_time(&row[SELF_WAIT], pp_tree_wait_ns(&node->self));
	pp_cell_set_count(&row[WAITS], pp_tree_waits(&node->total));
	pp_cell_set_time(&row[BLOCKING], node->total.ns[PP_TREE_CALLS]);
	pp_cell_set_time(&row[SELF_BLOCKING], node->self.ns[PP_TREE_CALLS]);
	pp_cell_set_count(&row[CALLS], node->total.n[PP_TREE_CALLS]);
	if (!rows->has_samples)
		return;
	pp_cell_set_time(&row[CPU], node->total.ns[PP_TREE_CPU]);
	pp_cell_set_time(&row[SELF_CPU], node->self.ns[PP_TREE_CPU]);
	pp_cell_set_count(&row[SAMPLES], node->total.n[PP_TREE_CPU]);
}

static const char *title_of(const struct calltree *self)
{
	return self->bottom_up ? "Call tree, bottom-up" : "Call tree";
}

static struct pp_table *make_rows(const struct calltree *self, const struct pp_tree *tree)
{
	struct pp_table *table = pp_table_new("calltree", title_of(self), columns, N_COLUMNS);
	struct rows rows = {.self = self,
			    .has_samples = pp_path_sums_has_samples(self->sums),
			    .all_ns = pp_tree_wall_ns(&pp_tree_root(tree)->total)};

	pp_tree_add_rows(table, tree, fill_row, &rows);
	return table;
}

/* --- text ----------------------------------------------------------------------------------- */

/* Text has the columns of those kinds only that have any time. */
struct text {
	struct rows rows;
	const struct pp_tree *tree;
	GArray *kinds; /* of unsigned; with one, this is the column of waits */
};

static void add_column(GArray *to, const struct pp_column *column, unsigned flags)
{
	struct pp_column added = *column;

	added.flags = flags;
	g_array_append_val(to, added);
}

static struct pp_table *text_table(const struct calltree *self, const struct pp_tree *tree,
				   GArray *kinds)
{
	const struct pp_tree_figures *all = &pp_tree_root(tree)->total;
	GArray *text_columns = g_array_new(FALSE, TRUE, sizeof(struct pp_column));

	for (unsigned kind = 0; kind < PP_N_SYNC_TYPES; kind++)
		if (all->ns[kind])
			g_array_append_val(kinds, kind);
	add_column(text_columns, &columns[SHARE], PP_COLUMN_STAYS);
	add_column(text_columns, &columns[WALL], columns[WALL].flags);
	if (pp_path_sums_has_samples(self->sums))
		add_column(text_columns, &columns[CPU], PP_COLUMN_NO_SUM | PP_COLUMN_MORE);
	if (kinds->len != 1)
		add_column(text_columns, &columns[WAIT], PP_COLUMN_NO_SUM | PP_COLUMN_MORE);
	for (guint i = 0; i < kinds->len; i++)
		add_column(text_columns, &columns[KINDS + g_array_index(kinds, unsigned, i)],
			   PP_COLUMN_NO_SUM | (kinds->len > 1 ? PP_COLUMN_DETAIL : PP_COLUMN_MORE));
	if (all->ns[PP_TREE_CALLS])
		add_column(text_columns, &columns[BLOCKING], PP_COLUMN_NO_SUM | PP_COLUMN_MORE);
	add_column(text_columns, &columns[WAITS], PP_COLUMN_NO_SUM);
	add_column(text_columns, &pp_tree_line_column, pp_tree_line_column.flags);
	return pp_table_new_own("calltree", title_of(self), text_columns, g_string_chunk_new(64));
}

static void fill_line(void *data, struct pp_cell *cell, const struct pp_tree_node *node)
{
	const struct text *text = data;

	pp_cell_set_number(cell++, share_of(&text->rows, node));
	pp_cell_set_time(cell++, pp_tree_wall_ns(&node->total));
	if (text->rows.has_samples)
		pp_cell_set_time(cell++, node->total.ns[PP_TREE_CPU]);
	if (text->kinds->len != 1)
		pp_cell_set_time(cell++, pp_tree_wait_ns(&node->total));
	for (guint i = 0; i < text->kinds->len; i++)
		pp_cell_set_time(cell++, node->total.ns[g_array_index(text->kinds, unsigned, i)]);
	if (pp_tree_root(text->tree)->total.ns[PP_TREE_CALLS])
		pp_cell_set_time(cell++, node->total.ns[PP_TREE_CALLS]);
	pp_cell_set_count(cell, pp_tree_waits(&node->total));
}

static struct pp_table *make_text(const struct calltree *self, const struct pp_tree *tree)
{
	g_autoptr(GArray) kinds = g_array_new(FALSE, FALSE, sizeof(unsigned));
	struct pp_table *table = text_table(self, tree, kinds);
	struct text text = {.rows = {.self = self,
				     .has_samples = pp_path_sums_has_samples(self->sums),
				     .all_ns = pp_tree_wall_ns(&pp_tree_root(tree)->total)},
			    .tree = tree,
			    .kinds = kinds};

	pp_tree_add_lines(table, tree, self->context->for_text, fill_line, &text);
	return table;
}

/* --- time that no path covers ---------------------------------------------------------------- */

/* The time of a thread, or of all; the parts add up to the lifetime. */
struct covered {
	int64_t lifetime_ns, wait_ns, call_ns, cpu_ns; /* cpu_ns: in no wait and no call */
	int64_t unsampled_ns, runnable_ns, blocked_ns;
	bool is_sampled; /* it has a sample */
};

static int64_t unknown_of(const struct covered *of)
{
	return of->lifetime_ns - of->wait_ns - of->call_ns - of->cpu_ns - of->unsampled_ns -
	       of->runnable_ns - of->blocked_ns;
}

static struct covered covered_of(const struct calltree *self, const struct pp_thread_state *life)
{
	const struct pp_path_thread *thread = pp_path_sums_thread(self->sums, life->thread);
	struct covered of = {.lifetime_ns = pp_thread_lifetime_ns(life)};

	if (!thread)
		return of;
	of.wait_ns = thread->wait_ns;
	of.call_ns = thread->call_ns;
	of.cpu_ns = thread->cpu_ns - thread->in_waits_ns;
	of.is_sampled = thread->sampled;
	if (!life->scheduled)
		return of;
	of.unsampled_ns = thread->elsewhere_ns[PP_MODE_RUNNING] - of.cpu_ns;
	of.runnable_ns = thread->elsewhere_ns[PP_MODE_RUNNABLE];
	of.blocked_ns = thread->elsewhere_ns[PP_MODE_BLOCKED_SYNC] +
			thread->elsewhere_ns[PP_MODE_BLOCKED_IO] +
			thread->elsewhere_ns[PP_MODE_BLOCKED_OTHER];
	return of;
}

static void add_thread(const struct calltree *self, struct pp_table *table,
		       const struct pp_thread_state *life, const struct covered *of)
{
	struct pp_cell *row = pp_named_thread_row(table, life->thread);

	pp_cell_set_time(&row[LIFETIME], of->lifetime_ns);
	pp_cell_set_time(&row[IN_WAITS], of->wait_ns);
	pp_cell_set_time(&row[IN_CALLS], of->call_ns);
	if (pp_path_sums_has_samples(self->sums))
		pp_cell_set_time(&row[SAMPLED], of->cpu_ns);
	if (life->scheduled) {
		pp_cell_set_time(&row[RUNNING], of->unsampled_ns);
		pp_cell_set_time(&row[RUNNABLE], of->runnable_ns);
		pp_cell_set_time(&row[BLOCKED], of->blocked_ns);
	}
	pp_cell_set_time(&row[REST], unknown_of(of));
}

static void append_part(GString *text, int64_t ns, const char *what)
{
	g_autofree char *duration = pp_duration_text(ns);

	if (ns)
		g_string_append_printf(text, "%s%s %s", text->len ? ", " : "", duration, what);
}

static void note_covered(struct pp_table *table, const struct covered *sum)
{
	int64_t rest_ns = sum->lifetime_ns - sum->wait_ns - sum->call_ns - sum->cpu_ns;
	g_autofree char *lifetime = pp_duration_text(sum->lifetime_ns);
	g_autofree char *rest = pp_duration_text(rest_ns);
	g_autoptr(GString) parts = g_string_new(NULL);

	if (!sum->lifetime_ns)
		return;
	append_part(parts, sum->unsampled_ns, "on a CPU without a sample");
	append_part(parts, sum->runnable_ns, "ready without a CPU");
	append_part(parts, sum->blocked_ns, "blocked elsewhere");
	append_part(parts, unknown_of(sum), "in unknown states");
	pp_table_note(table, "the threads lived for %s together; no path covers %s of it%s%s",
		      lifetime, rest, parts->len ? ": " : "", parts->str);
}

/* With other selections, the time outside of the selected waits says nothing. */
static struct pp_table *make_threads(const struct calltree *self, struct pp_table *tree)
{
	const GPtrArray *threads = self->context->model->threads;
	struct pp_table *table = pp_table_new("calltree_threads", "Call tree: time of threads",
					      thread_columns, N_THREAD_COLUMNS);
	struct covered sum = {0};
	struct pp_unsampled unsampled = {0};

	table->is_for_programs = true;
	if (pp_selects_by(self->context,
			  PP_SELECT_OBJECT | PP_SELECT_FUNCTION | PP_SELECT_MIN_WAIT))
		return table;
	for (guint i = 0; i < threads->len; i++) {
		const struct pp_thread_state *life =
		    pp_thread_state(pp_path_sums_states(self->sums), threads->pdata[i]);
		struct covered of;

		if (!life || !life->begun || !pp_selects_thread(self->context, life->thread))
			continue;
		of = covered_of(self, life);
		if (!of.lifetime_ns)
			continue;
		add_thread(self, table, life, &of);
		if (!of.is_sampled && of.unsampled_ns > 0)
			pp_unsampled_add(&unsampled, life->thread->process, of.unsampled_ns);
		sum.lifetime_ns += of.lifetime_ns;
		sum.wait_ns += of.wait_ns;
		sum.call_ns += of.call_ns;
		sum.cpu_ns += of.cpu_ns;
		sum.unsampled_ns += of.unsampled_ns;
		sum.runnable_ns += of.runnable_ns;
		sum.blocked_ns += of.blocked_ns;
	}
	note_covered(tree, &sum);
	pp_unsampled_note(&unsampled, self->context->model, tree);
	return table;
}

/* -------------------------------------------------------------------------------------------- */

/* Time without a path: too short a wait for one, lost paths, samples without their stack. */
static void note_no_path(struct pp_table *table, const GPtrArray *uses)
{
	uint64_t n[2] = {0}, n_all[2] = {0};
	int64_t ns[2] = {0};
	g_autofree char *waited = NULL, *ran = NULL;

	for (guint i = 0; i < uses->len; i++) {
		const struct pp_path_use *use = uses->pdata[i];
		bool is_cpu = use->kind == PP_PATH_CPU;

		n_all[is_cpu] += use->n;
		n[is_cpu] += use->path ? 0 : use->n;
		ns[is_cpu] += use->path ? 0 : use->ns;
	}
	waited = pp_duration_text(ns[0]);
	ran = pp_duration_text(ns[1]);
	if (n[0] || ns[0])
		pp_table_note(
		    table,
		    "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
		    " waits and calls, %s together, have a call site only: they were shorter than "
		    "sync.paths, did not return, or their paths are lost",
		    n[0], n_all[0], waited);
	if (n[1])
		pp_table_note(table,
			      "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
			      " samples, %s together, have no call path",
			      n[1], n_all[1], ran);
}

static void add_notes(const struct calltree *self, struct pp_table *table, const GPtrArray *uses)
{
	note_no_path(table, uses);
	if (!uses->len)
		pp_table_note(table, "no wait, no blocking call and no sample was recorded%s",
			      self->context->selection ? " in the selection" : "");
	if (pp_selects_by(self->context, PP_SELECT_OBJECT))
		pp_table_note(table, "--object: CPU time and blocking calls belong to no object, "
				     "so they are left out");
	else if (!pp_path_sums_has_samples(self->sums))
		pp_table_note(table, "there are no samples: CPU time is unknown");
}

static void calltree_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct calltree *self = state;
	struct pp_table *rows, *text;
	const GPtrArray *uses;
	struct pp_tree *tree;

	pp_path_sums_finish(self->sums, end_ns);
	uses = pp_path_sums_uses(self->sums);
	tree = pp_tree_new(self->context, uses, self->bottom_up, self->context->group);
	rows = make_rows(self, tree);
	text = make_text(self, tree);
	add_notes(self, rows, uses);
	add_notes(self, text, uses);
	g_ptr_array_add(tables, rows);
	g_ptr_array_add(tables, text);
	g_ptr_array_add(tables, make_threads(self, text));
	pp_tree_free(tree);
}

static void calltree_free(void *state)
{
	struct calltree *self = state;

	pp_path_sums_free(self->sums);
	g_free(self);
}

const struct pp_pass pp_pass_calltree = {
    .name = "calltree",
    .summary = "time by call path",
    .kinds = PP_PATH_SUMS_KINDS,
    .selects = PP_SELECT_ALL,
    .has_operations = true,
    .start = calltree_start,
    .event = calltree_event,
    .finish = calltree_finish,
    .free = calltree_free,
};
