/* SPDX-License-Identifier: MIT */
/*
 * The call tree of the time that the lanes show, as a page: waits of all threads, their other
 * blocking calls, and their CPU time by samples, as `report calltree --time` has them.
 */
#include "core/text/duration.h"
#include "core/text/printable.h"
#include "analysis/paths/tree.h"
#include "tui/browser.h"

#define INDENT 2

/* The key of a struct pp_path_use, in the numbers of the index. */
struct place {
	uint32_t process, path, site, op; /* op: as struct pp_path_use has it */
	enum pp_path_kind kind;
};

struct maker {
	struct pp_browser *browser;
	GHashTable *known; /* struct place * -> struct pp_path_use * */
	GPtrArray *uses;
};

static guint place_hash(const void *data)
{
	const struct place *place = data;

	return ((place->process * 31 + place->path) * 31 + place->site) * 31 + place->op * 4 +
	       place->kind;
}

static gboolean place_equal(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->process == y->process && x->path == y->path && x->site == y->site &&
	       x->op == y->op && x->kind == y->kind;
}

static struct pp_path_use *use_of(struct maker *maker, const struct place *place)
{
	const struct pp_index *index = maker->browser->index;
	struct pp_path_use *use = g_hash_table_lookup(maker->known, place);
	const struct pp_index_site *site = pp_index_site(index, place->site);
	const uint64_t *path;
	unsigned n;

	if (use)
		return use;
	n = pp_index_path(index, place->path, &path);
	use = g_new0(struct pp_path_use, 1);
	use->process = pp_index_process(index, place->process);
	use->path = n ? pp_model_path(index->model, path, n) : NULL;
	use->site = !n && site ? site->address : 0;
	use->kind = place->kind;
	use->op = place->op;
	g_hash_table_insert(maker->known, g_memdup2(place, sizeof(*place)), use);
	g_ptr_array_add(maker->uses, use);
	return use;
}

/* The part of a period that the lanes show. */
static int64_t shown_ns(const struct pp_browser *browser, int64_t from_ns, int64_t to_ns)
{
	return MAX(MIN(to_ns, browser->to_ns) - MAX(from_ns, browser->from_ns), 0);
}

static bool is_wait(const struct pp_index_operation *operation)
{
	return operation->flags & PP_INDEX_WAITED && operation->op < ST_N_EVENTS &&
	       !(operation->flags & (PP_INDEX_REGAINED | PP_INDEX_YIELDED)) &&
	       pp_sync_function(operation->op) && pp_sync_has(operation->op, PP_SYNC_BLOCKS);
}

static void add_wait(struct maker *maker, const struct pp_index_operation *operation)
{
	const struct pp_browser *browser = maker->browser;
	const struct pp_index *index = browser->index;
	const struct pp_index_thread *thread = pp_index_thread(index, operation->thread);
	const struct pp_index_more *more = pp_index_more(index, operation);
	int64_t time_ns = (int64_t)operation->time_ns, ns = pp_index_ns(index, operation);
	bool finished = operation->flags & PP_INDEX_FINISHED;
	int64_t end_ns = finished ? time_ns : time_ns + ns;
	int64_t wait_ns = shown_ns(browser, end_ns - ns, end_ns);
	bool counts = end_ns >= browser->from_ns && end_ns <= browser->to_ns;
	struct pp_path_use *use;

	if (!thread || (!wait_ns && !counts))
		return;
	use = use_of(maker, &(struct place){thread->process, more ? more->path : PP_INDEX_NONE,
					    operation->site, operation->op, PP_PATH_WAIT});
	use->n += counts;
	use->ns += wait_ns;
}

/* True if the thread waited at that time. */
static bool is_in_wait(const struct pp_index *index, uint32_t thread, uint64_t time_ns)
{
	uint64_t at = pp_index_list_find(index, PP_LIST_THREAD_WAITS, thread, time_ns);
	uint32_t number = pp_index_list_at(index, PP_LIST_THREAD_WAITS, thread, at);
	const struct pp_index_operation *operation = pp_index_operation(index, number);

	return operation && is_wait(operation) &&
	       (int64_t)operation->time_ns - pp_index_ns(index, operation) <= (int64_t)time_ns;
}

static void add_call(struct maker *maker, const struct pp_index_call *call)
{
	const struct pp_browser *browser = maker->browser;
	const struct pp_index_thread *thread = pp_index_thread(browser->index, call->thread);
	int64_t end_ns = (int64_t)call->end_ns;
	int64_t ns = shown_ns(browser, (int64_t)call->begin_ns, end_ns);
	bool counts = end_ns >= browser->from_ns && end_ns <= browser->to_ns;
	struct pp_path_use *use;

	if (!thread || (!ns && !counts) || call->call >= ST_N_IO_CALLS)
		return;
	use = use_of(maker, &(struct place){thread->process, call->path, call->site, call->call,
					    PP_PATH_CALL});
	use->n += counts;
	use->ns += ns;
}

static void add_sample(struct maker *maker, const struct pp_index_sample *sample)
{
	const struct pp_browser *browser = maker->browser;
	const struct pp_index_thread *thread = pp_index_thread(browser->index, sample->thread);
	int64_t time_ns = (int64_t)sample->time_ns;
	struct pp_path_use *use;

	if (!thread || time_ns < browser->from_ns || time_ns > browser->to_ns)
		return;
	use = use_of(maker,
		     &(struct place){thread->process, sample->path, PP_INDEX_NONE, 0, PP_PATH_CPU});
	use->n++;
	use->ns += (int64_t)sample->weight_ns;
	if (is_in_wait(browser->index, sample->thread, sample->time_ns))
		use->in_waits_ns += (int64_t)sample->weight_ns;
}

static void add_all(struct maker *maker)
{
	const struct pp_index *index = maker->browser->index;
	uint64_t n = pp_index_n(index, PP_SECTION_OPERATIONS);

	for (uint64_t i = 0; i < n; i++) {
		const struct pp_index_operation *operation = pp_index_operation(index, i);

		if (is_wait(operation))
			add_wait(maker, operation);
		if (i % PP_INDEX_RELEASE == 0)
			pp_index_release(index);
	}
	n = pp_index_n(index, PP_SECTION_CALLS);
	for (uint64_t i = 0; i < n; i++)
		add_call(maker, pp_index_call(index, i));
	n = pp_index_n(index, PP_SECTION_SAMPLES);
	for (uint64_t i = 0; i < n; i++)
		add_sample(maker, pp_index_sample(index, i));
}

/* --- lines ---------------------------------------------------------------------------------- */

struct lines {
	const struct pp_tree *tree;
	GPtrArray *to; /* of char * */
};

static void add_line(void *data, const struct pp_tree_node *node, const struct pp_tree_node *end,
		     unsigned depth)
{
	struct lines *lines = data;
	const struct pp_tree_figures *total = &node->total;
	g_autofree char *chain = pp_printable(pp_tree_chain_text(lines->tree, node, end));
	g_autofree char *wall = pp_duration_text(pp_tree_wall_ns(total));
	g_autofree char *cpu = pp_duration_text(total->ns[PP_TREE_CPU]);
	g_autofree char *wait = pp_duration_text(pp_tree_wait_ns(total) + total->ns[PP_TREE_CALLS]);

	g_ptr_array_add(lines->to, g_strdup_printf("%9s %9s %9s  %*s%s", wall, cpu, wait,
						   (int)(depth * INDENT), "", chain));
}

GPtrArray *pp_browser_calltree(struct pp_browser *browser, bool bottom_up)
{
	struct pp_pass_context context = {.model = browser->index->model, .namer = browser->namer};
	struct maker maker = {
	    .browser = browser,
	    .known = g_hash_table_new_full(place_hash, place_equal, g_free, NULL),
	    .uses = g_ptr_array_new_with_free_func(g_free),
	};
	g_autofree char *from = pp_browser_seconds(browser, (uint64_t)browser->from_ns, 3);
	g_autofree char *to = pp_browser_seconds(browser, (uint64_t)browser->to_ns, 3);
	struct lines lines = {.to = g_ptr_array_new_with_free_func(g_free)};
	struct pp_tree *tree;

	add_all(&maker);
	tree = pp_tree_new(&context, maker.uses, bottom_up, false);
	lines.tree = tree;
	g_ptr_array_add(lines.to, g_strdup_printf("%9s %9s %9s  from %s to %s s, all threads",
						  "wall", "CPU", "wait", from, to));
	pp_tree_walk_chains(tree, add_line, &lines);
	if (!maker.uses->len)
		g_ptr_array_add(lines.to, g_strdup("no thread waited, and none has a sample"));
	pp_tree_free(tree);
	g_hash_table_unref(maker.known);
	g_ptr_array_unref(maker.uses);
	return lines.to;
}
