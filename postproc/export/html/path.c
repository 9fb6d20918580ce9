/* SPDX-License-Identifier: MIT */
/*
 * The critical path and the blocking calls: the tables of their passes as column tables, with
 * references to other lists.
 */
#include "export/html/html.h"

/* Of one table; the pass puts those with the most time first, and keeps 500 segments. */
#define ROWS_MAX 2000

/* A list of the page: a column of the pass's table, or a reference found from its row. */
struct list {
	const char *name;
	const char *column; /* its key; used unless there is a function */
	uint32_t (*refer)(const struct pp_html *html, const struct pp_table *table, unsigned row);
};

/* --- references ----------------------------------------------------------------------------- */

static const struct pp_process *process_of(const struct pp_html *html, const struct pp_table *table,
					   unsigned row)
{
	const GPtrArray *processes = html->export->context->model->processes;
	uint64_t pid = pp_table_count(table, row, "pid"),
		 image = pp_table_count(table, row, "image");

	for (guint i = 0; i < processes->len; i++) {
		const struct pp_process *process = processes->pdata[i];

		if (process->pid == pid && process->image == image)
			return process;
	}
	return NULL;
}

static uint32_t thread_of(const struct pp_html *html, const struct pp_table *table, unsigned row)
{
	const struct pp_process *process = process_of(html, table, row);
	const struct pp_thread *thread =
	    process ? pp_process_thread(process, (uint32_t)pp_table_count(table, row, "index"))
		    : NULL;

	return thread ? thread->serial : PP_HTML_NONE;
}

/* The row has the next thread's tid; it exists when the path passes to it. */
static uint32_t next_of(const struct pp_html *html, const struct pp_table *table, unsigned row)
{
	const struct pp_cell *tid = pp_table_cell(table, row, "to_tid");
	int64_t end_ns =
	    pp_table_time_ns(table, row, "start_ns") + pp_table_time_ns(table, row, "duration_ns");
	const struct pp_thread *thread =
	    tid ? pp_model_thread_at(html->export->context->model, (uint32_t)tid->count, end_ns)
		: NULL;

	return thread ? thread->serial : PP_HTML_NONE;
}

/* Objects that are not shown elsewhere have only a name. */
static uint32_t object_of(const struct pp_html *html, const struct pp_table *table, unsigned row)
{
	uint64_t address = pp_table_count(table, row, "object");
	uint64_t generation = pp_table_count(table, row, "generation");
	const struct pp_process *process = process_of(html, table, row);

	for (guint i = 0; process && i < html->objects->len; i++) {
		const struct pp_index_object *object =
		    pp_index_object(html->index, g_array_index(html->objects, uint32_t, i));

		if (object->address == address && object->generation == generation &&
		    pp_index_process(html->index, object->process) == process)
			return i;
	}
	return PP_HTML_NONE;
}

static uint32_t site_of(const struct pp_html *html, const struct pp_table *table, unsigned row)
{
	const struct pp_cell *site = pp_table_cell(table, row, "site");

	return site ? pp_html_find_site(html, site->text) : PP_HTML_NONE;
}

/* The site of the call with the most time, which is the first one. */
static uint32_t main_site_of(const struct pp_html *html, const struct pp_table *table, unsigned row)
{
	const struct pp_cell *sites = pp_table_cell(table, row, "sites");

	return sites && sites->table->rows->len ? site_of(html, sites->table, 0) : PP_HTML_NONE;
}

/* --- lists ---------------------------------------------------------------------------------- */

#define PARTS                                                                                      \
	{"running", "running_ns"}, {"runnable", "runnable_ns"}, {"unknown", "unknown_ns"},         \
	{                                                                                          \
		"outside", "outside_ns"                                                            \
	}

static const struct list threads[] = {
    {"thread", NULL, thread_of}, {"ns", "path_ns"},	  {"share", "path_pct"},	 PARTS,
    {"sync", "blocked_sync_ns"}, {"io", "blocked_io_ns"}, {"other", "blocked_other_ns"}, {NULL}};

static const struct list objects[] = {{"object", NULL, object_of},
				      {"name", "name"},
				      {"ns", "held_ns"},
				      {"share", "held_pct"},
				      {"crossings", "crossings"},
				      {"waited", "waited_ns"},
				      {NULL}};

static const struct list functions[] = {{"name", "function"},
					{"ns", "self_ns"},
					{"share", "self_pct"},
					{"within", "within_ns"},
					{"blocked", "blocked_ns"},
					PARTS,
					{NULL}};

static const struct list calls[] = {{"name", "function"},
				    {"ns", "path_ns"},
				    {"share", "path_pct"},
				    {"blocked", "blocked_ns"},
				    PARTS,
				    {"call", "main_site"},
				    {"site", NULL, main_site_of},
				    {NULL}};

static const struct list segments[] = {{"thread", NULL, thread_of},
				       {"start", "start_ns"},
				       {"ns", "duration_ns"},
				       {"blocked", "blocked"},
				       PARTS,
				       {"call", "call"},
				       {"site_text", "site"},
				       {"site", NULL, site_of},
				       {"blocked_in", "blocked_in"},
				       {"object", "object_name"},
				       {"to", NULL, next_of},
				       {NULL}};

static const struct list blocking_calls[] = {{"threads", "group"},   {"call", "call"},
					     {"site_text", "site"},  {"site", NULL, site_of},
					     {"fd", "fd"},	     {"count", "calls"},
					     {"ns", "wait_ns"},	     {"idle", "idle_ns"},
					     {"max", "wait_max_ns"}, {NULL}};

static void put_cell(struct pp_html *html, const struct pp_table *table, unsigned row,
		     const char *key)
{
	const struct pp_cell *cell = pp_table_cell(table, row, key);
	const struct pp_column *column = cell ? &table->columns[pp_table_column(table, key)] : NULL;

	if (!cell)
		pp_put_null(&html->put, NULL);
	else if (column->type == PP_TYPE_TEXT)
		pp_put_text(&html->put, NULL, cell->text);
	else if (column->type == PP_TYPE_PERCENT)
		pp_put_double(&html->put, NULL, cell->number);
	else if (g_str_equal(key, "start_ns"))
		pp_put_number(&html->put, NULL, MAX(cell->time_ns - html->from_ns, 0));
	else
		pp_put_number(&html->put, NULL, cell->integer);
}

/* A table that the pass did not make is empty. */
static void put_table(struct pp_html *html, const char *subject, const char *name,
		      const struct pp_table *table, const struct list *lists)
{
	guint n = table ? MIN(table->rows->len, ROWS_MAX) : 0;

	pp_put_open(&html->put, name, '{');
	pp_put_number(&html->put, "n", n);
	for (; lists->name; lists++) {
		pp_put_open(&html->put, lists->name, '[');
		for (guint row = 0; row < n; row++)
			if (lists->refer)
				pp_put_reference(&html->put, NULL, lists->refer(html, table, row));
			else
				put_cell(html, table, row, lists->column);
		pp_put_close(&html->put, ']');
	}
	pp_put_open(&html->put, "notes", '[');
	for (guint i = 0; table && i < table->notes->len; i++)
		pp_put_text(&html->put, NULL, table->notes->pdata[i]);
	pp_put_close(&html->put, ']');
	pp_put_close(&html->put, '}');
	if (table && n < table->rows->len)
		pp_html_miss(html, subject, "the first %u of %u %s are listed", n, table->rows->len,
			     name);
}

static const struct pp_table *find_table(const struct pp_html *html, const char *pass,
					 const char *key)
{
	unsigned n = 0;
	struct pp_table **tables = pp_pass_set_tables(html->export->passes, pass, &n);

	for (unsigned i = 0; i < n; i++)
		if (g_str_equal(tables[i]->key, key) && !tables[i]->is_for_text)
			return tables[i];
	return NULL;
}

static void put_path(struct pp_html *html, const char *name, const char *key,
		     const struct list *lists)
{
	put_table(html, "critical path", name, find_table(html, "critical-path", key), lists);
}

void pp_html_put_path(struct pp_html *html)
{
	pp_put_open(&html->put, "path", '{');
	put_path(html, "threads", "critical_threads", threads);
	put_path(html, "objects", "critical_objects", objects);
	put_path(html, "functions", "critical_functions", functions);
	put_path(html, "calls", "critical_sites", calls);
	put_path(html, "segments", "critical_stretches", segments);
	pp_put_close(&html->put, '}');
}

void pp_html_put_io(struct pp_html *html)
{
	put_table(html, "blocking calls", "io", find_table(html, "io", "io"), blocking_calls);
}
