/* SPDX-License-Identifier: MIT */
/*
 * Compares the pass `bottlenecks` with the graph itself, made the slow way
 * (dependence_simulation.h).  The costs by section, by lock, and in the components that end in the
 * last thread are those of the rows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dependence_simulation.h"
#include "event_text.h"
#include "analysis/pass_set.h"
#include "analysis/select.h"

#define N_RUNS 1000

/* --- expected rows -------------------------------------------------------------------------- */

struct sums {
	uint64_t n;
	int64_t hold_ns, all_ns, critical_ns;
	uint64_t counted; /* APWT by conditionals */
};

/* The thread of the component's last instance. */
static int last_of(const struct simulation *sim, int component)
{
	int last = NONE;

	for (int i = 0; i < sim->n_nodes; i++)
		if (sim->nodes[i].component == component && sim->nodes[i].end_ns >= 0 &&
		    (last == NONE || sim->nodes[i].end_ns > sim->nodes[last].end_ns))
			last = i;
	return last == NONE ? NONE : sim->nodes[last].thread;
}

/* Some components with costs end in this thread; it ends after all others like that. */
static int last_thread(const struct simulation *sim, unsigned run)
{
	int last = NONE, last_end = -1;

	for (int i = 0; i < sim->n_nodes; i++) {
		int t = sim->nodes[i].cost_ns ? last_of(sim, sim->nodes[i].component) : NONE;
		int end = t == NONE ? -1 : (t * 3 + (int)run) % N_THREADS;

		if (end > last_end) {
			last = t;
			last_end = end;
		}
	}
	return last;
}

static GHashTable *expected_rows(const struct simulation *sim, unsigned run)
{
	GHashTable *rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	int last = last_thread(sim, run);

	for (int i = 0; i < sim->n_nodes; i++) {
		const struct node *node = &sim->nodes[i];
		g_autofree char *key = g_strdup_printf("0x%x 0x%x", node->entry, node->exit);
		struct sums *row;

		if (node->end_ns < 0)
			continue;
		row = g_hash_table_lookup(rows, key);
		if (!row) {
			row = g_new0(struct sums, 1);
			g_hash_table_insert(rows, g_steal_pointer(&key), row);
		}
		row->n++;
		row->hold_ns += node->end_ns - node->since_ns;
		row->all_ns += node->cost_ns;
		row->counted += (uint64_t)(node->held_ns * count_rate(node->thread));
		if (node->cost_ns && last_of(sim, node->component) == last)
			row->critical_ns += node->cost_ns;
	}
	return rows;
}

/* --- the pass ------------------------------------------------------------------------------- */

static char *name_address(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("0x%" PRIx64, address);
}

static const struct pp_namer namer = {.site = name_address, .function = name_address};

static int64_t number(const struct pp_table *table, unsigned row, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell ? cell->time_ns : 0;
}

static unsigned compare_sections(const struct pp_table *table, GHashTable *expected, unsigned run)
{
	unsigned n_wrong = 0;

	for (guint i = 0; i < table->rows->len; i++) {
		g_autofree char *key =
		    g_strdup_printf("%s %s", pp_table_cell(table, i, "entry")->text,
				    pp_table_cell(table, i, "exit")->text);
		const struct sums *want = g_hash_table_lookup(expected, key);
		struct sums got = {pp_table_cell(table, i, "instances")->count,
				   number(table, i, "hold_ns"), number(table, i, "apwt_ns"),
				   number(table, i, "cpwt_ns"), want ? want->counted : 0};

		if (want && memcmp(want, &got, sizeof(got)) == 0)
			continue;
		printf("run %u: %s: %" PRIu64 " instances, hold %" PRId64 ", APWT %" PRId64
		       ", CPWT %" PRId64 "; expected %" PRIu64 ", %" PRId64 ", %" PRId64
		       ", %" PRId64 "\n",
		       run, key, got.n, got.hold_ns, got.all_ns, got.critical_ns,
		       want ? want->n : 0, want ? want->hold_ns : 0, want ? want->all_ns : 0,
		       want ? want->critical_ns : 0);
		n_wrong++;
	}
	if (table->rows->len != g_hash_table_size(expected)) {
		printf("run %u: %u rows, expected %u\n", run, table->rows->len,
		       g_hash_table_size(expected));
		n_wrong++;
	}
	return n_wrong;
}

static unsigned compare_counts(const struct pp_table *table, GHashTable *expected, unsigned run)
{
	unsigned n_wrong = 0;

	for (guint i = 0; i < table->rows->len; i++) {
		g_autofree char *key =
		    g_strdup_printf("%s %s", pp_table_cell(table, i, "entry")->text,
				    pp_table_cell(table, i, "exit")->text);
		const struct sums *want = g_hash_table_lookup(expected, key);
		uint64_t got = pp_table_cell(table, i, "apwt_conditionals")->count;

		if (want && want->counted == got)
			continue;
		printf("run %u: %s: %" PRIu64 " conditionals, expected %" PRIu64 "\n", run, key,
		       got, want ? want->counted : 0);
		n_wrong++;
	}
	return n_wrong;
}

static unsigned compare_locks(const struct pp_table *table, const struct simulation *sim,
			      unsigned run)
{
	int64_t want_ns[N_LOCKS] = {0}, nobody_ns[N_LOCKS];
	unsigned n_wrong = 0;

	memcpy(nobody_ns, sim->nobody_ns, sizeof(nobody_ns));
	for (int i = 0; i < sim->n_nodes; i++)
		if (sim->nodes[i].end_ns >= 0)
			want_ns[sim->nodes[i].lock] += sim->nodes[i].cost_ns;
	for (guint i = 0; i < table->rows->len; i++) {
		uint64_t at = pp_table_cell(table, i, "object")->count / 0x1000 - 1;

		want_ns[at] -= number(table, i, "aplt_ns");
		nobody_ns[at] -= number(table, i, "nobody_ns");
	}
	for (int i = 0; i < N_LOCKS; i++)
		if (want_ns[i] || nobody_ns[i]) {
			printf("run %u: lock %d: %" PRId64
			       " ns expected in addition, nobody %" PRId64 "\n",
			       run, i, want_ns[i], nobody_ns[i]);
			n_wrong++;
		}
	return n_wrong;
}

/* clock: NULL for wall time. */
static unsigned check_pass(const struct simulation *sim, const struct pp_text *text,
			   GHashTable *expected, unsigned run, const char *clock)
{
	static const char *const names[] = {"bottlenecks"};
	g_autoptr(GHashTable) options = g_hash_table_new(g_str_hash, g_str_equal);
	struct pp_pass_context context = {
	    .model = text->model, .namer = &namer, .options = options};
	struct pp_pass_set *passes;
	const struct pp_table *const *tables;
	unsigned n, n_wrong;

	if (clock)
		g_hash_table_insert(options, "clock", (void *)clock);
	passes = pp_pass_set_new(&context, names, 1);
	for (guint i = 0; i < text->events->len; i++)
		pp_pass_set_event(passes, &g_array_index(text->events, struct pp_event, i));
	pp_pass_set_finish(passes, text->model->end_ns);
	tables = (const void *)pp_pass_set_tables(passes, "bottlenecks", &n);
	if (clock)
		n_wrong = compare_counts(tables[0], expected, run);
	else
		n_wrong =
		    compare_sections(tables[0], expected, run) + compare_locks(tables[1], sim, run);
	pp_pass_set_free(passes);
	return n_wrong;
}

static unsigned check(unsigned run)
{
	struct simulation *sim = g_new0(struct simulation, 1);
	g_autoptr(GHashTable) expected = NULL;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_text *text;
	unsigned n_wrong;

	simulate(sim, run);
	expected = expected_rows(sim, run);
	if (pp_text_read(sim->events->str, "events", 1, &text, &err) != 0) {
		g_autofree char *what = pp_error_text(&err);

		printf("%s\n", what);
		return 1;
	}
	n_wrong = check_pass(sim, text, expected, run, NULL) +
		  check_pass(sim, text, expected, run, "conditionals");
	if (n_wrong)
		printf("%s", sim->events->str);
	pp_text_free(text);
	simulation_done(sim);
	g_free(sim);
	return n_wrong;
}

int main(void)
{
	for (unsigned run = 0; run < N_RUNS; run++)
		if (check(run))
			return 1;
	printf("%d runs: the costs are those of the graph\n", N_RUNS);
	return 0;
}
