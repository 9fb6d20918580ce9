/* SPDX-License-Identifier: MIT */
/* The tables of the lock-order graph: objects, edges, and notes about cycles. */
#include <inttypes.h>

#include "analysis/select.h"
#include "analysis/graph/components.h"
#include "pass/lock_order/lock_order.h"
#include "analysis/state/object_row.h"
#include "analysis/thread_cells.h"

/* Further cycles are in JSON only. */
#define MAX_CYCLE_NOTES 10u

enum { NODE_ID = PP_OBJECT_CELLS, N_NODE_COLUMNS };

static const struct pp_column node_columns[N_NODE_COLUMNS] = {
    PP_OBJECT_COLUMNS,
    [NODE_ID] = {"id", "id", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
		 "its number in this graph"},
};

enum {
	SITE_HELD_FUNCTION = PP_N_NAMED_THREAD_CELLS,
	SITE_HELD_SITE,
	SITE_FUNCTION,
	SITE_SITE,
	SITE_COUNT,
	N_SITE_COLUMNS,
};

#define SITE_COLUMNS                                                                               \
	PP_NAMED_THREAD_COLUMNS("name"),                                                           \
	    [SITE_HELD_FUNCTION] = {"held_function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY,      \
				    "operation that acquired the first object"},                   \
	    [SITE_HELD_SITE] = {"held_site", "site", PP_TYPE_TEXT, PP_COLUMN_KEY, "where"},        \
	    [SITE_FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY,                \
			       "operation that requested the second object"},                      \
	    [SITE_SITE] = {"site", "site", PP_TYPE_TEXT, PP_COLUMN_KEY, "where"},                  \
	    [SITE_COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "how often"}

static const struct pp_column site_columns[N_SITE_COLUMNS] = {SITE_COLUMNS};

enum { STEP_FROM = N_SITE_COLUMNS, STEP_TO, N_STEP_COLUMNS };

#define FROM                                                                                       \
	{                                                                                          \
		"from", "held", PP_TYPE_COUNT, PP_COLUMN_ID, "id of the object held"               \
	}
#define TO                                                                                         \
	{                                                                                          \
		"to", "wanted", PP_TYPE_COUNT, PP_COLUMN_ID,                                       \
		    "id of the object requested meanwhile"                                         \
	}

static const struct pp_column step_columns[N_STEP_COLUMNS] = {
    SITE_COLUMNS,
    [STEP_FROM] = FROM,
    [STEP_TO] = TO,
};

enum { EDGE_FROM, EDGE_TO, EDGE_COUNT, EDGE_CYCLE, EDGE_VERDICT, EDGE_SITES, N_EDGE_COLUMNS };

#define VERDICTS                                                                                   \
	"possible deadlock; not decided; or why it cannot deadlock: gate lock, readers only, "     \
	"threads never at the same time, too few threads, one thread"

static const struct pp_column edge_columns[N_EDGE_COLUMNS] = {
    [EDGE_FROM] = FROM,
    [EDGE_TO] = TO,
    [EDGE_COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "how often"},
    [EDGE_CYCLE] = {"cycle", "cycle", PP_TYPE_COUNT, PP_COLUMN_ID, "number of its cycle; none"},
    [EDGE_VERDICT] = {"verdict", "verdict", PP_TYPE_TEXT, 0, VERDICTS},
    [EDGE_SITES] = {"sites", "sites", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY, "threads and call sites",
		    site_columns, N_SITE_COLUMNS},
};

static const struct pp_column id_columns[] = {
    {"id", "id", PP_TYPE_COUNT, PP_COLUMN_ID, "of the object"},
};

enum { CYCLE_CYCLE, CYCLE_VERDICT, CYCLE_OBJECTS, CYCLE_GATE, CYCLE_STEPS, N_CYCLE_COLUMNS };

static const struct pp_column cycle_columns[N_CYCLE_COLUMNS] = {
    [CYCLE_CYCLE] = {"cycle", "cycle", PP_TYPE_COUNT, PP_COLUMN_ID, "1, 2, ..."},
    [CYCLE_VERDICT] = {"verdict", "verdict", PP_TYPE_TEXT, 0, VERDICTS},
    [CYCLE_OBJECTS] = {"objects", "objects", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY,
		       "all objects that lead to each other", id_columns, G_N_ELEMENTS(id_columns)},
    [CYCLE_GATE] = {"gate", "gate", PP_TYPE_COUNT, PP_COLUMN_ID,
		    "id of the lock that is held meanwhile"},
    [CYCLE_STEPS] = {"steps", "steps", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY,
		     "one cycle: each step holds the object that the previous one wants",
		     step_columns, N_STEP_COLUMNS},
};

static const char *const verdicts[] = {
    [PP_CYCLE_DEADLOCK] = "possible deadlock",
    [PP_CYCLE_UNDECIDED] = "not decided",
    [PP_CYCLE_TIMED] = "time limit",
    [PP_CYCLE_APART] = "threads never at the same time",
    [PP_CYCLE_GATED] = "gate lock",
    [PP_CYCLE_READERS] = "readers only",
    [PP_CYCLE_FEW] = "too few threads",
    [PP_CYCLE_ONE_THREAD] = "one thread",
};

/* The data that the tables are made from. */
struct rows {
	const struct pp_lock_order *order;
	GPtrArray *links; /* of const struct pp_link *: the selected ones, by from and to */
	GArray *numbers;  /* of uint32_t: of the objects that links refer to, ascending */
	struct pp_components components; /* of their positions in `numbers` */
	unsigned *verdict_of;		 /* by component - 1 */
	GPtrArray *cycle_notes;		 /* of char *; also shown with edges in a picture */
};

static struct pp_object *object_at(const struct rows *rows, uint32_t number)
{
	return pp_object_refs_at(&rows->order->refs, number);
}

static uint32_t number_at(const struct rows *rows, guint position)
{
	return g_array_index(rows->numbers, uint32_t, position);
}

/* The position of an object among those that links refer to. */
static guint position_of(const struct rows *rows, uint32_t number)
{
	guint from = 0, to = rows->numbers->len;

	while (to - from > 1) {
		guint middle = from + (to - from) / 2;

		if (number_at(rows, middle) <= number)
			from = middle;
		else
			to = middle;
	}
	return from;
}

static const struct pp_thread *thread_of(const struct rows *rows, const struct pp_link *link)
{
	return rows->order->context->model->threads->pdata[link->parts[PP_ORDER_PART_THREAD]];
}

static const struct pp_namer *namer_of(const struct rows *rows)
{
	return rows->order->context->namer;
}

/* The number of its cycle; 0: none. */
static uint32_t cycle_of(const struct rows *rows, const struct pp_link *link)
{
	uint32_t cycle = rows->components.of[position_of(rows, link->from)];

	return cycle == rows->components.of[position_of(rows, link->to)] ? cycle : 0;
}

/* --- nodes and edges ------------------------------------------------------------------------ */

static struct pp_table *nodes_table(const struct rows *rows)
{
	struct pp_table *table = pp_table_new("nodes", "Locks", node_columns, N_NODE_COLUMNS);
	g_autofree bool *is_used = g_new0(bool, rows->numbers->len + 1);

	for (guint i = 0; i < rows->links->len; i++) {
		const struct pp_link *link = rows->links->pdata[i];

		is_used[position_of(rows, link->from)] = is_used[position_of(rows, link->to)] =
		    true;
	}
	for (guint i = 0; i < rows->numbers->len; i++) {
		struct pp_cell *row;

		if (!is_used[i])
			continue;
		row = pp_table_add_row(table);
		pp_object_row(row, object_at(rows, number_at(rows, i)), namer_of(rows));
		pp_cell_set_count(&row[NODE_ID], number_at(rows, i));
	}
	return table;
}

static void set_site(struct pp_cell *function, struct pp_cell *where, const struct rows *rows,
		     uint32_t number)
{
	const struct pp_call_site *site = pp_call_sites_at(&rows->order->sites, number);
	g_autofree char *text = pp_call_site_text(site, namer_of(rows));

	pp_cell_set_text(function, pp_call_site_function(site));
	pp_cell_set_text(where, text);
}

static struct pp_cell *add_site(struct pp_table *table, const struct rows *rows,
				const struct pp_link *link)
{
	struct pp_cell *row = pp_named_thread_row(table, thread_of(rows, link));

	set_site(&row[SITE_HELD_FUNCTION], &row[SITE_HELD_SITE], rows,
		 link->parts[PP_ORDER_PART_HELD_SITE]);
	set_site(&row[SITE_FUNCTION], &row[SITE_SITE], rows, link->parts[PP_ORDER_PART_SITE]);
	pp_cell_set_count(&row[SITE_COUNT], link->count);
	return row;
}

static gint compare_sites(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;

	return (x[SITE_COUNT].count < y[SITE_COUNT].count) -
	       (x[SITE_COUNT].count > y[SITE_COUNT].count);
}

/* Possible deadlocks first, then other cycles. */
static gint compare_edges(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;
	const struct pp_cell *cells[] = {x, y};
	int rank[2];

	for (int i = 0; i < 2; i++)
		rank[i] =
		    cells[i][EDGE_VERDICT].missing ? 2
		    : g_str_equal(cells[i][EDGE_VERDICT].text, verdicts[PP_CYCLE_DEADLOCK]) ||
			    g_str_equal(cells[i][EDGE_VERDICT].text, verdicts[PP_CYCLE_UNDECIDED])
			? 0
			: 1;
	if (rank[0] != rank[1])
		return rank[0] - rank[1];
	return (x[EDGE_COUNT].count < y[EDGE_COUNT].count) -
	       (x[EDGE_COUNT].count > y[EDGE_COUNT].count);
}

static struct pp_cell *add_edge(struct pp_table *table, const struct rows *rows,
				const struct pp_link *link)
{
	struct pp_cell *row = pp_table_add_row(table);
	uint32_t cycle = cycle_of(rows, link);

	pp_cell_set_count(&row[EDGE_FROM], link->from);
	pp_cell_set_count(&row[EDGE_TO], link->to);
	pp_cell_set_count(&row[EDGE_COUNT], 0);
	if (cycle) {
		pp_cell_set_count(&row[EDGE_CYCLE], cycle);
		pp_cell_set_text(&row[EDGE_VERDICT], verdicts[rows->verdict_of[cycle - 1]]);
	}
	pp_cell_set_table(&row[EDGE_SITES], pp_table_new_nested(&edge_columns[EDGE_SITES]));
	return row;
}

static struct pp_table *edges_table(const struct rows *rows)
{
	struct pp_table *table = pp_table_new("edges", "Lock order", edge_columns, N_EDGE_COLUMNS);
	const struct pp_link *before = NULL;
	struct pp_cell *row = NULL;

	for (guint i = 0; i < rows->links->len; i++) {
		const struct pp_link *link = rows->links->pdata[i];

		if (!before || link->from != before->from || link->to != before->to)
			row = add_edge(table, rows, link);
		before = link;
		row[EDGE_COUNT].count += link->count;
		add_site(row[EDGE_SITES].table, rows, link);
	}
	for (guint i = 0; i < table->rows->len; i++) {
		row = table->rows->pdata[i];
		g_ptr_array_sort(row[EDGE_SITES].table->rows, compare_sites);
	}
	g_ptr_array_sort(table->rows, compare_edges);
	return table;
}

/* --- cycles --------------------------------------------------------------------------------- */

static char *object_text(const struct rows *rows, uint32_t number)
{
	return pp_object_name(object_at(rows, number), namer_of(rows));
}

/* "holds a since f (x.c:1) and wants b in g (x.c:2)". */
static void append_step(GString *text, const struct rows *rows, const struct pp_link *link)
{
	const struct pp_thread *thread = thread_of(rows, link);
	g_autofree char *from = object_text(rows, link->from);
	g_autofree char *to = object_text(rows, link->to);
	g_autofree char *held = pp_call_site_text(
	    pp_call_sites_at(&rows->order->sites, link->parts[PP_ORDER_PART_HELD_SITE]),
	    namer_of(rows));
	g_autofree char *wanted = pp_call_site_text(
	    pp_call_sites_at(&rows->order->sites, link->parts[PP_ORDER_PART_SITE]), namer_of(rows));

	g_string_append_printf(text, "%s (tid %" PRIu32 ") holds %s%s%s and wants %s%s%s",
			       pp_thread_name(thread) ? pp_thread_name(thread) : "", thread->tid,
			       from, held ? " since " : "", held ? held : "", to,
			       wanted ? " in " : "", wanted ? wanted : "");
}

static char *cycle_text(const struct rows *rows, const struct pp_cycle *cycle,
			const struct pp_table *objects)
{
	GString *text = g_string_new(NULL);
	g_autofree char *gate = cycle->gate == PP_LINK_NONE ? NULL : object_text(rows, cycle->gate);

	if (cycle->verdict == PP_CYCLE_DEADLOCK) {
		g_string_append(text, "possible deadlock: ");
		for (guint i = 0; i < cycle->steps->len; i++) {
			g_string_append(text, i ? "; " : "");
			append_step(text, rows, cycle->steps->pdata[i]);
		}
		return g_string_free(text, FALSE);
	}
	for (guint i = 0; i < objects->rows->len; i++) {
		const struct pp_cell *row = objects->rows->pdata[i];
		g_autofree char *name = object_text(rows, (uint32_t)row[0].count);

		g_string_append_printf(text, "%s%s", i ? ", " : "", name);
	}
	g_string_append(text, cycle->verdict == PP_CYCLE_UNDECIDED
				  ? ": a cycle, too large to decide whether it can deadlock"
				  : ": a cycle that cannot deadlock: ");
	if (gate)
		g_string_append_printf(text, "%s is held during both", gate);
	else if (cycle->verdict != PP_CYCLE_UNDECIDED)
		g_string_append(text, verdicts[cycle->verdict]);
	return g_string_free(text, FALSE);
}

static struct pp_table *steps_table(const struct rows *rows, const struct pp_cycle *cycle)
{
	struct pp_table *table = pp_table_new_nested(&cycle_columns[CYCLE_STEPS]);

	for (guint i = 0; i < cycle->steps->len; i++) {
		const struct pp_link *link = cycle->steps->pdata[i];
		struct pp_cell *row = add_site(table, rows, link);

		pp_cell_set_count(&row[STEP_FROM], link->from);
		pp_cell_set_count(&row[STEP_TO], link->to);
	}
	return table;
}

static struct pp_table *objects_table(const struct rows *rows, uint32_t number)
{
	struct pp_table *table = pp_table_new_nested(&cycle_columns[CYCLE_OBJECTS]);

	for (guint i = 0; i < rows->numbers->len; i++)
		if (rows->components.of[i] == number)
			pp_cell_set_count(pp_table_add_row(table), number_at(rows, i));
	return table;
}

static GPtrArray *links_within(const struct rows *rows, uint32_t number)
{
	GPtrArray *within = g_ptr_array_new();

	for (guint i = 0; i < rows->links->len; i++)
		if (cycle_of(rows, rows->links->pdata[i]) == number)
			g_ptr_array_add(within, rows->links->pdata[i]);
	return within;
}

static void add_cycle(struct pp_table *table, struct rows *rows, uint32_t number)
{
	g_autoptr(GPtrArray) links = links_within(rows, number);
	struct pp_cell *row = pp_table_add_row(table);
	struct pp_cycle cycle;

	pp_cycle_judge(&cycle, links, rows->order);
	rows->verdict_of[number - 1] = cycle.verdict;
	pp_cell_set_count(&row[CYCLE_CYCLE], number);
	pp_cell_set_text(&row[CYCLE_VERDICT], verdicts[cycle.verdict]);
	pp_cell_set_table(&row[CYCLE_OBJECTS], objects_table(rows, number));
	if (cycle.gate != PP_LINK_NONE)
		pp_cell_set_count(&row[CYCLE_GATE], cycle.gate);
	pp_cell_set_table(&row[CYCLE_STEPS], steps_table(rows, &cycle));
	if (number <= MAX_CYCLE_NOTES) {
		g_ptr_array_add(rows->cycle_notes,
				cycle_text(rows, &cycle, row[CYCLE_OBJECTS].table));
	} else if (number == rows->components.n) {
		g_ptr_array_add(rows->cycle_notes,
				g_strdup_printf("and %u more cycles: see --format json",
						number - MAX_CYCLE_NOTES));
	}
	pp_cycle_done(&cycle);
}

static void find_components(struct rows *rows)
{
	g_autoptr(GArray) arcs = g_array_new(FALSE, FALSE, sizeof(struct pp_component_arc));

	for (guint i = 0; i < rows->links->len; i++) {
		const struct pp_link *link = rows->links->pdata[i];
		struct pp_component_arc arc = {position_of(rows, link->from),
					       position_of(rows, link->to)};

		g_array_append_val(arcs, arc);
	}
	pp_components_find(&rows->components, rows->numbers->len, arcs);
	rows->verdict_of = g_new0(unsigned, rows->components.n + 1);
}

/* -------------------------------------------------------------------------------------------- */

static GPtrArray *shown_links(const struct pp_lock_order *self)
{
	GPtrArray *links = pp_links_sorted(&self->links);
	guint n = 0;

	for (guint i = 0; i < links->len; i++) {
		const struct pp_link *link = links->pdata[i];
		const struct pp_thread *thread =
		    self->context->model->threads->pdata[link->parts[PP_ORDER_PART_THREAD]];

		if (pp_selects_thread(self->context, thread))
			links->pdata[n++] = links->pdata[i];
	}
	g_ptr_array_set_size(links, (gint)n);
	return links;
}

static void add_notes(struct pp_table *table, const struct pp_lock_order *self)
{
	bool no_holds = false, only_waits = false;

	for (guint i = 0; i < self->context->model->processes->len; i++) {
		const struct pp_process *process = self->context->model->processes->pdata[i];

		no_holds |= process->no_holds;
		only_waits |= process->only_waits && !process->no_holds;
	}
	if (no_holds)
		pp_table_note(table, "recorded with sync.mode = contended, so holds are unknown");
	if (only_waits)
		pp_table_note(
		    table,
		    "only waits were recorded, at least in part: uncontended acquisitions are "
		    "missing, so there may be more pairs; --set sync.mode=all records them");
	pp_links_note(&self->links, table, "acquisitions");
	if (self->not_looked)
		pp_table_note(table,
			      "left out: %" G_GUINT64_FORMAT
			      " pairs with locks acquired earlier, by threads that held very many",
			      self->not_looked);
}

void pp_lock_order_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct pp_lock_order *self = state;
	struct pp_table *cycles = pp_table_new("cycles", "Cycles", cycle_columns, N_CYCLE_COLUMNS);
	struct pp_table *edges;
	struct rows rows = {
	    .order = self,
	    .cycle_notes = g_ptr_array_new_with_free_func(g_free),
	};

	pp_thread_states_finish(self->states, end_ns);
	pp_objects_finish(&self->objects, end_ns);
	rows.links = shown_links(self);
	rows.numbers = pp_object_refs_numbers(&self->refs);
	find_components(&rows);
	for (uint32_t i = 1; i <= rows.components.n; i++)
		add_cycle(cycles, &rows, i);
	g_ptr_array_add(tables, nodes_table(&rows));
	edges = edges_table(&rows);
	for (guint i = 0; i < rows.cycle_notes->len; i++)
		pp_table_note(edges, "%s", (const char *)rows.cycle_notes->pdata[i]);
	add_notes(edges, self);
	g_ptr_array_add(tables, edges);
	g_ptr_array_add(tables, cycles);
	pp_components_done(&rows.components);
	g_free(rows.verdict_of);
	g_ptr_array_unref(rows.links);
	g_array_unref(rows.numbers);
	g_ptr_array_unref(rows.cycle_notes);
}
