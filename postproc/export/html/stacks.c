/* SPDX-License-Identifier: MIT */
/*
 * Stacks and their costs: calls and times from a history of calls; without one, call counts, with
 * only the caller of each function; samples, by their call paths, or with only the function;
 * off-CPU time, by the call path of the wait or blocking call.
 */
#include "export/html/html.h"

#include "export/stacks/call_fold.h"
#include "calls/survey.h"
#include "export/stacks/samples.h"
#include "events/events.h"
#include "analysis/caller.h"
#include "analysis/select.h"
#include "analysis/thread_cells.h"

#define STACKS_MAX 50000
/* For each kind. */
#define ROWS_MAX 150000

static const struct {
	const char *kind, *unit, *title, *reason;
} flames[] = {
    {"calls", "calls", "Calls", "no calls were counted: build with -pg"},
    {"time", "ns", "Wall time",
     "needs a history of calls with returns (record --set calls.mode=history)"},
    {"samples", "ns", "On-CPU, from samples", "no samples were taken"},
    {"off-cpu", "ns", "Off-CPU, blocked",
     "no thread was blocked on an object or in a blocking call"},
};

/*
 * Replaces the key by one of a kept combination.  The first phase notes costs to select
 * combinations; the second adds up.  The cost of a stack that is not kept is added to the stack
 * that contains it.
 */
static uint32_t *choose_key(struct pp_html *html, enum pp_html_table flame, uint32_t *key)
{
	while (key[2] && !pp_html_is_chosen(&html->choices[flame], key))
		key[2] = pp_stacks_at(html->stacks, key[2])->parent->number;
	if (!key[2])
		key[2] = pp_stack_child(html->stacks, pp_stacks_root(html->stacks), PP_STACK_REST)
			     ->number;
	return key;
}

static void add_count(struct pp_html *html, enum pp_html_table flame, uint32_t thread,
		      const struct pp_stack *stack, int64_t time_ns)
{
	uint32_t key[PP_SUMS_KEYS] = {0, thread, stack->number};
	uint32_t bin = pp_html_bin(html, time_ns);

	if (html->is_choosing)
		pp_html_choice_note(&html->choices[flame], key, bin, bin, 1);
	else
		++*pp_html_at(html, flame, choose_key(html, flame, key), time_ns);
}

static void add_time(struct pp_html *html, enum pp_html_table flame, uint32_t thread,
		     const struct pp_stack *stack, int64_t from_ns, int64_t to_ns)
{
	uint32_t key[PP_SUMS_KEYS] = {0, thread, stack->number};

	if (html->is_choosing)
		pp_html_choice_note(&html->choices[flame], key, pp_html_bin(html, from_ns),
				    pp_html_bin(html, to_ns), (uint64_t)MAX(to_ns - from_ns, 0));
	else
		pp_html_add_time(html, flame, choose_key(html, flame, key), 0, from_ns, to_ns);
}

/* Adds a value without a time. */
static void add_value(struct pp_html *html, enum pp_html_table flame, uint32_t thread,
		      const struct pp_stack *stack, uint64_t value)
{
	uint32_t key[PP_SUMS_KEYS] = {0, thread, stack->number};

	*pp_html_at_no_time(html, flame, key) += value;
}

/* --- a history of calls --------------------------------------------------------------------- */

static void on_entered(void *data, const struct pp_thread *thread, struct pp_stack *stack,
		       int64_t time_ns)
{
	struct pp_html *html = data;

	if (pp_html_has_time(html, time_ns))
		add_count(html, PP_HTML_CALLS, thread->serial, stack, time_ns);
}

static void on_lasted(void *data, const struct pp_thread *thread, struct pp_stack *stack,
		      int64_t from_ns, int64_t to_ns)
{
	struct pp_html *html = data;

	if (pp_calls_survey_has_returns(html->export->survey, thread->serial))
		add_time(html, PP_HTML_TIME, thread->serial, stack, from_ns, to_ns);
}

static void take_call(void *data, const struct pp_event *event)
{
	pp_call_fold_event(data, event);
}

static int read_history(struct pp_html *html, struct pp_error *err)
{
	struct pp_call_fold_listener listener = {html, on_entered, on_lasted};
	struct pp_call_fold *fold =
	    pp_call_fold_new(&html->stacks_export, html->stacks, false, &listener);
	int ret = pp_events_read(html->export->capture, PP_CALL_KINDS, take_call, fold, err);

	if (ret == 0) {
		pp_call_fold_finish(fold);
		if (html->is_choosing)
			pp_walk_note(pp_call_fold_walk(fold));
	}
	pp_call_fold_free(fold);
	return ret;
}

/* --- samples with stacks -------------------------------------------------------------------- */

static struct pp_stack *sample_stack(struct pp_html *html, const struct pp_index_sample *sample)
{
	const struct pp_namer *namer = html->export->context->namer;
	const struct pp_thread *thread =
	    html->export->context->model->threads->pdata[sample->thread];
	struct pp_stack *stack = pp_stacks_root(html->stacks);
	const uint64_t *path;
	unsigned n = pp_index_path(html->index, sample->path, &path);
	unsigned n_own = pp_samples_own(namer, thread->process, path, n);

	if (!n)
		return pp_stack_child(html->stacks, stack, "[no call path]");
	for (unsigned i = n; i-- > n_own;)
		stack = pp_stack_address(html->stacks, stack, namer, thread->process, path[i]);
	return n_own ? pp_stack_child(html->stacks, stack, PP_OWN_CODE) : stack;
}

static const struct pp_stack *known_sample_stack(struct pp_html *html, GHashTable *known,
						 const struct pp_index_sample *sample)
{
	uint64_t key =
	    (uint64_t)pp_index_thread(html->index, sample->thread)->process << 32 | sample->path;
	struct pp_stack *stack = g_hash_table_lookup(known, &key);

	if (!stack) {
		stack = sample_stack(html, sample);
		g_hash_table_insert(known, g_memdup2(&key, sizeof(key)), stack);
	}
	return stack;
}

static void sum_samples(struct pp_html *html)
{
	g_autoptr(GHashTable) known =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

	for (uint64_t i = 0; i < pp_index_n(html->index, PP_SECTION_SAMPLES); i++) {
		const struct pp_index_sample *sample = pp_index_sample(html->index, i);
		int64_t time_ns = (int64_t)sample->time_ns;
		uint32_t key[PP_SUMS_KEYS] = {0, sample->thread};
		uint32_t bin;

		if (!pp_html_has_thread(html, sample->thread) || !pp_html_has_time(html, time_ns))
			continue;
		key[2] = known_sample_stack(html, known, sample)->number;
		bin = pp_html_bin(html, time_ns);
		if (html->is_choosing)
			pp_html_choice_note(&html->choices[PP_HTML_SAMPLES], key, bin, bin,
					    sample->weight_ns);
		else
			*pp_html_at(html, PP_HTML_SAMPLES, choose_key(html, PP_HTML_SAMPLES, key),
				    time_ns) += sample->weight_ns;
	}
}

/* --- without times -------------------------------------------------------------------------- */

struct counts {
	struct pp_html *html;
	const bool *has_stacks; /* by serial of the thread: its samples have stacks */
};

/* The stack consists of the calling function and the called one. */
static void sum_arcs(struct pp_html *html, const struct pp_thread *thread)
{
	const struct pp_namer *namer = html->export->context->namer;

	for (guint i = 0; thread->arcs && i < thread->arcs->len; i++) {
		const struct pp_arc *arc = &g_array_index(thread->arcs, struct pp_arc, i);
		struct pp_stack *stack = pp_stacks_root(html->stacks);
		g_autofree char *name = namer->function(namer->data, thread->process, arc->self);
		uint64_t from = pp_arc_caller(namer, thread->process, arc);

		if (from) {
			g_autofree char *caller =
			    namer->function(namer->data, thread->process, from);

			stack = pp_stack_child(html->stacks, stack, caller);
		}
		stack = pp_stack_child(html->stacks, stack, name);
		add_value(html, PP_HTML_CALLS, thread->serial, stack, arc->count);
	}
}

/* The samples of a thread without stacks; they have no times. */
static void take_count(void *data, const struct pp_thread *thread, const char *function,
		       uint64_t ns)
{
	const struct counts *counts = data;
	struct pp_html *html = counts->html;
	const struct pp_stack *stack;

	if (counts->has_stacks[thread->serial])
		return;
	stack = pp_stack_child(html->stacks, pp_stacks_root(html->stacks), function);
	add_value(html, PP_HTML_SAMPLES, thread->serial, stack, ns);
}

/* Counts have no times, so they belong to no bin. */
static void sum_counts(struct pp_html *html, bool has_history)
{
	const GPtrArray *threads = html->export->context->model->threads;
	g_autofree bool *has_stacks = g_new0(bool, threads->len + 1);
	struct counts counts = {html, has_stacks};

	if (pp_selects_by(html->export->context, PP_SELECT_TIME))
		return;
	for (uint64_t i = 0; i < pp_index_n(html->index, PP_SECTION_SAMPLES); i++)
		has_stacks[pp_index_sample(html->index, i)->thread] = true;
	(void)pp_samples_each(html->export, take_count, &counts);
	for (uint32_t i = 0; i < threads->len && !has_history; i++)
		if (pp_html_has_thread(html, i))
			sum_arcs(html, threads->pdata[i]);
}

/* --- off-CPU -------------------------------------------------------------------------------- */

static struct pp_stack *stack_of(struct pp_html *html, const struct pp_index_operation *operation,
				 const struct pp_index_more *more)
{
	const struct pp_namer *namer = html->export->context->namer;
	const struct pp_index_site *site = pp_index_site(html->index, operation->site);
	const struct pp_process *process =
	    pp_index_process(html->index, pp_index_thread(html->index, operation->thread)->process);
	struct pp_stack *stack = pp_stacks_root(html->stacks);
	const uint64_t *path;
	unsigned n = pp_index_path(html->index, more->path, &path);

	for (unsigned i = n; i-- > 0;)
		stack = pp_stack_address(html->stacks, stack, namer, process, path[i]);
	if (!n && site)
		stack = pp_stack_address(html->stacks, stack, namer, process, site->address);
	stack = pp_stack_child(html->stacks, stack,
			       pp_sync_function(operation->op) ?: pp_sync_name(operation->op));
	return pp_stack_child(html->stacks, stack, pp_html_object_name(html, operation->object));
}

/* Waits with equal fields have the same stack. */
struct use {
	uint32_t process, object, site, path;
	uint32_t op;
};

static guint use_hash(const void *data)
{
	const struct use *use = data;

	return ((use->process * 31 + use->object) * 31 + use->site) * 31 + use->path + use->op;
}

static gboolean use_equal(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return x->process == y->process && x->object == y->object && x->site == y->site &&
	       x->path == y->path && x->op == y->op;
}

static const struct pp_stack *known_stack(struct pp_html *html, GHashTable *known,
					  const struct pp_index_operation *operation,
					  const struct pp_index_more *more)
{
	struct use key = {pp_index_thread(html->index, operation->thread)->process,
			  operation->object, operation->site, more->path, operation->op};
	struct pp_stack *stack = g_hash_table_lookup(known, &key);

	if (!stack) {
		stack = stack_of(html, operation, more);
		g_hash_table_insert(known, g_memdup2(&key, sizeof(key)), stack);
	}
	return stack;
}

/* Adds the time in which the thread was blocked during the wait, bin by bin. */
static void sum_wait(struct pp_html *html, GHashTable *known,
		     const struct pp_index_operation *operation)
{
	const struct pp_index_more *more = pp_index_more(html->index, operation);
	int64_t from_ns = pp_index_begin_ns(html->index, operation);
	int64_t to_ns = MIN(from_ns + pp_index_ns(html->index, operation), html->to_ns);
	const struct pp_stack *stack = more ? known_stack(html, known, operation, more) : NULL;
	uint32_t key[PP_SUMS_KEYS] = {0, operation->thread, stack ? stack->number : 0};

	from_ns = MAX(from_ns, html->from_ns);
	if (!stack || from_ns >= to_ns)
		return;
	if (html->is_choosing) {
		add_time(html, PP_HTML_OFF_CPU, operation->thread, stack, from_ns, to_ns);
		return;
	}
	(void)choose_key(html, PP_HTML_OFF_CPU, key);
	while (from_ns < to_ns) {
		int64_t end_ns = MIN(pp_html_bin_end(html, from_ns), to_ns);
		struct pp_index_sum sum;

		pp_index_shares(html->index, operation->thread, from_ns, end_ns, &sum);
		if (sum.ns[PP_MODE_BLOCKED_SYNC])
			*pp_html_at(html, PP_HTML_OFF_CPU, key, from_ns) +=
			    sum.ns[PP_MODE_BLOCKED_SYNC];
		from_ns = end_ns;
	}
}

static struct pp_stack *call_stack(struct pp_html *html, const struct pp_index_call *call)
{
	const struct pp_namer *namer = html->export->context->namer;
	const struct pp_index_site *site = pp_index_site(html->index, call->site);
	const struct pp_process *process =
	    pp_index_process(html->index, pp_index_thread(html->index, call->thread)->process);
	struct pp_stack *stack = pp_stacks_root(html->stacks);
	const uint64_t *path;
	unsigned n = pp_index_path(html->index, call->path, &path);

	for (unsigned i = n; i-- > 0;)
		stack = pp_stack_address(html->stacks, stack, namer, process, path[i]);
	if (!n && site)
		stack = pp_stack_address(html->stacks, stack, namer, process, site->address);
	return pp_stack_child(html->stacks, stack, pp_io_name(call->call));
}

static const struct pp_stack *known_call_stack(struct pp_html *html, GHashTable *known,
					       const struct pp_index_call *call)
{
	struct use key = {pp_index_thread(html->index, call->thread)->process, PP_HTML_NONE,
			  call->site, call->path, pp_io_op(call->call)};
	struct pp_stack *stack = g_hash_table_lookup(known, &key);

	if (!stack) {
		stack = call_stack(html, call);
		g_hash_table_insert(known, g_memdup2(&key, sizeof(key)), stack);
	}
	return stack;
}

/* The same for a blocking call. */
static void sum_call(struct pp_html *html, GHashTable *known, const struct pp_index_call *call)
{
	int64_t from_ns = MAX((int64_t)call->begin_ns, html->from_ns);
	int64_t to_ns = MIN((int64_t)call->end_ns, html->to_ns);
	uint32_t key[PP_SUMS_KEYS] = {0, call->thread};
	const struct pp_stack *stack;

	if (from_ns >= to_ns || !pp_html_has_thread(html, call->thread))
		return;
	stack = known_call_stack(html, known, call);
	if (html->is_choosing) {
		add_time(html, PP_HTML_OFF_CPU, call->thread, stack, from_ns, to_ns);
		return;
	}
	key[2] = stack->number;
	(void)choose_key(html, PP_HTML_OFF_CPU, key);
	while (from_ns < to_ns) {
		int64_t end_ns = MIN(pp_html_bin_end(html, from_ns), to_ns);
		struct pp_index_sum sum;
		uint64_t blocked_ns;

		pp_index_shares(html->index, call->thread, from_ns, end_ns, &sum);
		blocked_ns = sum.ns[PP_MODE_BLOCKED_IO] + sum.ns[PP_MODE_BLOCKED_OTHER];
		if (blocked_ns)
			*pp_html_at(html, PP_HTML_OFF_CPU, key, from_ns) += blocked_ns;
		from_ns = end_ns;
	}
}

static void sum_off_cpu(struct pp_html *html, GHashTable *known)
{
	for (uint64_t i = 0; i < pp_index_n(html->index, PP_SECTION_CALLS); i++)
		sum_call(html, known, pp_index_call(html->index, i));
	for (uint64_t i = 0; i < pp_index_n(html->index, PP_SECTION_OPERATIONS); i++) {
		const struct pp_index_operation *operation = pp_index_operation(html->index, i);

		if (operation->flags & PP_INDEX_WAITED &&
		    pp_html_has_thread(html, operation->thread))
			sum_wait(html, known, operation);
	}
}

/* -------------------------------------------------------------------------------------------- */

/* Combinations by stack: index + 1 of the first of each, and of the next after each. */
struct chains {
	uint32_t *first;
	GArray *next; /* of uint32_t */
};

static void chain(struct chains *chains, uint32_t stack, uint32_t at)
{
	g_array_append_val(chains->next, chains->first[stack]);
	chains->first[stack] = at + 1;
}

/* A stack's cost includes its callees' cost, so none is kept without its callers. */
static void include_callees(struct pp_html *html, struct pp_html_choice *choice)
{
	struct pp_sums *sums = &choice->combinations;
	uint32_t n = pp_stacks_n(html->stacks);
	struct chains chains = {g_new0(uint32_t, n), g_array_new(FALSE, FALSE, sizeof(uint32_t))};

	for (uint32_t i = 0; i < sums->rows->len; i++)
		chain(&chains, pp_sums_row(sums, i)->key[2], i);
	for (uint32_t stack = n - 1; stack > 0; stack--) {
		uint32_t parent = pp_stacks_at(html->stacks, stack)->parent->number;
		uint32_t at = chains.first[stack];

		for (; parent && at; at = g_array_index(chains.next, uint32_t, at - 1)) {
			struct pp_sums_row row = *pp_sums_row(sums, at - 1);
			guint before = sums->rows->len;

			row.key[2] = parent;
			pp_html_choice_add(choice, &row);
			if (sums->rows->len > before)
				chain(&chains, parent, before);
		}
	}
	g_array_unref(chains.next);
	g_free(chains.first);
}

static int sum_by_time(struct pp_html *html, GHashTable *known, struct pp_error *err)
{
	sum_off_cpu(html, known);
	sum_samples(html);
	return html->export->capture->histories->len ? read_history(html, err) : 0;
}

static void choose(struct pp_html *html)
{
	for (unsigned i = PP_HTML_FLAMES; i < PP_HTML_N_TABLES; i++) {
		include_callees(html, &html->choices[i]);
		pp_html_choose(&html->choices[i], ROWS_MAX);
		if (html->choices[i].n_kept < html->choices[i].combinations.rows->len)
			pp_html_miss(html, flames[i - PP_HTML_FLAMES].title,
				     "the smallest %u of %u stacks of threads are added to their "
				     "callers",
				     html->choices[i].combinations.rows->len -
					 html->choices[i].n_kept,
				     html->choices[i].combinations.rows->len);
	}
	html->is_choosing = false;
}

int pp_html_sum_stacks(struct pp_html *html, struct pp_error *err)
{
	g_autoptr(GHashTable) known = g_hash_table_new_full(use_hash, use_equal, g_free, NULL);
	int ret;

	html->stacks = pp_stacks_new(STACKS_MAX);
	html->stacks_export = *html->export;
	html->stacks_export.no_threads = true;
	for (unsigned i = PP_HTML_FLAMES; i < PP_HTML_N_TABLES; i++)
		pp_html_choice_init(&html->choices[i]);
	html->is_choosing = true;
	ret = sum_by_time(html, known, err);
	choose(html);
	if (ret == 0)
		ret = sum_by_time(html, known, err);
	sum_counts(html, html->export->capture->histories->len > 0);
	return ret;
}

void pp_html_put_tree(struct pp_html *html, const struct pp_stacks *stacks)
{
	unsigned n = pp_stacks_n(stacks);

	pp_put_open(&html->put, "stacks", '{');
	pp_put_open(&html->put, "parent", '[');
	for (unsigned i = 0; i < n; i++) {
		const struct pp_stack *stack = pp_stacks_at(stacks, i);

		if (stack->parent)
			pp_put_number(&html->put, NULL, (int64_t)stack->parent->number - 1);
	}
	pp_put_close(&html->put, ']');
	pp_put_open(&html->put, "function", '[');
	for (unsigned i = 1; i < n; i++)
		pp_put_reference(&html->put, NULL,
				 pp_html_function(html, pp_stacks_at(stacks, i)->name));
	pp_put_close(&html->put, ']');
	pp_put_close(&html->put, '}');
}

static void put_flame(struct pp_html *html, enum pp_html_table table)
{
	unsigned i = table - PP_HTML_FLAMES;

	if (!html->tables[table].rows->len) {
		pp_html_miss(html, flames[i].title, "%s", flames[i].reason);
		return;
	}
	/* The page omits the root stack. */
	for (guint r = 0; r < html->tables[table].rows->len; r++)
		g_array_index(html->tables[table].rows, struct pp_sums_row, r).key[2]--;
	pp_put_open(&html->put, NULL, '{');
	pp_put_text(&html->put, "kind", flames[i].kind);
	pp_put_text(&html->put, "unit", flames[i].unit);
	pp_put_text(&html->put, "title", flames[i].title);
	pp_sums_put_columns(&html->tables[table], &html->put);
	pp_put_close(&html->put, '}');
}

void pp_html_put_stacks(struct pp_html *html)
{
	uint64_t n = pp_stacks_n(html->stacks);

	pp_html_put_tree(html, html->stacks);
	pp_put_open(&html->put, "flames", '[');
	for (unsigned i = PP_HTML_FLAMES; i < PP_HTML_N_TABLES; i++)
		put_flame(html, i);
	pp_put_close(&html->put, ']');
	if (n >= STACKS_MAX)
		pp_html_miss(html, "stacks",
			     "only %u are distinguished: the rest is " PP_STACK_REST, STACKS_MAX);
}
