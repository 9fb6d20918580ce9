/* SPDX-License-Identifier: MIT */
/*
 * The inter-thread switch graph of the paper's Figure 7 (right): an edge A -> B for each time that
 * B ran directly after A on a CPU, with the call sites of A at these times.
 *
 * A thread outside of synchronization calls is shown after the last such call.
 *
 * Tasks of other programs, and the idle task, interrupt the sequence.  With the option
 * "through-idle" they are skipped.
 */
#include "analysis/graph/call_sites.h"
#include "analysis/site_set.h"
#include "analysis/graph/links.h"
#include "analysis/select.h"
#include "analysis/graph/thread_nodes.h"

/* Text shows only the first rows, since there may be thousands. */
#define TEXT_ROWS 50

enum { SITE_SITE, SITE_FUNCTION, SITE_AFTER_SITE, SITE_AFTER_FUNCTION, SITE_COUNT, N_SITE_COLUMNS };

static const struct pp_column site_columns[N_SITE_COLUMNS] = {
    [SITE_SITE] = {"site", "site", PP_TYPE_TEXT, PP_COLUMN_KEY,
		   "call site of the synchronization call; \"preempted\", \"exit\", \"other\""},
    [SITE_FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY,
		       "called function; none: outside of synchronization calls"},
    [SITE_AFTER_SITE] = {"after_site", "after", PP_TYPE_TEXT, PP_COLUMN_KEY,
			 "... call site of the last synchronization call"},
    [SITE_AFTER_FUNCTION] = {"after_function", "after function", PP_TYPE_TEXT, PP_COLUMN_KEY,
			     "... its called function; none: no such call"},
    [SITE_COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "how often"},
};

enum { EDGE_COUNT = PP_EDGE_CELLS, EDGE_MAIN_SITE, EDGE_SITES, N_EDGE_COLUMNS };

static const struct pp_column edge_columns[N_EDGE_COLUMNS] = {
    PP_EDGE_COLUMNS("tid of the thread that left the CPU", "tid of the thread that ran next there"),
    [EDGE_COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "how often"},
    [EDGE_MAIN_SITE] = {"main_site", "mostly at", PP_TYPE_TEXT,
			PP_COLUMN_TEXT_ONLY | PP_COLUMN_MORE, "the most frequent call sites"},
    [EDGE_SITES] = {"sites", "sites", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY,
		    "call sites of the first thread", site_columns, N_SITE_COLUMNS},
};

enum reason { IN_OPERATION, PREEMPTED, EXITED, OTHER };

/* The reason and the call site of a switch-out. */
struct departure {
	const struct pp_thread *thread; /* NULL: the last thread is outside the capture */
	enum reason reason;
	struct pp_call_site call; /* the current one, or the last one before */
};

struct site {
	struct pp_site_key key; /* of the departure; the detail is the reason */
	struct departure departure;
	uint64_t count;
};

struct edge {
	const struct pp_thread *from, *to;
	uint64_t count;
	struct pp_site_set sites; /* of struct site */
};

struct switches {
	const struct pp_pass_context *context;
	bool usable, through_idle;
	struct pp_thread_states *states;
	GHashTable *edges; /* from serial << 32 | to serial -> struct edge * */
	GArray *last;	   /* by thread serial, of struct pp_call_site: the last call */
	/* by CPU, of struct departure: the capture's last thread that ran there */
	GArray *left;
	uint64_t to_others, to_itself;
};

static void edge_free(void *data)
{
	struct edge *edge = data;

	pp_site_set_done(&edge->sites);
	g_free(edge);
}

static void *switches_start(const struct pp_pass_context *context)
{
	struct switches *self = g_new0(struct switches, 1);

	self->context = context;
	self->usable = context->has_kernel && context->has_switch_pairs;
	self->through_idle =
	    context->options && g_hash_table_contains(context->options, "through-idle");
	self->states = pp_thread_states_new(context, NULL, NULL);
	self->edges = g_hash_table_new_full(pp_pair_hash, g_int64_equal, g_free, edge_free);
	self->left = g_array_new(FALSE, TRUE, sizeof(struct departure));
	self->last = g_array_new(FALSE, TRUE, sizeof(struct pp_call_site));
	return self;
}

static struct pp_call_site *last_of(struct switches *self, const struct pp_thread *thread)
{
	struct pp_call_site *last;

	if (thread->serial >= self->last->len)
		g_array_set_size(self->last, thread->serial + 1);
	last = &g_array_index(self->last, struct pp_call_site, thread->serial);
	if (!last->process)
		*last = (struct pp_call_site){thread->process, 0, ST_N_EVENTS};
	return last;
}

static struct departure departure_of(struct switches *self, const struct pp_event *event)
{
	const struct pp_thread *thread = event->sched_switch.prev;
	const struct pp_operation *operation = pp_thread_operation(self->states, thread);
	struct departure departure = {
	    .thread = thread, .reason = OTHER, .call = *last_of(self, thread)};

	if (operation) {
		departure.reason = IN_OPERATION;
		departure.call =
		    (struct pp_call_site){thread->process, operation->site, operation->op};
	} else if (pp_state_preempted(event->sched_switch.prev_state)) {
		departure.reason = PREEMPTED;
	} else if (pp_state_dead(event->sched_switch.prev_state)) {
		departure.reason = EXITED;
	}
	return departure;
}

static struct edge *edge_between(struct switches *self, const struct pp_thread *from,
				 const struct pp_thread *to)
{
	gint64 key = (gint64)((uint64_t)from->serial << 32 | to->serial);
	struct edge *edge = g_hash_table_lookup(self->edges, &key);

	if (!edge) {
		edge = g_new0(struct edge, 1);
		edge->from = from;
		edge->to = to;
		g_hash_table_insert(self->edges, g_memdup2(&key, sizeof(key)), edge);
	}
	return edge;
}

static bool is_selected(const struct switches *self, const struct departure *departure,
			const struct pp_thread *to, int64_t time_ns)
{
	return pp_selects_time(self->context, time_ns) &&
	       (pp_selects_thread(self->context, departure->thread) ||
		(to && pp_selects_thread(self->context, to)));
}

static void count_edge(struct switches *self, const struct departure *departure,
		       const struct pp_thread *to, int64_t time_ns)
{
	const struct pp_site_key key = {
	    .address = departure->call.site,
	    .op = departure->call.op,
	    .detail = departure->reason,
	};
	struct edge *edge;
	struct site *site;

	if (!is_selected(self, departure, to, time_ns))
		return;
	if (departure->thread == to) {
		self->to_itself++;
		return;
	}
	edge = edge_between(self, departure->thread, to);
	edge->count++;
	site = pp_site_set_get(&edge->sites, sizeof(*site), &key);
	if (!site->count++)
		site->departure = *departure;
}

static struct departure *left_of(struct switches *self, int cpu)
{
	if (cpu < 0)
		return NULL;
	if ((guint)cpu >= self->left->len)
		g_array_set_size(self->left, (guint)cpu + 1);
	return &g_array_index(self->left, struct departure, cpu);
}

static void on_switch(struct switches *self, const struct pp_event *event)
{
	struct departure *left = left_of(self, event->cpu);
	const struct pp_thread *prev = event->sched_switch.prev;
	const struct pp_thread *next = event->sched_switch.next;

	if (prev) {
		struct departure departure = departure_of(self, event);

		if (next)
			count_edge(self, &departure, next, event->time_ns);
		else
			self->to_others += is_selected(self, &departure, NULL, event->time_ns);
		if (left)
			*left = departure;
	} else if (next && left && left->thread && self->through_idle) {
		count_edge(self, left, next, event->time_ns);
	}
	if (next && left)
		left->thread = NULL;
}

static void switches_event(void *state, const struct pp_event *event)
{
	struct switches *self = state;

	if (self->usable && event->kind == PP_EVENT_SWITCH)
		on_switch(self, event);
	if (event->kind == PP_EVENT_LOST && !event->thread)
		for (guint i = 0; i < self->left->len; i++)
			g_array_index(self->left, struct departure, i).thread = NULL;
	pp_thread_states_event(self->states, event);
	if (event->kind == PP_EVENT_SYNC && pp_sync_function(event->sync.op))
		*last_of(self, event->thread) = pp_call_site_of(event);
}

/* --- the tables ----------------------------------------------------------------------------- */

static gint compare_sites(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct site *x = a, *y = b;

	(void)data;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->departure.reason != y->departure.reason)
		return x->departure.reason < y->departure.reason ? -1 : 1;
	return x->departure.call.site < y->departure.call.site
		   ? -1
		   : x->departure.call.site > y->departure.call.site;
}

static gint compare_edges(gconstpointer a, gconstpointer b)
{
	const struct edge *x = *(const struct edge *const *)a;
	const struct edge *y = *(const struct edge *const *)b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->from != y->from)
		return x->from->serial < y->from->serial ? -1 : 1;
	return x->to->serial < y->to->serial ? -1 : 1;
}

static char *site_text(const struct switches *self, const struct departure *departure)
{
	static const char *const reasons[] = {
	    [PREEMPTED] = "preempted", [EXITED] = "exit", [OTHER] = "other"};
	char *where;

	if (departure->reason != IN_OPERATION)
		return g_strdup(reasons[departure->reason]);
	where = pp_call_site_text(&departure->call, self->context->namer);
	return where ? where : g_strdup(pp_call_site_function(&departure->call));
}

static void add_site(struct pp_table *table, const struct switches *self, const struct site *site)
{
	const struct pp_call_site *call = &site->departure.call;
	bool in_operation = site->departure.reason == IN_OPERATION;
	g_autofree char *where = site_text(self, &site->departure);
	g_autofree char *after = pp_call_site_text(call, self->context->namer);
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_text(&row[SITE_SITE], where);
	if (!in_operation)
		pp_cell_set_text(&row[SITE_AFTER_SITE], after);
	pp_cell_set_text(&row[in_operation ? SITE_FUNCTION : SITE_AFTER_FUNCTION],
			 pp_call_site_function(call));
	pp_cell_set_count(&row[SITE_COUNT], site->count);
}

static struct pp_table *sites_table(const struct switches *self, const struct edge *edge)
{
	struct pp_table *table = pp_table_new_nested(&edge_columns[EDGE_SITES]);

	for (unsigned i = 0; i < edge->sites.n; i++)
		add_site(table, self, PP_SITE_SET_AT(&edge->sites, struct site, i));
	return table;
}

static void add_edge(struct pp_table *table, const struct switches *self, const struct edge *edge)
{
	struct pp_cell *row = pp_table_add_row(table);
	g_autofree char *main_site = NULL;

	g_qsort_with_data(edge->sites.items, (gint)edge->sites.n, sizeof(struct site),
			  compare_sites, NULL);
	main_site = site_text(self, &PP_SITE_SET_AT(&edge->sites, struct site, 0)->departure);
	pp_edge_threads(row, edge->from, edge->to);
	pp_cell_set_count(&row[EDGE_COUNT], edge->count);
	pp_cell_set_text(&row[EDGE_MAIN_SITE], main_site);
	pp_cell_set_table(&row[EDGE_SITES], sites_table(self, edge));
}

static void add_notes(struct pp_table *table, const struct switches *self)
{
	if (!self->context->has_kernel) {
		pp_table_note(table,
			      "no scheduling events in this capture: context switches are unknown");
		return;
	}
	if (!self->context->has_switch_pairs) {
		pp_table_note(
		    table, "the source of scheduling events does not record which thread ran next");
		return;
	}
	if (self->through_idle)
		pp_table_note(table,
			      "idle time and tasks of other programs in between are skipped");
	else if (self->to_others)
		pp_table_note(
		    table,
		    "%" G_GUINT64_FORMAT
		    " times no thread of the program ran next, but another program's or none",
		    self->to_others);
	if (self->to_itself)
		pp_table_note(table,
			      "%" G_GUINT64_FORMAT " times the same thread ran next: left out",
			      self->to_itself);
}

static void switches_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct switches *self = state;
	struct pp_table *table = pp_table_new("edges", "Switches", edge_columns, N_EDGE_COLUMNS);
	g_autoptr(GPtrArray) edges = g_ptr_array_new();
	GHashTableIter iter;
	void *edge;

	table->text_rows = TEXT_ROWS;
	pp_thread_states_finish(self->states, end_ns);
	g_hash_table_iter_init(&iter, self->edges);
	while (g_hash_table_iter_next(&iter, NULL, &edge))
		if (pp_edge_is_shown(self->context, ((struct edge *)edge)->from,
				     ((struct edge *)edge)->to))
			g_ptr_array_add(edges, edge);
	g_ptr_array_sort(edges, compare_edges);
	for (guint i = 0; i < edges->len; i++)
		add_edge(table, self, edges->pdata[i]);
	add_notes(table, self);
	g_ptr_array_add(tables, pp_thread_nodes(self->context, self->states, table));
	g_ptr_array_add(tables, table);
}

static void switches_free(void *state)
{
	struct switches *self = state;

	pp_thread_states_free(self->states);
	g_hash_table_unref(self->edges);
	g_array_unref(self->left);
	g_array_unref(self->last);
	g_free(self);
}

const struct pp_pass pp_pass_switches = {
    .name = "switches",
    .summary = "context switches",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_THREAD | PP_SELECT_TIME,
    .start = switches_start,
    .event = switches_event,
    .finish = switches_finish,
    .free = switches_free,
};
