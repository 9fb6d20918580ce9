/* SPDX-License-Identifier: MIT */
/*
 * The suspects: the code of the threads that worked while others waited.  Paths that read alike
 * share a row.  All rows together are the waits of section `locks`.
 */
#include <string.h>

#include "analysis/select.h"
#include "pass/blame/blame.h"

enum { PID, IMAGE, KIND, FUNCTION, SITE, SHARE, WAIT, PATH, N_COLUMNS };

static const struct pp_column columns[N_COLUMNS] = {
    [PID] = {"pid", "pid", PP_TYPE_COUNT, PP_COLUMN_IF_SEVERAL | PP_COLUMN_ID, "process"},
    [IMAGE] = {"image", "image", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,
	       "0, 1, ...: number of the process's image, one more after each exec"},
    [KIND] = {"kind", "suspect", PP_TYPE_TEXT, PP_COLUMN_KEY,
	      "holder: held a lock while others waited for one; worker: held none while others "
	      "waited otherwise; nobody, and why; correction: wait_ns is to be added, since the "
	      "end of a wait was not recorded"},
    [FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED,
		  "that was running in the thread's next sample with a call path; without one, "
		  "its next synchronization call"},
    [SITE] = {"site", "at", PP_TYPE_TEXT, PP_COLUMN_KEY, "its line, or the call site"},
    [SHARE] = {"share_pct", "share", PP_TYPE_PERCENT, PP_COLUMN_SHARE | PP_COLUMN_STAYS,
	       "share of all waits"},
    [WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
	      "the thread's share of others' waits: each instant, threads that wait / suspects"},
    [PATH] = {"path", "called by", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_PATH,
	      "the functions on the path of the sample or call, innermost first"},
};

struct row {
	const struct pp_process *process; /* NULL: no suspect */
	const char *kind;
	struct pp_call_text call;
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

	pp_call_text_done(&row->call);
	g_free(row);
}

/* Takes the texts. */
static void add(struct rows *rows, const struct pp_process *process, const char *kind,
		struct pp_call_text *call, int64_t ns)
{
	char *key =
	    g_strdup_printf("%u.%u %s\n%s\n%s\n%s", process ? process->pid : 0,
			    process ? process->image : 0, kind, pp_text_or_empty(call->function),
			    pp_text_or_empty(call->site), pp_text_or_empty(call->path));
	struct row *row = g_hash_table_lookup(rows->known, key);

	rows->all_ns += ns;
	if (row) {
		pp_call_text_done(call);
		g_free(key);
	} else {
		row = g_new0(struct row, 1);
		*row = (struct row){.process = process, .kind = kind, .call = *call, .key = key};
		g_hash_table_insert(rows->known, key, row);
	}
	row->ns += ns;
}

static void take(void *data, const struct pp_suspect *suspect)
{
	static const char *const kinds[] = {
	    [PP_SUSPECT_LOCK] = "holder",
	    [PP_SUSPECT_OTHER] = "worker",
	};
	struct rows *rows = data;
	struct pp_call_text text = {0};

	if (!suspect->ns)
		return;
	if (suspect->call.op != ST_N_EVENTS)
		text = pp_call_text(rows->context, suspect->process, &suspect->call);
	else if (suspect->call.path)
		text = pp_call_text_sample(rows->context, suspect->process, suspect->call.path);
	add(rows, suspect->process, kinds[suspect->kind], &text, suspect->ns);
}

static void take_rest(struct rows *rows, const char *kind, int64_t ns)
{
	struct pp_call_text none = {0};

	if (ns)
		add(rows, NULL, kind, &none, ns);
}

static gint by_wait(gconstpointer a, gconstpointer b)
{
	const struct row *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : strcmp(x->key, y->key);
}

static void add_rows(struct pp_table *table, const struct rows *rows)
{
	g_autoptr(GList) list = g_list_sort(g_hash_table_get_values(rows->known), by_wait);

	for (const GList *at = list; at; at = at->next) {
		const struct row *row = at->data;
		struct pp_cell *cells = pp_table_add_row(table);

		if (row->process) {
			pp_cell_set_count(&cells[PID], row->process->pid);
			pp_cell_set_count(&cells[IMAGE], row->process->image);
		}
		pp_cell_set_text(&cells[KIND], row->kind);
		pp_cell_set_text(&cells[FUNCTION], row->call.function);
		pp_cell_set_text(&cells[SITE], row->call.site);
		pp_cell_set_number(&cells[SHARE],
				   100.0 * (double)row->ns / (double)MAX(rows->all_ns, 1));
		pp_cell_set_time(&cells[WAIT], row->ns);
		pp_cell_set_text(&cells[PATH], row->call.path);
	}
}

struct pp_table *pp_blame_suspect_table(const struct pp_pass_context *context,
					const struct pp_suspects *suspects)
{
	struct pp_table *table = pp_table_new(
	    "blame_suspects", "Suspects: work while others waited", columns, N_COLUMNS);
	struct rows rows = {
	    .context = context,
	    .known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, row_free),
	};
	struct pp_suspect_sums sums;

	table->text_rows = PP_BLAME_TEXT_ROWS;
	if (suspects) {
		sums = pp_suspects_sums(suspects);
		pp_suspects_walk(suspects, take, &rows);
		take_rest(&rows, PP_BLAME_NOBODY_LOCK, sums.nobody_ns[PP_SUSPECT_LOCK]);
		take_rest(&rows, PP_BLAME_NOBODY_OTHER, sums.nobody_ns[PP_SUSPECT_OTHER]);
		take_rest(&rows, "correction", sums.correction_ns);
		add_rows(table, &rows);
	} else {
		pp_table_note(table, PP_BLAME_NO_SUSPECTS);
	}
	g_hash_table_unref(rows.known);
	return table;
}
