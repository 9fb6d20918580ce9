/* SPDX-License-Identifier: MIT */
/* Critical sections in words: parts of all locks that are entered at the same line are one row. */
#include "analysis/state/object_name.h"
#include "analysis/state/select_object.h"
#include "pass/accesses/accesses.h"

void pp_access_figures_add(struct pp_access_figures *to, const struct pp_access_figures *figures)
{
	to->n += figures->n;
	for (unsigned i = 0; i < PP_N_ACCESSES_KNOWN; i++)
		to->known[i] += figures->known[i];
	to->reads += figures->reads;
	to->writes += figures->writes;
	to->n_inexact += figures->n_inexact;
	to->n_unmapped += figures->n_unmapped;
	to->n_cut += figures->n_cut;
	to->left_out += figures->left_out;
}

static struct pp_access_row *row_at(struct pp_access_pass *self, const struct pp_access_part *part)
{
	const struct pp_namer *namer = self->context->namer;
	g_autofree char *entry =
	    part->site ? namer->site(namer->data, part->process, part->site) : NULL;
	g_autofree char *key =
	    g_strdup_printf("%p\n%s", (const void *)part->process, entry ? entry : "");
	struct pp_access_row *row = g_hash_table_lookup(self->rows, key);

	if (!row) {
		row = g_new0(struct pp_access_row, 1);
		row->process = part->process;
		row->entry = g_steal_pointer(&entry);
		g_hash_table_insert(self->rows, g_steal_pointer(&key), row);
	}
	return row;
}

static void add_part(struct pp_access_pass *self, const struct pp_object *object,
		     const struct pp_access_part *part)
{
	struct pp_access_row *row = row_at(self, part);

	g_hash_table_insert(self->row_of, (void *)part, row);
	pp_access_figures_add(&row->figures, &part->figures);
	pp_location_sums_add(&row->sums, &part->user->sums);
	row->n_objects += pp_object_count(object);
	if (row->object && part->figures.n <= row->n_of_object)
		return;
	row->object = object;
	row->n_of_object = part->figures.n;
}

void pp_access_rows_make(struct pp_access_pass *self)
{
	const GPtrArray *all = pp_access_sections_objects(self->sections)->all;
	GHashTableIter iter;
	void *value;

	for (guint i = 0; i < all->len; i++) {
		const struct pp_object *object = all->pdata[i];
		const struct pp_access_lock *lock = object ? object->data : NULL;

		if (!lock || !pp_selects_object(self->context, object))
			continue;
		for (guint k = 0; k < lock->parts->len; k++)
			add_part(self, object, lock->parts->pdata[k]);
	}
	g_hash_table_iter_init(&iter, self->rows);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct pp_access_row *row = value;

		row->lock = pp_object_group(row->object, self->context->namer);
	}
}

const struct pp_access_row *pp_access_row_of(const struct pp_access_pass *self,
					     struct pp_location_user *user)
{
	const struct pp_access_part *part = pp_location_user_of(user)->owner;

	return part ? g_hash_table_lookup(self->row_of, part) : NULL;
}

static gint by_accesses(gconstpointer a, gconstpointer b)
{
	const struct pp_access_row *x = *(struct pp_access_row *const *)a;
	const struct pp_access_row *y = *(struct pp_access_row *const *)b;
	uint64_t n_x = pp_access_count(&x->figures), n_y = pp_access_count(&y->figures);

	if (n_x != n_y)
		return n_x > n_y ? -1 : 1;
	if (x->figures.n != y->figures.n)
		return x->figures.n > y->figures.n ? -1 : 1;
	return g_strcmp0(x->entry, y->entry);
}

GPtrArray *pp_access_rows_all(const struct pp_access_pass *self)
{
	GPtrArray *all = g_ptr_array_new();
	GHashTableIter iter;
	void *row;

	g_hash_table_iter_init(&iter, self->rows);
	while (g_hash_table_iter_next(&iter, NULL, &row))
		g_ptr_array_add(all, row);
	g_ptr_array_sort(all, by_accesses);
	return all;
}
