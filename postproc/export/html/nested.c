/* SPDX-License-Identifier: MIT */
/*
 * Blame one step further: the time that the holder of an object was blocked on another one while
 * others waited, by cause, as in the second table of `report blame`.
 */
#include "export/html/cause.h"

#define ROWS_MAX 5000

struct row {
	char *name, *other_name; /* other_name: NULL: the object is not known */
	char *kind;
	uint32_t object, site, acquired;
	uint32_t other, op, other_site, other_acquired;
	int64_t ns;
};

struct rows {
	struct pp_html *html;
	GHashTable *shown;
	GHashTable *known; /* text -> struct row * */
};

static void row_free(void *data)
{
	struct row *row = data;

	g_free(row->name);
	g_free(row->other_name);
	g_free(row->kind);
	g_free(row);
}

static char *key_of(const struct row *row)
{
	return g_strdup_printf("%u %u %u %u %u %u %u %s\n%s\n%s", row->object, row->site,
			       row->acquired, row->other, row->op, row->other_site,
			       row->other_acquired, row->kind, row->name,
			       row->other_name ? row->other_name : "");
}

static char *name_of(const struct rows *rows, const struct pp_object *object, uint32_t position)
{
	return pp_html_blamed_name(rows->html, position,
				   pp_object_is_group(object) ? object : NULL);
}

static void set_blamed(const struct rows *rows, struct row *row, const struct pp_object *object,
		       const struct pp_blame_cause *blamed)
{
	row->object = pp_html_position(rows->shown, object);
	row->name = name_of(rows, object, row->object);
	row->site = pp_html_address_site(rows->html, object->process, blamed->call.site);
	row->acquired = pp_html_address_site(rows->html, object->process, blamed->acquired.site);
}

static void set_other(const struct rows *rows, struct row *row, const struct pp_process *process,
		      const struct pp_object *other, const struct pp_blame_cause *cause)
{
	bool is_hold = cause->kind == PP_BLAME_HOLD;
	bool has_call = is_hold || cause->kind == PP_BLAME_CALL;
	bool ends = cause->call.op == ST_EVENT_thread_exit || cause->call.op == ST_N_EVENTS;

	row->other = other ? pp_html_position(rows->shown, other) : PP_HTML_NONE;
	row->other_name = other ? name_of(rows, other, row->other) : NULL;
	row->kind = pp_html_cause_text(cause);
	row->op = has_call && !ends ? pp_html_op(rows->html, cause->call.op) : PP_HTML_NONE;
	row->other_site =
	    pp_html_address_site(rows->html, process, has_call ? cause->call.site : 0);
	row->other_acquired =
	    pp_html_address_site(rows->html, process, is_hold ? cause->acquired.site : 0);
}

static void take(void *data, const struct pp_object *object, const struct pp_blame_cause *blamed,
		 const struct pp_object *other, const struct pp_blame_cause *cause, int64_t ns)
{
	struct rows *rows = data;
	struct row *row = g_new0(struct row, 1), *known;
	char *key;

	set_blamed(rows, row, object, blamed);
	set_other(rows, row, object->process, other, cause);
	key = key_of(row);
	known = g_hash_table_lookup(rows->known, key);
	if (known) {
		row_free(row);
		g_free(key);
	} else {
		known = row;
		g_hash_table_insert(rows->known, key, row);
	}
	known->ns += ns;
}

static gint by_time(gconstpointer a, gconstpointer b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->site != y->site
		   ? (x->site < y->site ? -1 : 1)
		   : (x->other_site > y->other_site) - (x->other_site < y->other_site);
}

static GPtrArray *sorted_rows(struct rows *rows)
{
	GPtrArray *sorted = g_ptr_array_new();
	GHashTableIter iter;
	gpointer row;

	g_hash_table_iter_init(&iter, rows->known);
	while (g_hash_table_iter_next(&iter, NULL, &row))
		g_ptr_array_add(sorted, row);
	g_ptr_array_sort(sorted, by_time);
	pp_html_miss(rows->html, "blame", "the %u smallest causes one step further are left out",
		     sorted->len > ROWS_MAX ? sorted->len - ROWS_MAX : 0);
	g_ptr_array_set_size(sorted, (gint)MIN(sorted->len, ROWS_MAX));
	return sorted;
}

static void put_texts(struct pp_put *put, const char *key, const GPtrArray *rows, size_t offset)
{
	pp_put_open(put, key, '[');
	for (guint i = 0; i < rows->len; i++)
		pp_put_text(put, NULL, G_STRUCT_MEMBER(char *, rows->pdata[i], offset));
	pp_put_close(put, ']');
}

static void put_references(struct pp_put *put, const char *key, const GPtrArray *rows,
			   size_t offset)
{
	pp_put_open(put, key, '[');
	for (guint i = 0; i < rows->len; i++)
		pp_put_reference(put, NULL, G_STRUCT_MEMBER(uint32_t, rows->pdata[i], offset));
	pp_put_close(put, ']');
}

static void put_rows(struct pp_put *put, const GPtrArray *rows)
{
	static const struct {
		const char *name;
		size_t offset;
	} references[] = {
	    {"object", offsetof(struct row, object)},
	    {"site", offsetof(struct row, site)},
	    {"acquired", offsetof(struct row, acquired)},
	    {"other", offsetof(struct row, other)},
	    {"op", offsetof(struct row, op)},
	    {"other_site", offsetof(struct row, other_site)},
	    {"other_acquired", offsetof(struct row, other_acquired)},
	};

	pp_put_number(put, "n", rows->len);
	put_texts(put, "name", rows, offsetof(struct row, name));
	put_texts(put, "other_name", rows, offsetof(struct row, other_name));
	put_texts(put, "kind", rows, offsetof(struct row, kind));
	for (unsigned i = 0; i < G_N_ELEMENTS(references); i++)
		put_references(put, references[i].name, rows, references[i].offset);
	pp_put_open(put, "ns", '[');
	for (guint i = 0; i < rows->len; i++)
		pp_put_number(put, NULL, ((const struct row *)rows->pdata[i])->ns);
	pp_put_close(put, ']');
}

void pp_html_put_nested(struct pp_html *html, GHashTable *shown)
{
	struct rows rows = {
	    .html = html,
	    .shown = shown,
	    .known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, row_free),
	};
	g_autoptr(GPtrArray) sorted = NULL;

	pp_blame_walk_nested(html->blame, take, &rows);
	sorted = sorted_rows(&rows);
	pp_put_open(&html->put, "nested", '{');
	put_rows(&html->put, sorted);
	pp_put_close(&html->put, '}');
	g_hash_table_unref(rows.known);
}
