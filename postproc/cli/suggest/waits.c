/* SPDX-License-Identifier: MIT */
/* From the tables of the passes, so that the figures are those of `report locks` and `graph`. */
#include "cli/suggest/waits.h"

#include <stdlib.h>
#include <string.h>

static const char *const passes[] = {"locks", "lock-order"};

/* NULL: the cell is missing. */
static const char *text_at(const struct pp_table *table, guint row, const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	return cell ? cell->text : NULL;
}

/* --- waits ------------------------------------------------------------------------------------ */

static bool is_lock(const char *type)
{
	static const char *const types[] = {"mutex", "rwlock", "spin", NULL};

	return type && g_strv_contains(types, type);
}

static void add_waits(struct pp_suggest_waits *waits, const struct pp_table *locks)
{
	for (guint i = 0; i < locks->rows->len; i++) {
		const struct pp_cell *wait = pp_table_cell(locks, i, "wait_ns");
		const char *name = text_at(locks, i, "name");
		int64_t *sum;

		if (!wait || !name || !is_lock(text_at(locks, i, "type")))
			continue;
		sum = g_hash_table_lookup(waits->by_lock, name);
		if (!sum) {
			sum = g_new0(int64_t, 1);
			g_hash_table_insert(waits->by_lock, g_strdup(name), sum);
		}
		*sum += wait->time_ns;
		waits->all_ns += wait->time_ns;
	}
}

int64_t pp_suggest_waits_for(const struct pp_suggest_waits *waits, const char *lock)
{
	const int64_t *sum = g_hash_table_lookup(waits->by_lock, lock);

	return sum ? *sum : 0;
}

/* --- cycles ----------------------------------------------------------------------------------- */

static void cycle_free(void *data)
{
	struct pp_suggest_cycle *cycle = data;

	g_free(cycle->locks);
	g_free(cycle->verdict);
	g_free(cycle->steps);
	g_free(cycle);
}

/* The name of the object with that number in the graph. */
static const char *name_of(const struct pp_table *nodes, uint64_t id)
{
	for (guint i = 0; i < nodes->rows->len; i++)
		if (pp_table_cell(nodes, i, "id")->count == id)
			return text_at(nodes, i, "name");
	return "?";
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static char *locks_of(const struct pp_table *objects, const struct pp_table *nodes)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (guint i = 0; i < objects->rows->len; i++)
		g_ptr_array_add(names,
				(void *)name_of(nodes, pp_table_cell(objects, i, "id")->count));
	if (names->len)
		qsort(names->pdata, names->len, sizeof(*names->pdata), by_name);
	g_ptr_array_add(names, NULL);
	return g_strjoinv(", ", (char **)names->pdata);
}

/* NULL: the pass found no single cycle. */
static char *steps_of(const struct pp_table *steps, const struct pp_table *nodes)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < steps->rows->len; i++)
		g_string_append_printf(text, "%s%s is held since %s, %s wanted at %s",
				       i ? "; " : "",
				       name_of(nodes, pp_table_cell(steps, i, "from")->count),
				       text_at(steps, i, "held_site") ?: "an unknown call site",
				       name_of(nodes, pp_table_cell(steps, i, "to")->count),
				       text_at(steps, i, "site") ?: "an unknown call site");
	return g_string_free(text, steps->rows->len == 0);
}

static void add_cycles(struct pp_suggest_waits *waits, const struct pp_table *cycles,
		       const struct pp_table *nodes)
{
	for (guint i = 0; i < cycles->rows->len; i++) {
		struct pp_suggest_cycle *cycle = g_new0(struct pp_suggest_cycle, 1);

		cycle->locks = locks_of(pp_table_cell(cycles, i, "objects")->table, nodes);
		cycle->verdict = g_strdup(text_at(cycles, i, "verdict"));
		cycle->steps = steps_of(pp_table_cell(cycles, i, "steps")->table, nodes);
		g_ptr_array_add(waits->cycles, cycle);
	}
}

/* ---------------------------------------------------------------------------------------------- */

int pp_suggest_waits_read(struct pp_suggest_waits *waits, struct pp_view *view,
			  struct pp_error *err)
{
	int rc = pp_view_run(view, passes, G_N_ELEMENTS(passes), err);

	*waits = (struct pp_suggest_waits){
	    .by_lock = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
	    .cycles = g_ptr_array_new_with_free_func(cycle_free),
	};
	if (rc == 0) {
		add_waits(waits, pp_pass_set_table(view->passes, "locks", "locks"));
		add_cycles(waits, pp_pass_set_table(view->passes, "lock-order", "cycles"),
			   pp_pass_set_table(view->passes, "lock-order", "nodes"));
	}
	return rc;
}

void pp_suggest_waits_done(struct pp_suggest_waits *waits)
{
	g_clear_pointer(&waits->by_lock, g_hash_table_unref);
	g_clear_pointer(&waits->cycles, g_ptr_array_unref);
}
