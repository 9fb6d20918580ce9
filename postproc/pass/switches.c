/* SPDX-License-Identifier: MIT */
/*
 * The inter-thread switch graph of the paper's Figure 7 (right): an edge A -> B for each time B ran
 * next after A on one CPU, with the places in A's code where that happened.
 *
 * Tasks of other programs, and the idle task, break the link; with the option "through-idle" they
 * are looked through.
 */
#include "pass/thread_state.h"

#include <string.h>

enum { NODE_PID, NODE_IMAGE, NODE_TID, NODE_INDEX, NODE_NAME, NODE_GROUP, N_NODE_COLUMNS };

static const struct pp_column node_columns[N_NODE_COLUMNS] = {
    [NODE_PID] = {"pid", "pid", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY, "process"},
    [NODE_IMAGE] = {"image", "image", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,
		    "which program of the process, one after each exec"},
    [NODE_TID] = {"tid", "tid", PP_TYPE_COUNT, 0, "thread id"},
    [NODE_INDEX] = {"index", "index", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,
		    "number of the thread in its process"},
    [NODE_NAME] = {"name", "name", PP_TYPE_TEXT, 0, "name of the thread"},
    [NODE_GROUP] = {"group", "group", PP_TYPE_TEXT, 0,
		    "what it has in common with its like: start routine, or stem of the name"},
};

/* The rest is seldom of interest, and there may be thousands. */
#define TEXT_ROWS 50

enum {
	EDGE_FROM,
	EDGE_FROM_PID,
	EDGE_FROM_IMAGE,
	EDGE_FROM_INDEX,
	EDGE_FROM_NAME,
	EDGE_TO,
	EDGE_TO_PID,
	EDGE_TO_IMAGE,
	EDGE_TO_INDEX,
	EDGE_TO_NAME,
	EDGE_COUNT,
	EDGE_MAIN_SITE,
	EDGE_SITES,
	N_EDGE_COLUMNS,
};

static const struct pp_column edge_columns[N_EDGE_COLUMNS] = {
    [EDGE_FROM] = {"from", "from", PP_TYPE_COUNT, 0, "tid of the thread that left the CPU"},
    [EDGE_FROM_PID] = {"from_pid", "pid", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY, "its process"},
    [EDGE_FROM_IMAGE] = {"from_image", "image", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,
			 "which program of it"},
    [EDGE_FROM_INDEX] = {"from_index", "index", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,
			 "its number there"},
    [EDGE_FROM_NAME] = {"from_name", "name", PP_TYPE_TEXT, PP_COLUMN_TEXT_ONLY, "its name"},
    [EDGE_TO] = {"to", "to", PP_TYPE_COUNT, 0, "tid of the thread that ran next there"},
    [EDGE_TO_PID] = {"to_pid", "pid", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY, "its process"},
    [EDGE_TO_IMAGE] = {"to_image", "image", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY,
		       "which program of it"},
    [EDGE_TO_INDEX] = {"to_index", "index", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY, "its number there"},
    [EDGE_TO_NAME] = {"to_name", "name", PP_TYPE_TEXT, PP_COLUMN_TEXT_ONLY, "its name"},
    [EDGE_COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "how often"},
    [EDGE_MAIN_SITE] = {"main_site", "mostly at", PP_TYPE_TEXT, PP_COLUMN_TEXT_ONLY,
			"the most frequent of the places"},
    [EDGE_SITES] = {"sites", "sites", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY,
		    "where in the code of the first thread"},
};

enum { SITE_SITE, SITE_FUNCTION, SITE_COUNT, N_SITE_COLUMNS };

static const struct pp_column site_columns[N_SITE_COLUMNS] = {
    [SITE_SITE] = {"site", "site", PP_TYPE_TEXT, 0,
		   "where the synchronization call stands; \"preempted\", \"exit\", \"other\""},
    [SITE_FUNCTION] = {"function", "function", PP_TYPE_TEXT, 0,
		       "what it calls; none where it was not in such a call"},
    [SITE_COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "how often"},
};

enum reason { IN_OPERATION, PREEMPTED, EXITED, OTHER };

/* Why and where a thread left its CPU. */
struct departure {
	const struct pp_thread *thread; /* NULL: none of ours was last */
	enum reason reason;
	enum st_event op;
	uint64_t site;
};

struct site {
	struct departure departure;
	uint64_t count;
};

struct edge {
	const struct pp_thread *from, *to;
	uint64_t count;
	GArray *sites; /* of struct site: few */
};

struct switches {
	const struct pp_pass_context *context;
	bool usable, through_idle;
	struct pp_thread_states *states;
	GHashTable *edges; /* from serial << 32 | to serial -> struct edge * */
	GArray *left;	   /* by CPU, of struct departure: the last of ours that ran there */
	uint64_t to_others, to_itself;
};

static void edge_free(void *data)
{
	struct edge *edge = data;

	g_array_unref(edge->sites);
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
	self->edges = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, edge_free);
	self->left = g_array_new(FALSE, TRUE, sizeof(struct departure));
	return self;
}

static struct departure departure_of(const struct switches *self, const struct pp_event *event)
{
	const struct pp_thread *thread = event->sched_switch.prev;
	const struct pp_operation *operation = pp_thread_operation(self->states, thread);
	struct departure departure = {.thread = thread, .reason = OTHER};

	if (operation) {
		departure.reason = IN_OPERATION;
		departure.op = operation->op;
		departure.site = operation->site;
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
		edge->sites = g_array_new(FALSE, FALSE, sizeof(struct site));
		g_hash_table_insert(self->edges, g_memdup2(&key, sizeof(key)), edge);
	}
	return edge;
}

static void count_edge(struct switches *self, const struct departure *departure,
		       const struct pp_thread *to)
{
	struct site new = {.departure = *departure, .count = 1};
	struct edge *edge;

	if (departure->thread == to) {
		self->to_itself++;
		return;
	}
	edge = edge_between(self, departure->thread, to);
	edge->count++;
	for (guint i = 0; i < edge->sites->len; i++) {
		struct site *site = &g_array_index(edge->sites, struct site, i);

		if (site->departure.reason == departure->reason &&
		    site->departure.op == departure->op &&
		    site->departure.site == departure->site) {
			site->count++;
			return;
		}
	}
	g_array_append_val(edge->sites, new);
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
			count_edge(self, &departure, next);
		else
			self->to_others++;
		if (left)
			*left = departure;
	} else if (next && left && left->thread && self->through_idle) {
		count_edge(self, left, next);
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
}

/* --- the tables ----------------------------------------------------------------------------- */

/* "client-12" -> "client"; a name of digits alone stays. */
static char *name_stem(const char *name)
{
	size_t len = strlen(name);

	while (len > 0 && g_ascii_isdigit(name[len - 1]))
		len--;
	while (len > 0 && strchr("-_.:/# ", name[len - 1]))
		len--;
	return len ? g_strndup(name, len) : g_strdup(name);
}

static char *group_of(const struct switches *self, const struct pp_thread *thread)
{
	const struct pp_namer *namer = self->context->namer;

	/* The namer takes return addresses, so one past the first of the function. */
	if (thread->start_routine && namer && namer->function)
		return namer->function(namer->data, thread->process, thread->start_routine + 1);
	return thread->name && thread->name[0] ? name_stem(thread->name) : NULL;
}

static struct pp_table *nodes_table(const struct switches *self)
{
	const GPtrArray *threads = self->context->model->threads;
	struct pp_table *table = pp_table_new("nodes", "Threads", node_columns, N_NODE_COLUMNS);

	for (guint i = 0; i < threads->len; i++) {
		const struct pp_thread *thread = threads->pdata[i];
		const struct pp_thread_state *life = pp_thread_state(self->states, thread);
		g_autofree char *group = group_of(self, thread);
		struct pp_cell *row;

		if (!life || !life->begun)
			continue;
		row = pp_table_add_row(table);
		pp_cell_set_count(&row[NODE_PID], thread->process->pid);
		pp_cell_set_count(&row[NODE_IMAGE], thread->process->image);
		pp_cell_set_count(&row[NODE_TID], thread->tid);
		pp_cell_set_count(&row[NODE_INDEX], thread->index);
		pp_cell_set_text(&row[NODE_NAME], thread->name);
		pp_cell_set_text(&row[NODE_GROUP], group);
	}
	return table;
}

static gint compare_sites(gconstpointer a, gconstpointer b)
{
	const struct site *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->departure.reason != y->departure.reason)
		return x->departure.reason < y->departure.reason ? -1 : 1;
	return x->departure.site < y->departure.site ? -1 : x->departure.site > y->departure.site;
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
	const struct pp_namer *namer = self->context->namer;

	if (departure->reason != IN_OPERATION)
		return g_strdup(reasons[departure->reason]);
	if (departure->site && namer && namer->site)
		return namer->site(namer->data, departure->thread->process, departure->site);
	return g_strdup(pp_sync_function(departure->op));
}

static struct pp_table *sites_table(const struct switches *self, const struct edge *edge)
{
	struct pp_table *table = pp_table_new("sites", "Sites", site_columns, N_SITE_COLUMNS);

	for (guint i = 0; i < edge->sites->len; i++) {
		const struct site *site = &g_array_index(edge->sites, struct site, i);
		g_autofree char *where = site_text(self, &site->departure);
		struct pp_cell *row = pp_table_add_row(table);

		pp_cell_set_text(&row[SITE_SITE], where);
		if (site->departure.reason == IN_OPERATION)
			pp_cell_set_text(&row[SITE_FUNCTION], pp_sync_function(site->departure.op));
		pp_cell_set_count(&row[SITE_COUNT], site->count);
	}
	return table;
}

static void add_edge(struct pp_table *table, const struct switches *self, const struct edge *edge)
{
	const struct pp_thread *from = edge->from, *to = edge->to;
	struct pp_cell *row = pp_table_add_row(table);
	g_autofree char *main_site = NULL;

	g_array_sort(edge->sites, compare_sites);
	main_site = site_text(self, &g_array_index(edge->sites, struct site, 0).departure);
	pp_cell_set_count(&row[EDGE_FROM], from->tid);
	pp_cell_set_count(&row[EDGE_FROM_PID], from->process->pid);
	pp_cell_set_count(&row[EDGE_FROM_IMAGE], from->process->image);
	pp_cell_set_count(&row[EDGE_FROM_INDEX], from->index);
	pp_cell_set_text(&row[EDGE_FROM_NAME], from->name);
	pp_cell_set_count(&row[EDGE_TO], to->tid);
	pp_cell_set_count(&row[EDGE_TO_PID], to->process->pid);
	pp_cell_set_count(&row[EDGE_TO_IMAGE], to->process->image);
	pp_cell_set_count(&row[EDGE_TO_INDEX], to->index);
	pp_cell_set_text(&row[EDGE_TO_NAME], to->name);
	pp_cell_set_count(&row[EDGE_COUNT], edge->count);
	pp_cell_set_text(&row[EDGE_MAIN_SITE], main_site);
	pp_cell_set_table(&row[EDGE_SITES], sites_table(self, edge));
}

static void add_notes(struct pp_table *table, const struct switches *self)
{
	if (!self->context->has_kernel) {
		pp_table_note(table, "no scheduling events in this capture: who ran after whom is "
				     "not known");
		return;
	}
	if (!self->context->has_switch_pairs) {
		pp_table_note(table, "the source of scheduling events does not say who ran next: "
				     "who ran after whom is not known");
		return;
	}
	if (self->through_idle)
		pp_table_note(table, "idle time and tasks of other programs in between are looked "
				     "through");
	else if (self->to_others)
		pp_table_note(table,
			      "%" G_GUINT64_FORMAT " times no thread of the program ran next "
			      "but another program's, or none",
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
		g_ptr_array_add(edges, edge);
	g_ptr_array_sort(edges, compare_edges);
	for (guint i = 0; i < edges->len; i++)
		add_edge(table, self, edges->pdata[i]);
	add_notes(table, self);
	g_ptr_array_add(tables, nodes_table(self));
	g_ptr_array_add(tables, table);
}

static void switches_free(void *state)
{
	struct switches *self = state;

	pp_thread_states_free(self->states);
	g_hash_table_unref(self->edges);
	g_array_unref(self->left);
	g_free(self);
}

const struct pp_pass pp_pass_switches = {
    .name = "switches",
    .kinds = PP_THREAD_STATE_KINDS,
    .start = switches_start,
    .event = switches_event,
    .finish = switches_finish,
    .free = switches_free,
};
