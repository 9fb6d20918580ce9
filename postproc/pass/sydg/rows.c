/* SPDX-License-Identifier: MIT */
/* See rows.h. */
#include "pass/sydg/rows.h"

#include <string.h>

#include "analysis/state/select_object.h"
#include "pass/blame/blame.h"

static void row_free(void *data)
{
	struct pp_sydg_row *row = data;

	g_free(row->path);
	g_clear_pointer(&row->parts, g_hash_table_unref);
	g_free(row);
}

/* A section in words. */
struct named {
	char *entry, *exit, *code; /* code: a key, without the path */
	struct pp_sydg_row *row;   /* NULL: none yet */
};

static void named_free(void *data)
{
	struct named *named = data;

	g_free(named->entry);
	g_free(named->exit);
	g_free(named->code);
	g_free(named);
}

struct pp_sydg_rows {
	const struct pp_pass_context *context;
	enum pp_dependence_clock clock;
	GHashTable *sections; /* const struct pp_section * -> struct named * */
	GHashTable *rows;     /* text -> struct pp_sydg_row * */
	GHashTable *pathless; /* a set of texts: of sections with instances without a path */
	GHashTable *objects;  /* object -> int64_t *: APLT */
};

static char *site_text(const struct pp_pass_context *context, const struct pp_process *process,
		       uint64_t site)
{
	return site ? context->namer->site(context->namer->data, process, site) : NULL;
}

static char *path_text(const struct pp_pass_context *context, const struct pp_section *section)
{
	const struct pp_blame_call call = {section->entry_op, section->entry_site, section->path};
	struct pp_call_text text;
	char *path;

	if (!section->path)
		return NULL;
	text = pp_call_text(context, section->process, &call);
	path = g_steal_pointer(&text.path);
	pp_call_text_done(&text);
	return path;
}

void pp_sydg_rows_name(struct pp_sydg_rows *rows, const struct pp_section *section)
{
	const struct pp_pass_context *context = rows->context;
	struct named *named;

	if (!section || g_hash_table_contains(rows->sections, section))
		return;
	named = g_new0(struct named, 1);
	named->entry = site_text(context, section->process, section->entry_site);
	named->exit = site_text(context, section->process, section->exit_site);
	named->code =
	    g_strdup_printf("%p\n%s\n%s", (const void *)section->process,
			    pp_text_or_empty(named->entry), pp_text_or_empty(named->exit));
	g_hash_table_insert(rows->sections, (void *)section, named);
	if (!section->path)
		g_hash_table_add(rows->pathless, g_strdup(named->code));
}

static void name_section(void *data, const struct pp_object *object,
			 const struct pp_section *section, const struct pp_dependence_cost *cost,
			 int64_t unended_ns)
{
	(void)object;
	(void)cost;
	(void)unended_ns;
	pp_sydg_rows_name(data, section);
}

/* The first time that a section is seen: adds its figures. */
static void add_section(struct pp_sydg_rows *rows, struct pp_sydg_row *row,
			const struct pp_section *section)
{
	int64_t ns = section->all_paths.ns[rows->clock];

	row->n += section->n;
	row->hold_ns += section->hold_ns;
	pp_dependence_cost_add(&row->all_paths, &section->all_paths);
	pp_dependence_cost_add(&row->critical_path, &section->critical_path);
	row->has_pathless |= !section->path;
	if (!section->path)
		return;
	row->n_paths++;
	if (row->path && ns <= row->path_ns)
		return;
	g_free(row->path);
	row->path = path_text(rows->context, section);
	row->path_ns = ns;
}

struct pp_sydg_row *pp_sydg_row_of(struct pp_sydg_rows *rows, const struct pp_section *section)
{
	struct named *named = g_hash_table_lookup(rows->sections, section);
	g_autofree char *path = NULL, *key = NULL;
	struct pp_sydg_row *row;

	if (named->row)
		return named->row;
	if (!g_hash_table_contains(rows->pathless, named->code))
		path = path_text(rows->context, section);
	key = g_strconcat(named->code, "\n", path, NULL);
	row = g_hash_table_lookup(rows->rows, key);
	if (!row) {
		row = g_new0(struct pp_sydg_row, 1);
		row->process = section->process;
		row->entry = named->entry;
		row->exit = named->exit;
		row->key = key;
		g_hash_table_insert(rows->rows, g_steal_pointer(&key), row);
	}
	named->row = row;
	add_section(rows, row, section);
	return row;
}

static int64_t *sum_at(GHashTable *sums, const void *key)
{
	int64_t *sum = g_hash_table_lookup(sums, key);

	if (!sum) {
		sum = g_new0(int64_t, 1);
		g_hash_table_insert(sums, (void *)key, sum);
	}
	return sum;
}

static int64_t *part_of(struct pp_sydg_row *row, const struct pp_object *object)
{
	if (!row->first)
		row->first = object;
	if (row->first == object)
		return &row->first_ns;
	if (!row->parts)
		row->parts = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	return sum_at(row->parts, object);
}

static void take_section(void *data, const struct pp_object *object,
			 const struct pp_section *section, const struct pp_dependence_cost *cost,
			 int64_t unended_ns)
{
	struct pp_sydg_rows *rows = data;
	int64_t ns = cost->ns[rows->clock];

	(void)unended_ns;
	/* This notes that a selected object exists, even without a section. */
	if (!pp_selects_object(rows->context, object) || !section)
		return;
	*part_of(pp_sydg_row_of(rows, section), object) += ns;
	*sum_at(rows->objects, object) += ns;
}

static void consider(struct pp_sydg_row *row, const struct pp_object *object, int64_t ns)
{
	row->n_objects += ns > 0 ? pp_object_count(object) : 0;
	if (row->object &&
	    (ns < row->object_ns || (ns == row->object_ns && object->order > row->object->order)))
		return;
	row->object = object;
	row->object_ns = ns;
}

/* Chooses the object of the row. */
static void choose_object(const struct pp_sydg_rows *rows, struct pp_sydg_row *row)
{
	GHashTableIter iter;
	void *object, *ns;

	if (!row->first)
		return;
	consider(row, row->first, row->first_ns);
	if (row->parts) {
		g_hash_table_iter_init(&iter, row->parts);
		while (g_hash_table_iter_next(&iter, &object, &ns))
			consider(row, object, *(int64_t *)ns);
	}
	row->aplt_ns = *sum_at(rows->objects, row->object);
}

struct pp_sydg_rows *pp_sydg_rows_new(const struct pp_pass_context *context,
				      const struct pp_dependence *dependence,
				      enum pp_dependence_clock clock)
{
	struct pp_sydg_rows *rows = g_new0(struct pp_sydg_rows, 1);

	rows->context = context;
	rows->clock = clock;
	rows->sections = g_hash_table_new_full(NULL, NULL, NULL, named_free);
	rows->rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, row_free);
	rows->pathless = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	rows->objects = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	pp_dependence_walk(dependence, name_section, rows);
	return rows;
}

void pp_sydg_rows_free(struct pp_sydg_rows *rows)
{
	g_hash_table_unref(rows->rows);
	g_hash_table_unref(rows->sections);
	g_hash_table_unref(rows->pathless);
	g_hash_table_unref(rows->objects);
	g_free(rows);
}

void pp_sydg_rows_fill(struct pp_sydg_rows *rows, const struct pp_dependence *dependence)
{
	pp_dependence_walk(dependence, take_section, rows);
}

GPtrArray *pp_sydg_rows_all(const struct pp_sydg_rows *rows)
{
	GPtrArray *all = g_ptr_array_new();
	GHashTableIter iter;
	void *row;

	g_hash_table_iter_init(&iter, rows->rows);
	while (g_hash_table_iter_next(&iter, NULL, &row)) {
		choose_object(rows, row);
		g_ptr_array_add(all, row);
	}
	return all;
}

int pp_sydg_row_compare(const struct pp_sydg_row *x, const struct pp_sydg_row *y)
{
	int64_t x_ns = x->all_paths.ns[PP_DEPENDENCE_WALL];
	int64_t y_ns = y->all_paths.ns[PP_DEPENDENCE_WALL];

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	if (x->hold_ns != y->hold_ns)
		return x->hold_ns > y->hold_ns ? -1 : 1;
	return strcmp(x->key, y->key);
}
