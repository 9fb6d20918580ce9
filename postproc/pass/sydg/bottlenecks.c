/* SPDX-License-Identifier: MIT */
/*
 * The critical sections that hold the program back, and their locks (paper 000, section 3.2.3;
 * analysis/dependence/dependence.h).
 *
 * A row is a critical section: the call sites that enter and leave it, and the call path of the
 * first.  If the path of some of its instances was not recorded, it is one row for all paths.
 *
 * The option "metric" chooses by what sections are ranked, "clock" how waits are measured.
 */
#include "analysis/state/object_row.h"
#include "analysis/state/select_object.h"
#include "analysis/thread_cells.h"
#include "pass/sydg/costs.h"
#include "pass/sydg/rows.h"
#include "pass/sydg/runs.h"

/* Text shows only the first rows, since there may be thousands. */
#define TEXT_ROWS 30

enum {
	LOCK,
	TYPE,
	LOCKS,
	ENTRY,
	EXIT,
	SHARE,
	APWT,
	CPWT,
	MEAN,
	APLT,
	APWT_RUNNING,
	CPWT_RUNNING,
	INSTANCES,
	HOLD,
	PATHS,
	ALL_PATHS,
	PATH,
	N_COLUMNS
};

static const struct pp_column columns[N_COLUMNS] = {
    [LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY,
	      "the object for which most of the waits were, as it is called in every run"},
    [TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED, PP_SYNC_TYPES},
    [LOCKS] = {"locks", "locks", PP_TYPE_COUNT, PP_COLUMN_MORE | PP_COLUMN_NO_SUM,
	       "the number of objects for which there were waits"},
    [ENTRY] = {"entry", "entered at", PP_TYPE_TEXT, PP_COLUMN_KEY,
	       "the call site that obtained the lock; for a barrier, that of the arrival"},
    [EXIT] = {"exit", "left at", PP_TYPE_TEXT, PP_COLUMN_KEY, "the call site that released it"},
    [SHARE] = {"share_pct", "share", PP_TYPE_PERCENT, PP_COLUMN_SHARE | PP_COLUMN_STAYS,
	       "APWT as a share of all threads' lifetimes, or of all conditionals"},
    [APWT] = {"apwt_ns", "APWT", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
	      "all-path wait time: for which others waited for the section"},
    [CPWT] = {"cpwt_ns", "CPWT", PP_TYPE_TIME_NS, 0,
	      "critical-path wait time: the part in components of the graph that end in the "
	      "thread that finishes last"},
    [MEAN] = {"mean_ns", "mean", PP_TYPE_TIME_NS, PP_COLUMN_DETAIL, "the mean of these two"},
    [APLT] = {"aplt_ns", "APLT", PP_TYPE_TIME_NS, PP_COLUMN_MORE | PP_COLUMN_NO_SUM,
	      "all-path lock time: the same as APWT for all sections of the lock"},
    [APWT_RUNNING] = {"apwt_running_ns", "APWT running", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,
		      "the part of APWT in which the thread in the section was on a CPU"},
    [CPWT_RUNNING] = {"cpwt_running_ns", "CPWT running", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,
		      "the same part of CPWT"},
    [INSTANCES] = {"instances", "instances", PP_TYPE_COUNT, 0, "times it was executed"},
    [HOLD] = {"hold_ns", "hold", PP_TYPE_TIME_NS, 0, "time in the section"},
    [PATHS] = {"paths", "paths", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_NO_SUM,
	       "different call paths to the entry that were recorded"},
    [ALL_PATHS] = {"all_paths", "all paths", PP_TYPE_BOOL, PP_COLUMN_JSON_ONLY,
		   "a row for all paths, since not all were recorded"},
    [PATH] = {"path", "called by", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_PATH,
	      "the functions of the path to the entry, innermost first; of several, the one with "
	      "the longest waits"},
};

enum {
	OBJECT_SHARE = PP_OBJECT_CELLS,
	OBJECT_APLT,
	OBJECT_RUNNING,
	NOBODY,
	UNENDED,
	N_OBJECT_COLUMNS
};

static const struct pp_column object_columns[N_OBJECT_COLUMNS] = {
    PP_OBJECT_COLUMNS,
    [OBJECT_SHARE] = {"share_pct", "share", PP_TYPE_PERCENT, PP_COLUMN_SHARE | PP_COLUMN_STAYS,
		      "APLT as a share of all threads' lifetimes, or of all conditionals"},
    [OBJECT_APLT] = {"aplt_ns", "APLT", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
		     "all-path lock time: for which threads waited for sections of this object"},
    [OBJECT_RUNNING] = {"aplt_running_ns", "APLT running", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,
			"the part in which the thread in the section was on a CPU"},
    [NOBODY] = {"nobody_ns", "nobody", PP_TYPE_TIME_NS, PP_COLUMN_MORE,
		"waits for no section that is known"},
    [UNENDED] = {"unended_ns", "not ended", PP_TYPE_TIME_NS, PP_COLUMN_JSON_ONLY,
		 "the part of both that was charged to waits whose end was not recorded"},
};

struct pass {
	const struct pp_pass_context *context;
	struct pp_dependence *dependence;
	enum pp_bottleneck_metric metric;
	enum pp_dependence_clock clock;
	bool is_counted; /* by that clock, costs are numbers, */
	bool has_costs;	 /* ... and are known */
};

/* The same by --clock conditionals. */
static struct pp_column counted_columns[N_COLUMNS], counted_object_columns[N_OBJECT_COLUMNS];

static const char *option(const struct pp_pass_context *context, const char *name)
{
	return context->options ? g_hash_table_lookup(context->options, name) : NULL;
}

static enum pp_bottleneck_metric metric_of(const struct pp_pass_context *context)
{
	const char *name = option(context, "metric");

	for (unsigned i = 0; i < PP_N_BOTTLENECK_METRICS; i++)
		if (g_strcmp0(name, pp_bottleneck_metrics[i]) == 0)
			return i;
	return PP_BY_APWT;
}

/* --- rows ----------------------------------------------------------------------------------- */

static int64_t metric_ns(const struct pass *pass, const struct pp_sydg_row *row)
{
	int64_t all_ns = row->all_paths.ns[pass->clock];
	int64_t critical_ns = row->critical_path.ns[pass->clock];

	switch (pass->metric) {
	case PP_BY_CPWT:
		return critical_ns;
	case PP_BY_APLT:
		return row->aplt_ns;
	case PP_BY_MEAN:
		return (all_ns + critical_ns) / 2;
	default:
		return all_ns;
	}
}

static gint by_metric(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct pp_sydg_row *x = *(struct pp_sydg_row *const *)a,
				 *y = *(struct pp_sydg_row *const *)b;
	int64_t x_ns = metric_ns(data, x), y_ns = metric_ns(data, y);

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return pp_sydg_row_compare(x, y);
}

static double share_pct(int64_t ns, int64_t all_ns)
{
	return 100.0 * (double)ns / (double)MAX(all_ns, 1);
}

static void put_row(struct pp_table *table, const struct pass *pass, const struct pp_sydg_row *row,
		    int64_t all_ns)
{
	struct pp_cell *cells = pp_table_add_row(table);
	g_autofree char *name = pp_object_group(row->object, pass->context->namer);
	int64_t apwt_ns = row->all_paths.ns[pass->clock];
	int64_t cpwt_ns = row->critical_path.ns[pass->clock];

	pp_cell_set_text(&cells[LOCK], name);
	pp_cell_set_text(&cells[TYPE], pp_sync_type_name(row->object->type));
	pp_cell_set_count(&cells[LOCKS], row->n_objects);
	pp_cell_set_text(&cells[ENTRY], row->entry);
	pp_cell_set_text(&cells[EXIT], row->exit);
	if (pass->has_costs) {
		pp_cell_set_number(&cells[SHARE], share_pct(apwt_ns, all_ns));
		pp_cost_set(&cells[APWT], pass->is_counted, apwt_ns);
		pp_cost_set(&cells[CPWT], pass->is_counted, cpwt_ns);
		pp_cost_set(&cells[MEAN], pass->is_counted, (apwt_ns + cpwt_ns) / 2);
		pp_cost_set(&cells[APLT], pass->is_counted, row->aplt_ns);
	}
	if (pass->context->has_kernel) {
		pp_cell_set_time(&cells[APWT_RUNNING], row->all_paths.ns[PP_DEPENDENCE_RUNNING]);
		pp_cell_set_time(&cells[CPWT_RUNNING],
				 row->critical_path.ns[PP_DEPENDENCE_RUNNING]);
	}
	pp_cell_set_count(&cells[INSTANCES], row->n);
	pp_cell_set_time(&cells[HOLD], row->hold_ns);
	pp_cell_set_count(&cells[PATHS], row->n_paths);
	pp_cell_set_bool(&cells[ALL_PATHS], row->has_pathless);
	pp_cell_set_text(&cells[PATH], row->path);
}

static struct pp_table *sections_table(const struct pass *pass, const struct pp_sydg_rows *rows,
				       int64_t all_ns)
{
	struct pp_table *table =
	    pp_table_new("bottlenecks", "Critical sections",
			 pass->is_counted ? counted_columns : columns, N_COLUMNS);
	g_autoptr(GPtrArray) all = pp_sydg_rows_all(rows);

	g_ptr_array_sort_with_data(all, by_metric, (void *)pass);
	for (guint i = 0; i < all->len; i++)
		put_row(table, pass, all->pdata[i], all_ns);
	table->text_rows = TEXT_ROWS;
	return table;
}

/* --- objects -------------------------------------------------------------------------------- */

struct lock {
	const struct pp_object *object;
	struct pp_dependence_cost cost;
	int64_t nobody_ns, unended_ns;
};

/* All parts of an object come one after the other. */
static void take_lock(void *data, const struct pp_object *object, const struct pp_section *section,
		      const struct pp_dependence_cost *cost, int64_t unended_ns)
{
	GArray *locks = data;
	struct lock *lock;

	if (!locks->len || g_array_index(locks, struct lock, locks->len - 1).object != object) {
		const struct lock new = {.object = object};

		g_array_append_val(locks, new);
	}
	lock = &g_array_index(locks, struct lock, locks->len - 1);
	if (section)
		pp_dependence_cost_add(&lock->cost, cost);
	else
		lock->nobody_ns += cost->ns[PP_DEPENDENCE_WALL];
	lock->unended_ns += unended_ns;
}

static gint by_aplt(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct lock *x = a, *y = b;
	const struct pass *pass = data;
	int64_t x_ns = x->cost.ns[pass->clock], y_ns = y->cost.ns[pass->clock];

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	if (x->nobody_ns != y->nobody_ns)
		return x->nobody_ns > y->nobody_ns ? -1 : 1;
	return x->object->order < y->object->order ? -1 : x->object->order > y->object->order;
}

static struct pp_table *objects_table(const struct pass *pass, int64_t all_ns)
{
	struct pp_table *table = pp_table_new(
	    "bottleneck_locks", "Locks of critical sections",
	    pass->is_counted ? counted_object_columns : object_columns, N_OBJECT_COLUMNS);
	g_autoptr(GArray) locks = g_array_new(FALSE, TRUE, sizeof(struct lock));

	pp_dependence_walk(pass->dependence, take_lock, locks);
	g_array_sort_with_data(locks, by_aplt, (void *)pass);
	for (guint i = 0; i < locks->len; i++) {
		const struct lock *lock = &g_array_index(locks, struct lock, i);
		struct pp_cell *cells;

		if ((!lock->cost.ns[PP_DEPENDENCE_WALL] && !lock->nobody_ns && !lock->unended_ns) ||
		    !pp_selects_object(pass->context, lock->object))
			continue;
		cells = pp_table_add_row(table);
		pp_object_row(cells, lock->object, pass->context->namer);
		if (pass->has_costs) {
			pp_cell_set_number(&cells[OBJECT_SHARE],
					   share_pct(lock->cost.ns[pass->clock], all_ns));
			pp_cost_set(&cells[OBJECT_APLT], pass->is_counted,
				    lock->cost.ns[pass->clock]);
		}
		if (pass->context->has_kernel)
			pp_cell_set_time(&cells[OBJECT_RUNNING],
					 lock->cost.ns[PP_DEPENDENCE_RUNNING]);
		pp_cell_set_time(&cells[NOBODY], lock->nobody_ns);
		pp_cell_set_time(&cells[UNENDED], lock->unended_ns);
	}
	table->text_rows = TEXT_ROWS;
	return table;
}

/* -------------------------------------------------------------------------------------------- */

static enum pp_dependence_clock clock_of(const struct pp_pass_context *context)
{
	const char *name = option(context, "clock");

	if (g_strcmp0(name, "running") == 0)
		return PP_DEPENDENCE_RUNNING;
	return g_strcmp0(name, "conditionals") == 0 ? PP_DEPENDENCE_CONDITIONALS
						    : PP_DEPENDENCE_WALL;
}

static void *bottlenecks_start(const struct pp_pass_context *context)
{
	struct pass *self = g_new0(struct pass, 1);

	self->context = context;
	self->metric = metric_of(context);
	self->clock = clock_of(context);
	self->is_counted = self->clock == PP_DEPENDENCE_CONDITIONALS;
	pp_cost_counted(counted_columns, columns, N_COLUMNS);
	pp_cost_counted(counted_object_columns, object_columns, N_OBJECT_COLUMNS);
	self->dependence = pp_dependence_new(context);
	return self;
}

static void bottlenecks_event(void *state, const struct pp_event *event)
{
	struct pass *self = state;

	pp_dependence_event(self->dependence, event);
}

static void add_notes(const struct pass *pass, struct pp_table *table)
{
	const struct pp_thread *last = pp_dependence_last(pass->dependence);
	g_autofree char *name = last ? pp_thread_label(last) : NULL;

	if (last)
		pp_table_note(table,
			      "CPWT: waits that are connected to the last critical sections of %s, "
			      "which of the threads with such waits ended last",
			      name);
	if (pass->clock == PP_DEPENDENCE_RUNNING && !pass->context->has_kernel)
		pp_table_note(table, "the capture has no scheduling events, so it is not known "
				     "when threads were running");
	if (!pass->has_costs)
		pp_table_note(table, "%s", PP_NO_CONDITIONALS);
}

static void bottlenecks_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct pass *self = state;
	struct pp_sydg_rows *rows;
	struct pp_table *sections;
	int64_t all_ns, n_conditionals;

	pp_dependence_finish(self->dependence, end_ns);
	all_ns =
	    pp_thread_lifetimes_ns(pp_dependence_states(self->dependence), self->context->model);
	self->has_costs =
	    pp_dependence_conditionals(self->dependence, &n_conditionals) || !self->is_counted;
	if (self->is_counted)
		all_ns = n_conditionals;
	rows = pp_sydg_rows_new(self->context, self->dependence, self->clock);
	pp_sydg_rows_fill(rows, self->dependence);
	sections = sections_table(self, rows, all_ns);
	add_notes(self, sections);
	g_ptr_array_add(tables, sections);
	g_ptr_array_add(tables, objects_table(self, all_ns));
	pp_sydg_rows_free(rows);
}

static void bottlenecks_free(void *state)
{
	struct pass *self = state;

	pp_dependence_free(self->dependence);
	g_free(self);
}

const struct pp_pass pp_pass_bottlenecks = {
    .name = "bottlenecks",
    .summary = "critical sections",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_TIME | PP_SELECT_OBJECT,
    .has_operations = true,
    .start = bottlenecks_start,
    .event = bottlenecks_event,
    .finish = bottlenecks_finish,
    .free = bottlenecks_free,
};
