/* SPDX-License-Identifier: MIT */
/*
 * Blame one step further: the time that holders were blocked on other objects while others waited
 * for them, by what it is charged to there.
 *
 * Cells whose calls read alike share a row, as in the table `blame`.  The rows of a holder there
 * add up to its time in blocked_sync_ns.
 */
#include <string.h>

#include "analysis/state/object_row.h"
#include "analysis/state/select_object.h"
#include "pass/blame/blame.h"

enum {
	FUNCTION = PP_OBJECT_CELLS,
	SITE,
	ACQUIRED,
	PATH,
	OTHER_ADDRESS,
	OTHER_GENERATION,
	OTHER_GROUP,
	OTHER_TYPE,
	OTHER_NAME,
	KIND,
	OTHER_FUNCTION,
	OTHER_SITE,
	OTHER_ACQUIRED,
	SHARE,
	TIME,
	OTHER_PATH,
	N_COLUMNS
};

static const struct pp_column columns[N_COLUMNS] = {
    PP_OBJECT_COLUMNS,
    [FUNCTION] = {"function", "call", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY | PP_COLUMN_KEY,
		  "the function that ended the hold"},
    [SITE] = {"site", "to blame", PP_TYPE_TEXT, PP_COLUMN_KEY,
	      "its call site: of a holder, as in the table of causes"},
    [ACQUIRED] = {"acquired", "held since", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY | PP_COLUMN_KEY,
		  "the call site that began the hold"},
    [PATH] = {"path", "its path", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY | PP_COLUMN_KEY,
	      "the functions of that call's path, innermost first"},
    [OTHER_ADDRESS] = {"nested_object", "address", PP_TYPE_ADDRESS,
		       PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
		       "address of the object that its thread was blocked on meanwhile"},
    [OTHER_GENERATION] = {"nested_generation", "generation", PP_TYPE_COUNT,
			  PP_COLUMN_JSON_ONLY | PP_COLUMN_ID, "its generation"},
    [OTHER_GROUP] = {"nested_group", "object", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY | PP_COLUMN_KEY,
		     "common to similar objects"},
    [OTHER_TYPE] = {"nested_type", "type", PP_TYPE_TEXT, PP_COLUMN_JSON_ONLY | PP_COLUMN_KEY,
		    PP_SYNC_TYPES},
    [OTHER_NAME] = {"nested_name", "blocked on", PP_TYPE_TEXT, PP_COLUMN_ID,
		    "the object that its thread was blocked on meanwhile"},
    [KIND] = {"nested_kind", "cause", PP_TYPE_TEXT, PP_COLUMN_KEY,
	      "of that wait: holder, caller, hand-over, or unknown and why"},
    [OTHER_FUNCTION] = {"nested_function", "call", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED,
			"the function that ended this hold, or that wait"},
    [OTHER_SITE] = {"nested_site", "charged to", PP_TYPE_TEXT, PP_COLUMN_KEY, "its call site"},
    [OTHER_ACQUIRED] = {"nested_acquired", "held since", PP_TYPE_TEXT,
			PP_COLUMN_KEY | PP_COLUMN_MORE, "the call site that began this hold"},
    [SHARE] = {"share_pct", "share", PP_TYPE_PERCENT, PP_COLUMN_SHARE | PP_COLUMN_STAYS,
	       "share of the time of all rows"},
    [TIME] = {"nested_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
	      "the part of others' waits for the holder in which it was blocked by this cause"},
    [OTHER_PATH] = {"nested_path", "called by", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_PATH,
		    "the functions of the path of the call that it is charged to, innermost first"},
};

struct row {
	const struct pp_object *object, *other; /* other: NULL if not known */
	enum pp_blame_kind kind;
	unsigned why;
	struct pp_call_text blamed, call;
	char *acquired, *other_acquired;
	int64_t ns;
	const char *key;
};

struct rows {
	const struct pp_pass_context *context;
	GHashTable *known; /* text -> struct row * */
	int64_t all_ns;
};

static void row_free(void *data)
{
	struct row *row = data;

	pp_call_text_done(&row->blamed);
	pp_call_text_done(&row->call);
	g_free(row->acquired);
	g_free(row->other_acquired);
	g_free(row);
}

static char *key_of(const struct row *row)
{
	return g_strdup_printf(
	    "%u %d %u %u\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s", row->object->serial,
	    row->other ? (int)row->other->serial : -1, row->kind, row->why,
	    pp_text_or_empty(row->blamed.function), pp_text_or_empty(row->blamed.site),
	    pp_text_or_empty(row->blamed.path), pp_text_or_empty(row->acquired),
	    pp_text_or_empty(row->call.function), pp_text_or_empty(row->call.site),
	    pp_text_or_empty(row->call.path), pp_text_or_empty(row->other_acquired));
}

static void take(void *data, const struct pp_object *object, const struct pp_blame_cause *blamed,
		 const struct pp_object *other, const struct pp_blame_cause *cause, int64_t ns)
{
	struct rows *rows = data;
	const struct pp_process *process = object->process;
	struct row *row, *known;
	char *key;

	if (!pp_selects_object(rows->context, object))
		return;
	row = g_new0(struct row, 1);
	row->object = object;
	row->other = other;
	row->kind = cause->kind;
	row->why = cause->why;
	row->blamed = pp_call_text(rows->context, process, &blamed->call);
	row->acquired = pp_call_text_acquired(rows->context, process, blamed);
	if (cause->kind == PP_BLAME_HOLD || cause->kind == PP_BLAME_CALL)
		row->call = pp_call_text(rows->context, process, &cause->call);
	row->other_acquired = pp_call_text_acquired(rows->context, process, cause);
	key = key_of(row);
	known = g_hash_table_lookup(rows->known, key);
	if (known) {
		row_free(row);
		g_free(key);
	} else {
		known = row;
		row->key = key;
		g_hash_table_insert(rows->known, key, row);
	}
	known->ns += ns;
	rows->all_ns += ns;
}

static gint by_time(gconstpointer a, gconstpointer b)
{
	const struct row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->object->order != y->object->order)
		return x->object->order < y->object->order ? -1 : 1;
	return strcmp(x->key, y->key);
}

static void set_other(struct pp_cell *cells, const struct pp_object *other,
		      const struct pp_namer *namer)
{
	/* Without the process, which is that of the blamed object. */
	struct pp_cell of_object[PP_OBJECT_CELLS] = {0};

	for (unsigned i = 0; i < PP_OBJECT_CELLS; i++)
		of_object[i].missing = true;
	pp_object_row(of_object, other, namer);
	cells[OTHER_ADDRESS] = of_object[PP_OBJECT_ADDRESS];
	cells[OTHER_GENERATION] = of_object[PP_OBJECT_GENERATION];
	cells[OTHER_GROUP] = of_object[PP_OBJECT_GROUP];
	cells[OTHER_TYPE] = of_object[PP_OBJECT_TYPE];
	cells[OTHER_NAME] = of_object[PP_OBJECT_NAME];
}

struct pp_table *pp_blame_nested_table(const struct pp_pass_context *context,
				       const struct pp_blame *blame)
{
	struct pp_table *table = pp_table_new(
	    "blame_nested", "Holders that were blocked themselves", columns, N_COLUMNS);
	struct rows rows = {
	    .context = context,
	    .known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, row_free),
	};
	GList *list;

	pp_blame_walk_nested(blame, take, &rows);
	list = g_list_sort(g_hash_table_get_values(rows.known), by_time);
	for (const GList *at = list; at; at = at->next) {
		const struct row *row = at->data;
		struct pp_cell *cells = pp_table_add_row(table);

		pp_object_row(cells, row->object, context->namer);
		pp_cell_set_text(&cells[FUNCTION], row->blamed.function);
		pp_cell_set_text(&cells[SITE], row->blamed.site);
		pp_cell_set_text(&cells[ACQUIRED], row->acquired);
		pp_cell_set_text(&cells[PATH], row->blamed.path);
		if (row->other)
			set_other(cells, row->other, context->namer);
		pp_blame_set_kind(&cells[KIND], row->kind, row->why);
		pp_cell_set_text(&cells[OTHER_FUNCTION], row->call.function);
		pp_cell_set_text(&cells[OTHER_SITE], row->call.site);
		pp_cell_set_text(&cells[OTHER_ACQUIRED], row->other_acquired);
		pp_cell_set_number(&cells[SHARE],
				   100.0 * (double)row->ns / (double)MAX(rows.all_ns, 1));
		pp_cell_set_time(&cells[TIME], row->ns);
		pp_cell_set_text(&cells[OTHER_PATH], row->call.path);
	}
	table->text_rows = PP_BLAME_TEXT_ROWS;
	g_list_free(list);
	g_hash_table_unref(rows.known);
	return table;
}
