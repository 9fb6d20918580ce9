/* SPDX-License-Identifier: MIT */
/*
 * Lists the call sites whose waits for an object are mostly idle, as `report locks` determines it.
 * The page subtracts such waits from those that it ranks.
 */
#include "export/html/html.h"

/* Rows of that object: their positions plus 1, by address and generation. */
static void *key_of(uint64_t address, uint64_t generation)
{
	return GSIZE_TO_POINTER(address * 31 + generation);
}

static GHashTable *rows_by_object(const struct pp_table *locks)
{
	GHashTable *rows = g_hash_table_new(NULL, NULL);

	for (guint i = 0; locks && i < locks->rows->len; i++) {
		const struct pp_cell *address = pp_table_cell(locks, i, "object");
		const struct pp_cell *generation = pp_table_cell(locks, i, "generation");
		const struct pp_cell *idle = pp_table_cell(locks, i, "idle_ns");

		if (address && generation && idle && idle->time_ns)
			g_hash_table_insert(rows, key_of(address->count, generation->count),
					    GUINT_TO_POINTER(i + 1));
	}
	return rows;
}

static bool is_row_of(struct pp_html *html, const struct pp_table *locks, guint row,
		      uint32_t object)
{
	const struct pp_cell *pid = pp_table_cell(locks, row, "pid");
	const struct pp_index_object *of = pp_index_object(html->index, object);
	const struct pp_process *process = pp_index_process(html->index, of->process);

	return pid && process && pid->count == process->pid &&
	       pp_table_cell(locks, row, "object")->count == of->address &&
	       pp_table_cell(locks, row, "generation")->count == of->generation;
}

static bool is_idle(const struct pp_table *sites, guint row)
{
	const struct pp_cell *wait = pp_table_cell(sites, row, "wait_ns");
	const struct pp_cell *idle = pp_table_cell(sites, row, "idle_ns");

	return wait && idle && idle->time_ns > wait->time_ns / 2;
}

/* Appends pairs of an object's position and a site, of uint32_t. */
static void add_sites(const struct pp_html *html, GArray *pairs, uint32_t position,
		      const struct pp_table *sites)
{
	for (guint i = 0; i < sites->rows->len; i++) {
		const struct pp_cell *site = pp_table_cell(sites, i, "site");
		uint32_t number =
		    site && is_idle(sites, i) ? pp_html_find_site(html, site->text) : PP_HTML_NONE;

		if (number == PP_HTML_NONE)
			continue;
		g_array_append_val(pairs, position);
		g_array_append_val(pairs, number);
	}
}

static void put_column(struct pp_html *html, const char *key, const GArray *pairs, guint first)
{
	pp_put_open(&html->put, key, '[');
	for (guint i = first; i < pairs->len; i += 2)
		pp_put_number(&html->put, NULL, g_array_index(pairs, uint32_t, i));
	pp_put_close(&html->put, ']');
}

void pp_html_put_idle(struct pp_html *html)
{
	unsigned n_tables = 0;
	struct pp_table **tables = pp_pass_set_tables(html->export->passes, "locks", &n_tables);
	const struct pp_table *locks = n_tables ? tables[0] : NULL;
	g_autoptr(GHashTable) rows = rows_by_object(locks);
	g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < html->objects->len; i++) {
		uint32_t number = g_array_index(html->objects, uint32_t, i);
		const struct pp_index_object *object = pp_index_object(html->index, number);
		guint row = GPOINTER_TO_UINT(
		    g_hash_table_lookup(rows, key_of(object->address, object->generation)));

		if (row && is_row_of(html, locks, row - 1, number))
			add_sites(html, pairs, i, pp_table_cell(locks, row - 1, "sites")->table);
	}
	pp_put_open(&html->put, "idle", '{');
	pp_put_number(&html->put, "n", pairs->len / 2);
	put_column(html, "object", pairs, 0);
	put_column(html, "site", pairs, 1);
	pp_put_close(&html->put, '}');
}
