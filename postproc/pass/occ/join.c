/* SPDX-License-Identifier: MIT */
/* See join.h.  Rows with a place in common are one section, and so are those joined by others. */
#include "pass/occ/join.h"

#include <errno.h>
#include <string.h>

#include "pass/occ/sections.h"

/* --- sets of rows --------------------------------------------------------------------------- */

struct rows {
	unsigned n_timing, n;
	unsigned *parent; /* of the rows of both tables, one after the other */
	GHashTable *by_key;
};

static unsigned find(const struct rows *rows, unsigned row)
{
	while (rows->parent[row] != row)
		row = rows->parent[row] = rows->parent[rows->parent[row]];
	return row;
}

static const struct pp_table *places_of(const struct pp_table *table, guint row)
{
	const struct pp_cell *cells = table->rows->pdata[row];

	return cells[PP_OCC_PLACES].missing ? NULL : cells[PP_OCC_PLACES].table;
}

static const char *text_of(const struct pp_table *table, guint row, unsigned column)
{
	const struct pp_cell *cells = table->rows->pdata[row];

	return cells[column].missing ? NULL : cells[column].text;
}

static void add_rows(struct rows *rows, const struct pp_table *table, unsigned first, bool by_name)
{
	for (guint i = 0; i < table->rows->len; i++) {
		const struct pp_table *places = places_of(table, i);

		for (guint k = 0; places && k < places->rows->len; k++) {
			const char *key =
			    text_of(places, k, by_name ? PP_OCC_PLACE_NAME : PP_OCC_PLACE);
			unsigned known;

			if (!key)
				continue;
			known = GPOINTER_TO_UINT(g_hash_table_lookup(rows->by_key, key));
			if (known)
				rows->parent[find(rows, first + i)] = find(rows, known - 1);
			else
				g_hash_table_insert(rows->by_key, (void *)key,
						    GUINT_TO_POINTER(first + i + 1));
		}
	}
}

/* --- sections ------------------------------------------------------------------------------- */

static void joined_free(void *data)
{
	struct pp_occ_joined *joined = data;

	g_array_unref(joined->timing);
	g_array_unref(joined->accesses);
	g_free(joined);
}

static struct pp_occ_joined *joined_new(void)
{
	struct pp_occ_joined *joined = g_new0(struct pp_occ_joined, 1);

	joined->timing = g_array_new(FALSE, FALSE, sizeof(guint));
	joined->accesses = g_array_new(FALSE, FALSE, sizeof(guint));
	return joined;
}

static GPtrArray *collect(const struct rows *rows)
{
	GPtrArray *all = g_ptr_array_new_with_free_func(joined_free);
	g_autofree struct pp_occ_joined **of = g_new0(struct pp_occ_joined *, rows->n + 1);

	for (unsigned i = 0; i < rows->n; i++) {
		struct pp_occ_joined **joined = &of[find(rows, i)];
		guint row = i < rows->n_timing ? i : i - rows->n_timing;

		if (!*joined) {
			*joined = joined_new();
			g_ptr_array_add(all, *joined);
		}
		g_array_append_val(i < rows->n_timing ? (*joined)->timing : (*joined)->accesses,
				   row);
	}
	return all;
}

GPtrArray *pp_occ_join(const struct pp_occ_join *join)
{
	g_autoptr(GHashTable) by_key = g_hash_table_new(g_str_hash, g_str_equal);
	struct rows rows = {.n_timing = join->timing->rows->len,
			    .n = join->timing->rows->len + join->accesses->rows->len,
			    .by_key = by_key};
	GPtrArray *all;

	rows.parent = g_new(unsigned, rows.n + 1);
	for (unsigned i = 0; i < rows.n; i++)
		rows.parent[i] = i;
	add_rows(&rows, join->timing, 0, join->by_name);
	add_rows(&rows, join->accesses, rows.n_timing, join->by_name);
	all = collect(&rows);
	g_free(rows.parent);
	return all;
}

/* --- builds --------------------------------------------------------------------------------- */

/* module -> build-id, of all places of the table. */
static GHashTable *builds_of(const struct pp_table *table)
{
	GHashTable *builds = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

	for (guint i = 0; i < table->rows->len; i++) {
		const struct pp_table *places = places_of(table, i);

		for (guint k = 0; places && k < places->rows->len; k++) {
			const char *place = text_of(places, k, PP_OCC_PLACE);
			const char *build_id = text_of(places, k, PP_OCC_BUILD_ID);
			const char *offset = place ? strrchr(place, '+') : NULL;

			if (offset && build_id)
				g_hash_table_insert(builds,
						    g_strndup(place, (gsize)(offset - place)),
						    g_strdup(build_id));
		}
	}
	return builds;
}

int pp_occ_check_builds(const struct pp_occ_join *join, struct pp_error *err)
{
	g_autoptr(GHashTable) a = builds_of(join->timing), b = builds_of(join->accesses);
	GHashTableIter iter;
	void *module, *build_id;

	g_hash_table_iter_init(&iter, a);
	while (g_hash_table_iter_next(&iter, &module, &build_id)) {
		const char *other = g_hash_table_lookup(b, module);

		if (other && strcmp(build_id, other) != 0)
			return pp_error_add(err, -EINVAL,
					    "the captures are of different builds of %s (build-ids "
					    "%s and %s): record one build, or join by names with "
					    "--by-name",
					    (const char *)module, (const char *)build_id, other);
	}
	return 0;
}
