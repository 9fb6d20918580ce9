/* SPDX-License-Identifier: MIT */
/* Adds up the sums of all locks: by process, by lock, and by the names of pairs of sections. */
#include <string.h>

#include "analysis/state/object_name.h"
#include "analysis/state/select_object.h"
#include "pass/ulcp/ulcp.h"

/* The rows of pairs while they are made. */
struct making {
	const struct pp_ulcp_pass *pass;
	struct pp_ulcp_rows *rows;
	GHashTable *by_process; /* process -> struct pp_ulcp_row * */
	GHashTable *by_key;	/* text -> struct pp_ulcp_row * */
	GPtrArray *names;	/* of char *, by number of the code; NULL: none yet */
};

static void row_free(void *data)
{
	struct pp_ulcp_row *row = data;

	g_free(row->lock);
	g_free(row->first);
	g_free(row->second);
	g_free(row);
}

static struct pp_ulcp_row *row_new(GPtrArray *to, const struct pp_process *process)
{
	struct pp_ulcp_row *row = g_new0(struct pp_ulcp_row, 1);

	row->process = process;
	g_ptr_array_add(to, row);
	return row;
}

static void add_process(const struct making *making, const struct pp_object *object,
			const struct pp_ulcp_sums *sums)
{
	struct pp_ulcp_row *row = g_hash_table_lookup(making->by_process, object->process);

	if (!row) {
		row = row_new(making->rows->processes, object->process);
		g_hash_table_insert(making->by_process, (void *)object->process, row);
	}
	row->n_objects += pp_object_count(object);
	pp_ulcp_sums_add(&row->sums, sums);
}

static void add_lock(const struct making *making, const struct pp_object *object,
		     const struct pp_ulcp_sums *sums)
{
	struct pp_ulcp_row *row = row_new(making->rows->locks, object->process);

	row->object = object;
	row->n_objects = pp_object_count(object);
	pp_ulcp_sums_add(&row->sums, sums);
}

/* --- pairs ------------------------------------------------------------------------------------ */

static const char *name_of(const struct making *making, uint32_t number)
{
	const struct pp_ulcp_code *code = making->pass->codes->pdata[number];
	const struct pp_namer *namer = making->pass->context->namer;

	if (!making->names->pdata[number])
		making->names->pdata[number] =
		    code->site ? namer->site(namer->data, code->process, code->site)
			       : g_strdup("an unknown call");
	return making->names->pdata[number];
}

/* Pairs that were executed in both orders are decided. */
static struct pp_ulcp_figures decided(const struct making *making, const struct pp_ulcp_pair *pair)
{
	const struct pp_reversal *reversal =
	    pp_reversals_find(making->pass->context->model->reversals, name_of(making, pair->a),
			      name_of(making, pair->b));
	struct pp_ulcp_figures figures = pair->figures;
	uint64_t n = figures.undecided[PP_ULCP_UPDATE] + figures.undecided[PP_ULCP_FLAG];

	if (!reversal)
		return figures;
	figures.pairs[reversal->is_benign ? PP_ULCP_BENIGN : PP_ULCP_TRUE] += n;
	figures.pairs[PP_ULCP_UNDECIDED] -= n;
	figures.undecided[PP_ULCP_UPDATE] = figures.undecided[PP_ULCP_FLAG] = 0;
	making->rows->n_decided += n;
	return figures;
}

static struct pp_ulcp_row *pair_row(const struct making *making, const struct pp_process *process,
				    const struct pp_ulcp_pair *pair)
{
	const char *a = name_of(making, pair->a), *b = name_of(making, pair->b);
	bool in_order = strcmp(a, b) <= 0;
	const char *first = in_order ? a : b, *second = in_order ? b : a;
	g_autofree char *key = g_strdup_printf("%p\n%s\n%s", (const void *)process, first, second);
	struct pp_ulcp_row *row = g_hash_table_lookup(making->by_key, key);

	if (row)
		return row;
	row = row_new(making->rows->pairs, process);
	row->first = g_strdup(first);
	row->second = g_strdup(second);
	g_hash_table_insert(making->by_key, g_steal_pointer(&key), row);
	return row;
}

/* Returns the sum of all of them. */
static struct pp_ulcp_figures add_pairs(const struct making *making, const struct pp_object *object,
					const struct pp_ulcp_sums *sums)
{
	struct pp_ulcp_figures all = {{0}, {0}};

	for (guint i = 0; sums->pairs && i < sums->pairs->len; i++) {
		const struct pp_ulcp_pair *pair =
		    &g_array_index(sums->pairs, struct pp_ulcp_pair, i);
		struct pp_ulcp_row *row = pair_row(making, object->process, pair);
		struct pp_ulcp_figures figures = decided(making, pair);
		uint64_t n = pp_ulcp_figures_n(&figures);

		pp_ulcp_figures_add(&row->sums.figures, &figures);
		pp_ulcp_figures_add(&all, &figures);
		if (row->last_object != object)
			row->n_objects += pp_object_count(object);
		row->last_object = object;
		if (row->object && n <= row->n_of_object)
			continue;
		row->object = object;
		row->n_of_object = n;
	}
	return all;
}

/* --- all -------------------------------------------------------------------------------------- */

static gint compare_rows(gconstpointer a, gconstpointer b)
{
	const struct pp_ulcp_row *x = *(struct pp_ulcp_row *const *)a;
	const struct pp_ulcp_row *y = *(struct pp_ulcp_row *const *)b;
	uint64_t n_x = pp_ulcp_figures_n_unnecessary(&x->sums.figures);
	uint64_t n_y = pp_ulcp_figures_n_unnecessary(&y->sums.figures);

	if (n_x == n_y) {
		n_x = pp_ulcp_figures_n(&x->sums.figures);
		n_y = pp_ulcp_figures_n(&y->sums.figures);
	}
	if (n_x != n_y)
		return n_x > n_y ? -1 : 1;
	if (x->first)
		return strcmp(x->first, y->first) ?: strcmp(x->second, y->second);
	return x->object
		   ? pp_object_compare(x->object, 0, y->object, 0)
		   : (x->process->pid > y->process->pid) - (x->process->pid < y->process->pid);
}

static void fill_rows(const struct making *making)
{
	const GPtrArray *objects = pp_access_sections_objects(making->pass->sections)->all;

	for (guint i = 0; i < objects->len; i++) {
		const struct pp_object *object = objects->pdata[i];
		const struct pp_ulcp_lock_data *lock = object ? object->data : NULL;
		const struct pp_ulcp_sums *sums =
		    lock ? pp_ulcp_counts_of(making->pass->counts, lock->number) : NULL;
		struct pp_ulcp_sums sums_decided;

		if (!sums || !sums->n_sections || !pp_selects_object(making->pass->context, object))
			continue;
		sums_decided = *sums;
		sums_decided.figures = add_pairs(making, object, sums);
		add_process(making, object, &sums_decided);
		add_lock(making, object, &sums_decided);
	}
}

struct pp_ulcp_rows pp_ulcp_rows_make(const struct pp_ulcp_pass *self)
{
	struct pp_ulcp_rows rows = {g_ptr_array_new_with_free_func(row_free),
				    g_ptr_array_new_with_free_func(row_free),
				    g_ptr_array_new_with_free_func(row_free), 0};
	g_autoptr(GHashTable) by_process = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GPtrArray) names = g_ptr_array_new_full(self->codes->len, g_free);
	const struct making making = {self, &rows, by_process, by_key, names};

	g_ptr_array_set_size(names, (gint)self->codes->len);
	fill_rows(&making);
	g_ptr_array_sort(rows.processes, compare_rows);
	g_ptr_array_sort(rows.locks, compare_rows);
	g_ptr_array_sort(rows.pairs, compare_rows);
	for (guint i = 0; i < rows.pairs->len; i++) {
		struct pp_ulcp_row *row = rows.pairs->pdata[i];

		row->lock = pp_object_group(row->object, self->context->namer);
	}
	return rows;
}

void pp_ulcp_rows_done(struct pp_ulcp_rows *rows)
{
	g_ptr_array_unref(rows->processes);
	g_ptr_array_unref(rows->locks);
	g_ptr_array_unref(rows->pairs);
}
