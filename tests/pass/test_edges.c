/* SPDX-License-Identifier: MIT */
/*
 * Compares the edges of the pass `sydg`, for random programs, with
 * - the graph made step by step (dependence_simulation.h), and
 * - if no wait times out, with the algorithm of paper 000, Figure 5: an edge is opened and closed
 *   when a lock is acquired and obtained.  Beyond the paper, a nested edge has the time for which
 *   both threads waited, should the outer one have begun later.
 *
 * Each program is read twice: as critical sections, and with each instance as a node, unless there
 * are too many.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "dependence_simulation.h"
#include "event_text.h"
#include "analysis/pass_set.h"
#include "analysis/select.h"

#define N_RUNS 1000

static const char *const kinds[] = {
    [DIRECT] = "direct", [INDIRECT] = "indirect", [NESTED] = "nested"};

/* --- Figure 5 ------------------------------------------------------------------------------- */

/* The time from from_ns to to_ns, in which `to` waited for `from`.  to_ns < 0: not closed. */
struct part {
	int from, to;
	enum edge_kind kind;
	int64_t from_ns, to_ns;
};

struct figure {
	const struct simulation *sim;
	GArray *parts; /* of struct part */
	bool is_active[N_NODES], is_waiting[N_NODES];
	int holder[N_LOCKS], wants[N_NODES]; /* wants: a lock */
};

static void open_part(struct figure *figure, int from, int to, enum edge_kind kind, int64_t now_ns)
{
	const struct part part = {from, to, kind, now_ns, -1};

	g_array_append_val(figure->parts, part);
}

static struct part *part_at(const struct figure *figure, guint i)
{
	return &g_array_index(figure->parts, struct part, i);
}

static struct part *open_part_of(const struct figure *figure, int to)
{
	for (guint i = 0; i < figure->parts->len; i++)
		if (part_at(figure, i)->to == to && part_at(figure, i)->to_ns < 0)
			return part_at(figure, i);
	return NULL;
}

static gint by_time(gconstpointer a, gconstpointer b)
{
	const struct part *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* `waiter` waited for an outer section of the thread, which meanwhile waited, too. */
static void nest(struct figure *figure, int waiter, const struct part *part)
{
	struct part *outer = open_part_of(figure, waiter), closed;

	if (!outer || part->to_ns <= outer->from_ns)
		return;
	closed = *outer;
	closed.to_ns = MAX(part->from_ns, outer->from_ns);
	outer->from_ns = part->to_ns;
	g_array_append_val(figure->parts, closed);
	closed = (struct part){part->from, waiter, NESTED, closed.to_ns, part->to_ns};
	g_array_append_val(figure->parts, closed);
}

/* The outer sections' waiters in fact waited for those for which d waited. */
static void nest_all(struct figure *figure, int d)
{
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct part));

	for (guint i = 0; i < figure->parts->len; i++)
		if (part_at(figure, i)->to == d)
			g_array_append_val(parts, *part_at(figure, i));
	g_array_sort(parts, by_time);
	for (int o = 0; o < figure->sim->n_nodes; o++) {
		if (!figure->is_active[o] || o == d ||
		    figure->sim->nodes[o].thread != figure->sim->nodes[d].thread)
			continue;
		for (int w = 0; w < figure->sim->n_nodes; w++)
			for (guint i = 0; i < parts->len; i++)
				if (figure->is_waiting[w] && figure->holder[figure->wants[w]] == o)
					nest(figure, w, &g_array_index(parts, struct part, i));
	}
	g_array_unref(parts);
}

static void obtains(struct figure *figure, int d, int lock, int64_t now_ns)
{
	struct part *part = open_part_of(figure, d);

	if (part)
		part->to_ns = now_ns;
	figure->is_waiting[d] = false;
	for (int w = 0; w < figure->sim->n_nodes; w++) {
		if (!figure->is_waiting[w] || figure->wants[w] != lock)
			continue;
		part = open_part_of(figure, w);
		if (part)
			part->to_ns = now_ns;
		open_part(figure, d, w, INDIRECT, now_ns);
	}
	nest_all(figure, d);
	figure->is_active[d] = true;
	figure->holder[lock] = d;
}

static GArray *figure_5(const struct simulation *sim)
{
	struct figure *figure = g_new0(struct figure, 1);
	GArray *edges = g_array_new(FALSE, FALSE, sizeof(struct edge));

	figure->sim = sim;
	figure->parts = g_array_new(FALSE, FALSE, sizeof(struct part));
	for (guint i = 0; i < sim->actions->len; i++) {
		const struct action *action = &g_array_index(sim->actions, struct action, i);
		int d = action->node;

		switch (action->what) {
		case ACQUIRES:
			figure->is_waiting[d] = true;
			figure->wants[d] = action->lock;
			open_part(figure, figure->holder[action->lock], d, DIRECT, action->at_ns);
			break;
		case OBTAINS:
			obtains(figure, d, action->lock, action->at_ns);
			break;
		case RELEASES:
			figure->is_active[d] = false;
			break;
		}
	}
	for (guint i = 0; i < figure->parts->len; i++) {
		const struct part *part = part_at(figure, i);
		const struct edge edge = {part->from, part->to, part->kind,
					  part->to_ns - part->from_ns};

		g_array_append_val(edges, edge);
	}
	g_array_unref(figure->parts);
	g_free(figure);
	return edges;
}

/* --- sums of edges -------------------------------------------------------------------------- */

static char *node_text(const struct simulation *sim, int n, bool by_instance)
{
	const struct node *node = n == NONE ? NULL : &sim->nodes[n];

	if (!node)
		return g_strdup("?");
	if (by_instance && node->lock == NONE)
		return g_strdup_printf("0x%x - thread %d", node->entry, node->thread + 1);
	if (by_instance)
		return g_strdup_printf("0x%x 0x%x thread %d at %" PRId64, node->entry, node->exit,
				       node->thread + 1, node->since_ns);
	return node->lock == NONE ? g_strdup_printf("0x%x -", node->entry)
				  : g_strdup_printf("0x%x 0x%x", node->entry, node->exit);
}

static void add_sum(GHashTable *sums, char *key, int64_t ns)
{
	int64_t *sum = g_hash_table_lookup(sums, key);

	if (sum) {
		*sum += ns;
		g_free(key);
	} else {
		g_hash_table_insert(sums, key, g_memdup2(&ns, sizeof(ns)));
	}
}

static GHashTable *sums_new(void)
{
	return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static GHashTable *expected_sums(const struct simulation *sim, const GArray *edges,
				 bool by_instance)
{
	GHashTable *sums = sums_new();

	for (guint i = 0; i < edges->len; i++) {
		const struct edge *edge = &g_array_index(edges, struct edge, i);
		g_autofree char *from = node_text(sim, edge->from, by_instance);
		g_autofree char *to = node_text(sim, edge->to, by_instance);

		if (edge->cost_ns)
			add_sum(sums, g_strdup_printf("%s -> %s %s", from, to, kinds[edge->kind]),
				edge->cost_ns);
	}
	return sums;
}

/* --- the pass ------------------------------------------------------------------------------- */

static char *name_address(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("0x%" PRIx64, address);
}

static const struct pp_namer namer = {.site = name_address, .function = name_address};

static const char *text_of(const struct pp_table *table, guint row, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell && !cell->missing ? cell->text : "-";
}

static char *shown_node(const struct pp_table *nodes, uint64_t id)
{
	for (guint i = 0; i < nodes->rows->len; i++) {
		const struct pp_cell *tid = pp_table_cell(nodes, i, "tid");
		const struct pp_cell *since = pp_table_cell(nodes, i, "since_ns");
		g_autofree char *at = NULL;

		if (pp_table_cell(nodes, i, "id")->count != id)
			continue;
		if (id == 0)
			return g_strdup("?");
		if (since && !since->missing)
			at = g_strdup_printf(" at %" PRId64, since->time_ns);
		return tid && !tid->missing
			   ? g_strdup_printf("%s %s thread %" PRIu64 "%s",
					     text_of(nodes, i, "entry"), text_of(nodes, i, "exit"),
					     tid->count, at ? at : "")
			   : g_strdup_printf("%s %s", text_of(nodes, i, "entry"),
					     text_of(nodes, i, "exit"));
	}
	return g_strdup("no node");
}

static GHashTable *shown_sums(const struct pp_table *nodes, const struct pp_table *edges)
{
	GHashTable *sums = sums_new();

	for (guint i = 0; i < edges->rows->len; i++) {
		g_autofree char *from = shown_node(nodes, pp_table_cell(edges, i, "from")->count);
		g_autofree char *to = shown_node(nodes, pp_table_cell(edges, i, "to")->count);

		add_sum(sums, g_strdup_printf("%s -> %s %s", from, to, text_of(edges, i, "kind")),
			pp_table_cell(edges, i, "wait_ns")->time_ns);
	}
	return sums;
}

static unsigned compare(const char *what, unsigned run, GHashTable *want, GHashTable *got)
{
	unsigned n_wrong = 0;
	GHashTableIter iter;
	void *key, *ns;

	g_hash_table_iter_init(&iter, want);
	while (g_hash_table_iter_next(&iter, &key, &ns)) {
		const int64_t *other = g_hash_table_lookup(got, key);

		if (other && *other == *(int64_t *)ns)
			continue;
		printf("run %u, %s: %s: expected %" PRId64 ", got %" PRId64 "\n", run, what,
		       (char *)key, *(int64_t *)ns, other ? *other : 0);
		n_wrong++;
	}
	if (g_hash_table_size(want) != g_hash_table_size(got)) {
		printf("run %u, %s: expected %u edges, got %u\n", run, what,
		       g_hash_table_size(want), g_hash_table_size(got));
		n_wrong++;
	}
	return n_wrong;
}

/* APWT is the sum of the edges. */
static unsigned compare_nodes(const struct pp_table *nodes, const struct pp_table *edges,
			      unsigned run)
{
	unsigned n_wrong = 0;

	for (guint i = 0; i < nodes->rows->len; i++) {
		const struct pp_cell *apwt = pp_table_cell(nodes, i, "apwt_ns");
		int64_t ns = 0;

		for (guint j = 0; j < edges->rows->len; j++)
			if (pp_table_cell(edges, j, "from")->count ==
			    pp_table_cell(nodes, i, "id")->count)
				ns += pp_table_cell(edges, j, "wait_ns")->time_ns;
		if (apwt->missing || apwt->time_ns == ns)
			continue;
		printf("run %u: %s: APWT %" PRId64 ", edges %" PRId64 "\n", run,
		       text_of(nodes, i, "name"), apwt->time_ns, ns);
		n_wrong++;
	}
	return n_wrong;
}

static unsigned check_pass(const struct simulation *sim, const struct pp_text *text, unsigned run,
			   bool by_instance)
{
	static const char *const names[] = {"sydg"};
	struct pp_selection *selection = pp_selection_new();
	struct pp_pass_context context = {
	    .model = text->model, .namer = &namer, .selection = by_instance ? selection : NULL};
	g_autoptr(GHashTable) want = NULL, got = NULL;
	const struct pp_table *const *tables;
	struct pp_pass_set *passes;
	unsigned n, n_wrong;

	pp_select_time(selection, "0ns~1s");
	selection->model = text->model;
	passes = pp_pass_set_new(&context, names, 1);
	for (guint i = 0; i < text->events->len; i++)
		pp_pass_set_event(passes, &g_array_index(text->events, struct pp_event, i));
	pp_pass_set_finish(passes, text->model->end_ns);
	tables = (const void *)pp_pass_set_tables(passes, "sydg", &n);
	by_instance = by_instance && !tables[1]->notes->len;
	want = expected_sums(sim, sim->edges, by_instance);
	got = shown_sums(tables[0], tables[1]);
	n_wrong = compare(by_instance ? "instances" : "sections", run, want, got);
	n_wrong += compare_nodes(tables[0], tables[1], run);
	if (sim->n_steps && by_instance) {
		printf("run %u: expected too many instances\n", run);
		n_wrong++;
	}
	if (sim->no_timeouts) {
		g_autoptr(GArray) edges = figure_5(sim);
		g_autoptr(GHashTable) figure = expected_sums(sim, edges, by_instance);

		n_wrong += compare("Figure 5", run, figure, got);
	}
	pp_pass_set_free(passes);
	pp_selection_free(selection);
	return n_wrong;
}

static unsigned check(unsigned run)
{
	struct simulation *sim = g_new0(struct simulation, 1);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_text *text;
	unsigned n_wrong;

	sim->no_timeouts = run % 2;
	sim->n_steps = run % 25 == 3 ? MAX_STEPS : 0;
	simulate(sim, run);
	if (pp_text_read(sim->events->str, "events", 1, &text, &err) != 0) {
		g_autofree char *what = pp_error_text(&err);

		printf("%s\n", what);
		return 1;
	}
	n_wrong = check_pass(sim, text, run, false) + check_pass(sim, text, run, true);
	if (n_wrong)
		printf("%s", sim->events->str);
	pp_text_free(text);
	simulation_done(sim);
	g_free(sim);
	return n_wrong;
}

/* --- a long chain ----------------------------------------------------------------------------- */

#define N_CHAIN 4000
/* Sanitizers make frames several times larger. */
#ifdef __SANITIZE_ADDRESS__
#define STACK_BYTES (512 << 10)
#else
#define STACK_BYTES (96 << 10)
#endif

/* Each thread holds a lock and waits for that of the next one, which the last one releases. */
static GString *chain_events(void)
{
	GString *events = g_string_new("source none\n");

	for (unsigned i = 0; i < N_CHAIN; i++)
		g_string_append_printf(events, "thread %u start=0 end=99999\n", i + 1);
	for (unsigned i = 0; i < N_CHAIN; i++)
		g_string_append_printf(events, "%u mutex_lock tid=%u object=0x%x site=0x400\n",
				       i + 1, i + 1, 0x1000 + 64 * i);
	for (unsigned i = N_CHAIN - 1; i-- > 0;)
		g_string_append_printf(
		    events, "%u mutex_lock_begin tid=%u object=0x%x site=0x404 holder=%u\n",
		    2 * N_CHAIN - i, i + 1, 0x1000 + 64 * (i + 1), i + 2);
	g_string_append_printf(events, "%u mutex_unlock tid=%u object=0x%x site=0x410\n",
			       3 * N_CHAIN, N_CHAIN, 0x1000 + 64 * (N_CHAIN - 1));
	return events;
}

/* Returns the number of rows; NULL: the events cannot be read. */
static void *read_chain(void *events)
{
	static const char *const names[] = {"sydg"};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_text *text;
	struct pp_pass_set *passes;
	struct pp_table **tables;
	guint n_rows;
	unsigned n;

	if (pp_text_read(((GString *)events)->str, "chain", 1, &text, &err) != 0) {
		pp_error_done(&err);
		return NULL;
	}
	passes = pp_pass_set_new(&(struct pp_pass_context){.model = text->model, .namer = &namer},
				 names, 1);
	for (guint i = 0; i < text->events->len; i++)
		pp_pass_set_event(passes, &g_array_index(text->events, struct pp_event, i));
	pp_pass_set_finish(passes, text->model->end_ns);
	tables = pp_pass_set_tables(passes, "sydg", &n);
	n_rows = tables[1]->rows->len;
	pp_pass_set_free(passes);
	pp_text_free(text);
	return GUINT_TO_POINTER(n_rows);
}

/* On a small stack: the length of a chain is the program's to choose. */
static int check_chain(void)
{
	g_autoptr(GString) events = chain_events();
	pthread_attr_t attributes;
	pthread_t thread;
	void *n_rows = NULL;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	if (pthread_create(&thread, &attributes, read_chain, events) ||
	    pthread_join(thread, &n_rows))
		return -1;
	pthread_attr_destroy(&attributes);
	return n_rows ? 0 : -1;
}

int main(void)
{
	if (check_chain()) {
		printf("expected edges in a chain of %d threads, found none\n", N_CHAIN);
		return 1;
	}
	for (unsigned run = 0; run < N_RUNS; run++)
		if (check(run))
			return 1;
	printf("%d runs: the edges are those of the graph\n", N_RUNS);
	return 0;
}
