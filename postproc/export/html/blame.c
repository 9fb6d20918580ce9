/* SPDX-License-Identifier: MIT */
/*
 * The causes of waits (analysis/blame/blame.h), each together with the calls that waited, so that
 * the page can show what a call caused, and what a call suffered.
 *
 * An object that the page does not list has no cell of its own, but a group of ended ones has.
 * Whenever there are too many cells, the smallest are added to the last one, so that the sum
 * remains that of all waits.
 */
#include "export/html/cause.h"

#include <string.h>

#include "pass/finding.h"

#define CELLS_MAX  10000
#define STACKS_MAX 30000
#define REST	   "[all other waits]"

/* All that makes a cell different from others, as numbers. */
enum {
	CAUSE,
	OP,
	SITE,
	PATH,
	ACQUIRED,
	WAITER_OP,
	WAITER_SITE,
	WAITER_PATH,
	PROCESS,
	OBJECT, /* position among those shown, or PP_HTML_NONE */
	GROUP,
	N_KEYS
};

struct cell {
	uint64_t key[N_KEYS];
	struct pp_blame_cell of; /* its figures are the sum */
	const struct pp_process *process;
	const struct pp_object *group; /* NULL: none */
	uint32_t object;
	int64_t idle_ns;
};

/* A row of the page's table. */
struct row {
	char *kind;
	uint32_t holder, waiter; /* stacks */
	uint32_t object, op, site, acquired, waiter_site;
	int64_t n, ns, idle_ns, mode_ns[PP_N_MODES]; /* mode_ns: -1: not known */
};

struct collected {
	struct pp_html *html;
	GHashTable *shown; /* pp_html_shown() */
	GHashTable *cells; /* a set of struct cell */
	struct pp_blame_figures rest;
	int64_t rest_idle_ns;
	unsigned n_rest;
	struct pp_stacks *stacks;
	GHashTable *calls; /* the key of a call -> struct pp_stack * */
	GArray *rows;	   /* of struct row */
};

/* --- keys ----------------------------------------------------------------------------------- */

static guint key_hash(const void *data)
{
	const uint64_t *key = data;
	uint64_t hash = 0;

	for (unsigned i = 0; i < N_KEYS; i++) {
		hash = (hash ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return (guint)hash;
}

static gboolean key_equal(const void *a, const void *b)
{
	return memcmp(a, b, N_KEYS * sizeof(uint64_t)) == 0;
}

static void make_key(struct cell *cell)
{
	const struct pp_blame_cause *cause = &cell->of.cause;
	const struct pp_blame_call *waiter = &cell->of.waiter;
	const uint64_t key[N_KEYS] = {
	    [CAUSE] = (uint64_t)cause->kind << 32 | cause->why,
	    [OP] = cause->call.op,
	    [SITE] = cause->call.site,
	    [PATH] = (uintptr_t)cause->call.path,
	    [ACQUIRED] = cause->acquired.site,
	    [WAITER_OP] = waiter->op,
	    [WAITER_SITE] = waiter->site,
	    [WAITER_PATH] = (uintptr_t)waiter->path,
	    [PROCESS] = (uintptr_t)cell->process,
	    [OBJECT] = cell->object,
	    [GROUP] = (uintptr_t)cell->group,
	};

	memcpy(cell->key, key, sizeof(key));
}

/* --- cells ---------------------------------------------------------------------------------- */

static void add_figures(struct pp_blame_figures *sum, const struct pp_blame_figures *figures)
{
	sum->n += figures->n;
	sum->ns += figures->ns;
	for (unsigned mode = 0; mode < PP_N_MODES; mode++)
		sum->mode_ns[mode] += figures->mode_ns[mode];
}

/* Those that hold the program back come first. */
static gint compare_cells(gconstpointer a, gconstpointer b)
{
	const struct cell *x = *(const struct cell *const *)a;
	const struct cell *y = *(const struct cell *const *)b;
	int64_t x_ns = x->of.figures.ns - x->idle_ns, y_ns = y->of.figures.ns - y->idle_ns;

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	if (x->of.figures.ns != y->of.figures.ns)
		return x->of.figures.ns > y->of.figures.ns ? -1 : 1;
	return memcmp(x->key, y->key, sizeof(x->key));
}

/* Keeps the n largest cells; the caller unrefs the array of them. */
static GPtrArray *keep(struct collected *all, guint n)
{
	g_autoptr(GList) list = g_hash_table_get_keys(all->cells);
	GPtrArray *sorted = g_ptr_array_new();

	for (const GList *at = list; at; at = at->next)
		g_ptr_array_add(sorted, at->data);
	g_ptr_array_sort(sorted, compare_cells);
	for (; sorted->len > n; all->n_rest++) {
		struct cell *last = g_ptr_array_remove_index_fast(sorted, sorted->len - 1);

		add_figures(&all->rest, &last->of.figures);
		all->rest_idle_ns += last->idle_ns;
		g_hash_table_remove(all->cells, last);
	}
	return sorted;
}

static void take_cell(void *data, const struct pp_object *object, const struct pp_blame_cell *of,
		      int64_t idle_ns)
{
	struct collected *all = data;
	struct cell key = {.of = *of, .process = object->process}, *cell;

	key.object = pp_html_position(all->shown, object);
	key.group = pp_object_is_group(object) ? object : NULL;
	make_key(&key);
	cell = g_hash_table_lookup(all->cells, &key);
	if (!cell) {
		if (g_hash_table_size(all->cells) >= 4 * CELLS_MAX)
			g_ptr_array_unref(keep(all, 2 * CELLS_MAX));
		cell = g_memdup2(&key, sizeof(key));
		cell->of.figures = (struct pp_blame_figures){0};
		g_hash_table_add(all->cells, cell);
	}
	add_figures(&cell->of.figures, &of->figures);
	cell->idle_ns += idle_ns;
}

/* --- stacks --------------------------------------------------------------------------------- */

static struct pp_stack *new_call_stack(struct collected *all, const struct pp_process *process,
				       const struct pp_blame_call *call)
{
	const struct pp_namer *namer = all->html->export->context->namer;
	struct pp_stack *stack = pp_stacks_root(all->stacks);

	for (unsigned i = call->path ? call->path->n : 0; i-- > 0;)
		stack =
		    pp_stack_address(all->stacks, stack, namer, process, call->path->addresses[i]);
	if (!call->path && call->site)
		stack = pp_stack_address(all->stacks, stack, namer, process, call->site);
	if (call->op == ST_EVENT_thread_exit || call->op == ST_N_EVENTS)
		return pp_stack_child(all->stacks, stack, "(end of the thread)");
	return pp_stack_child(all->stacks, stack,
			      pp_sync_function(call->op) ?: pp_sync_name(call->op));
}

static struct pp_stack *call_stack(struct collected *all, const struct pp_process *process,
				   const struct pp_blame_call *call)
{
	const uint64_t key[N_KEYS] = {
	    [OP] = call->op,
	    [SITE] = call->site,
	    [PATH] = (uintptr_t)call->path,
	    [PROCESS] = (uintptr_t)process,
	};
	struct pp_stack *stack = g_hash_table_lookup(all->calls, key);

	if (!stack) {
		stack = new_call_stack(all, process, call);
		g_hash_table_insert(all->calls, g_memdup2(key, sizeof(key)), stack);
	}
	return stack;
}

static uint32_t with_object(struct collected *all, const struct cell *cell, struct pp_stack *stack)
{
	g_autofree char *name = pp_html_blamed_name(all->html, cell->object, cell->group);

	return pp_stack_child(all->stacks, stack, name)->number - 1;
}

/* --- rows ----------------------------------------------------------------------------------- */

static void row_clear(void *data)
{
	g_free(((struct row *)data)->kind);
}

static void set_figures(struct row *row, const struct pp_blame_figures *figures, int64_t idle_ns,
			bool has_modes)
{
	row->n = (int64_t)figures->n;
	row->ns = figures->ns;
	row->idle_ns = idle_ns;
	for (unsigned mode = 0; mode < PP_N_MODES; mode++)
		row->mode_ns[mode] = has_modes ? figures->mode_ns[mode] : -1;
}

static void add_row(struct collected *all, const struct cell *cell)
{
	const struct pp_blame_cause *cause = &cell->of.cause;
	bool has_call = cause->kind == PP_BLAME_HOLD || cause->kind == PP_BLAME_CALL;
	bool ends = cause->call.op == ST_EVENT_thread_exit || cause->call.op == ST_N_EVENTS;
	struct row row = {
	    .kind = pp_html_cause_text(cause), .object = cell->object, .op = PP_HTML_NONE};
	g_autofree char *frame = g_strdup_printf("[%s]", row.kind);

	row.holder =
	    with_object(all, cell,
			has_call ? call_stack(all, cell->process, &cause->call)
				 : pp_stack_child(all->stacks, pp_stacks_root(all->stacks), frame));
	row.waiter = with_object(all, cell, call_stack(all, cell->process, &cell->of.waiter));
	if (has_call && !ends)
		row.op = pp_html_op(all->html, cause->call.op);
	row.site = pp_html_address_site(all->html, cell->process, has_call ? cause->call.site : 0);
	row.acquired = pp_html_address_site(
	    all->html, cell->process, cause->kind == PP_BLAME_HOLD ? cause->acquired.site : 0);
	row.waiter_site = pp_html_address_site(all->html, cell->process, cell->of.waiter.site);
	set_figures(&row, &cell->of.figures, cell->idle_ns, cause->kind != PP_BLAME_UNKNOWN);
	g_array_append_val(all->rows, row);
}

static void add_rest(struct collected *all)
{
	uint32_t stack = pp_stack_child(all->stacks, pp_stacks_root(all->stacks), REST)->number - 1;
	struct row row = {.kind = g_strdup("rest"),
			  .holder = stack,
			  .waiter = stack,
			  .object = PP_HTML_NONE,
			  .op = PP_HTML_NONE,
			  .site = PP_HTML_NONE,
			  .acquired = PP_HTML_NONE,
			  .waiter_site = PP_HTML_NONE};

	set_figures(&row, &all->rest, all->rest_idle_ns, true);
	g_array_append_val(all->rows, row);
	pp_html_miss(all->html, "blame",
		     "the smallest %u combinations of a cause and a waiting call are one row",
		     all->n_rest);
}

/* --- the document --------------------------------------------------------------------------- */

static void put_references(const struct collected *all)
{
	static const struct {
		const char *name;
		size_t offset;
	} columns[] = {
	    {"holder", offsetof(struct row, holder)},
	    {"waiter", offsetof(struct row, waiter)},
	    {"object", offsetof(struct row, object)},
	    {"op", offsetof(struct row, op)},
	    {"site", offsetof(struct row, site)},
	    {"acquired", offsetof(struct row, acquired)},
	    {"waiter_site", offsetof(struct row, waiter_site)},
	};
	struct pp_put *put = &all->html->put;

	for (unsigned i = 0; i < G_N_ELEMENTS(columns); i++) {
		pp_put_open(put, columns[i].name, '[');
		for (guint r = 0; r < all->rows->len; r++)
			pp_put_reference(put, NULL,
					 G_STRUCT_MEMBER(uint32_t,
							 &g_array_index(all->rows, struct row, r),
							 columns[i].offset));
		pp_put_close(put, ']');
	}
}

#define MODE(mode) offsetof(struct row, mode_ns) + (mode) * sizeof(int64_t)

static void put_figures(const struct collected *all)
{
	static const struct {
		const char *name;
		size_t offset;
	} columns[] = {
	    {"count", offsetof(struct row, n)},	     {"ns", offsetof(struct row, ns)},
	    {"idle", offsetof(struct row, idle_ns)}, {"running", MODE(PP_MODE_RUNNING)},
	    {"runnable", MODE(PP_MODE_RUNNABLE)},    {"sync", MODE(PP_MODE_BLOCKED_SYNC)},
	    {"io", MODE(PP_MODE_BLOCKED_IO)},	     {"other", MODE(PP_MODE_BLOCKED_OTHER)},
	    {"unknown", MODE(PP_MODE_UNKNOWN)},
	};
	struct pp_put *put = &all->html->put;

	for (unsigned i = 0; i < G_N_ELEMENTS(columns); i++) {
		pp_put_open(put, columns[i].name, '[');
		for (guint r = 0; r < all->rows->len; r++) {
			int64_t figure = G_STRUCT_MEMBER(
			    int64_t, &g_array_index(all->rows, struct row, r), columns[i].offset);

			if (figure < 0)
				pp_put_null(put, NULL);
			else
				pp_put_number(put, NULL, figure);
		}
		pp_put_close(put, ']');
	}
}

/* The first object shown with that name. */
static uint32_t find_object(struct pp_html *html, const struct pp_cell *name)
{
	for (guint i = 0; name && i < html->objects->len; i++)
		if (g_str_equal(
			pp_html_object_name(html, g_array_index(html->objects, uint32_t, i)),
			name->text))
			return i;
	return PP_HTML_NONE;
}

static uint32_t find_site(const struct pp_html *html, const struct pp_cell *text)
{
	return text ? pp_html_find_site(html, text->text) : PP_HTML_NONE;
}

/* The leading cause of waits; all sites are known. */
static void put_cause(struct pp_html *html)
{
	unsigned n = 0;
	struct pp_table **tables = pp_pass_set_tables(html->export->passes, "finding", &n);
	g_autofree char *text = n ? pp_finding_line(tables[0]) : NULL;

	if (!text) {
		pp_put_null(&html->put, "cause");
		return;
	}
	pp_put_open(&html->put, "cause", '{');
	pp_put_text(&html->put, "text", text);
	pp_put_reference(&html->put, "object",
			 find_object(html, pp_table_cell(tables[0], 0, "name")));
	pp_put_reference(&html->put, "site", find_site(html, pp_table_cell(tables[0], 0, "site")));
	pp_put_reference(&html->put, "acquired",
			 find_site(html, pp_table_cell(tables[0], 0, "acquired")));
	pp_put_close(&html->put, '}');
}

static void put_table(const struct collected *all)
{
	struct pp_put *put = &all->html->put;

	pp_put_open(put, "blame", '{');
	pp_put_number(put, "n", all->rows->len);
	pp_put_open(put, "kind", '[');
	for (guint r = 0; r < all->rows->len; r++)
		pp_put_text(put, NULL, g_array_index(all->rows, struct row, r).kind);
	pp_put_close(put, ']');
	put_references(all);
	put_figures(all);
	pp_html_put_tree(all->html, all->stacks);
	put_cause(all->html);
	pp_html_put_nested(all->html, all->shown);
	pp_put_close(put, '}');
}

void pp_html_put_blame(struct pp_html *html)
{
	struct collected all = {
	    .html = html,
	    .shown = pp_html_shown(html),
	    .cells = g_hash_table_new_full(key_hash, key_equal, g_free, NULL),
	    .stacks = pp_stacks_new(STACKS_MAX),
	    .calls = g_hash_table_new_full(key_hash, key_equal, g_free, NULL),
	    .rows = g_array_new(FALSE, FALSE, sizeof(struct row)),
	};
	g_autoptr(GPtrArray) sorted = NULL;

	g_array_set_clear_func(all.rows, row_clear);
	pp_blame_walk(html->blame, take_cell, &all);
	sorted = keep(&all, CELLS_MAX);
	for (guint i = 0; i < sorted->len; i++)
		add_row(&all, sorted->pdata[i]);
	if (all.n_rest)
		add_rest(&all);
	if (pp_stacks_n(all.stacks) >= STACKS_MAX)
		pp_html_miss(html, "blame",
			     "only %u stacks are distinguished: the rest is " PP_STACK_REST,
			     STACKS_MAX);
	put_table(&all);
	g_array_unref(all.rows);
	g_hash_table_unref(all.calls);
	pp_stacks_free(all.stacks);
	g_hash_table_unref(all.cells);
	g_hash_table_unref(all.shown);
}
