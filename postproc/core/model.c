/* SPDX-License-Identifier: MIT */
/*
 * The model keeps one index: tid -> all threads that ever had it.  Almost every tid belongs to one
 * thread, so a look-up is a hash and one comparison.
 */
#include "core/model.h"

#include <string.h>

#include <json-glib/json-glib.h>

#include "core/access_set.h"
#include "core/text/duration.h"
#include "core/text/json.h"

struct model_priv {
	GHashTable *by_tid; /* tid -> GPtrArray of struct pp_thread * */
	GHashTable *paths;  /* a set of struct pp_path * */
};

static void process_free(void *data)
{
	struct pp_process *process = data;

	g_ptr_array_unref(process->threads);
	if (process->helpers)
		g_array_unref(process->helpers);
	if (process->counted_holds)
		g_array_unref(process->counted_holds);
	if (process->maps)
		g_array_unref(process->maps);
	g_free(process->folder);
	g_free(process->dir);
	g_free(process->pack);
	g_free(process);
}

static void thread_free(void *data)
{
	struct pp_thread *thread = data;

	if (thread->arcs)
		g_array_unref(thread->arcs);
	if (thread->samples)
		g_array_unref(thread->samples);
	g_free(thread->sync_counts);
	g_free(thread->name);
	g_free(thread->routine);
	g_free(thread);
}

static void problem_free(void *data)
{
	struct pp_problem *problem = data;

	g_free(problem->what);
	g_free(problem->where);
	g_free(problem);
}

static guint path_hash(const void *data)
{
	const struct pp_path *path = data;
	uint64_t hash = path->n;

	for (unsigned i = 0; i < path->n; i++)
		hash = (hash ^ path->addresses[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (guint)(hash >> 32);
}

static gboolean path_equal(const void *a, const void *b)
{
	const struct pp_path *x = a, *y = b;

	return x->n == y->n &&
	       memcmp(x->addresses, y->addresses, x->n * sizeof(x->addresses[0])) == 0;
}

const struct pp_path *pp_model_path(struct pp_model *model, const uint64_t *addresses, unsigned n)
{
	struct model_priv *priv = model->priv;
	struct pp_path *path = g_malloc(sizeof(*path) + n * sizeof(path->addresses[0]));
	const struct pp_path *known;

	path->n = n;
	memcpy(path->addresses, addresses, n * sizeof(path->addresses[0]));
	known = g_hash_table_lookup(priv->paths, path);
	if (known) {
		g_free(path);
		return known;
	}
	g_hash_table_add(priv->paths, path);
	return path;
}

struct pp_model *pp_model_new(const char *dir)
{
	struct pp_model *model = g_new0(struct pp_model, 1);
	struct model_priv *priv = g_new0(struct model_priv, 1);

	priv->by_tid = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
	priv->paths = g_hash_table_new_full(path_hash, path_equal, g_free, NULL);
	model->priv = priv;
	model->dir = g_strdup(dir);
	model->processes = g_ptr_array_new_with_free_func(process_free);
	model->threads = g_ptr_array_new_with_free_func(thread_free);
	model->problems = g_ptr_array_new_with_free_func(problem_free);
	model->start_ns = PP_TIME_UNKNOWN;
	model->end_ns = PP_TIME_UNKNOWN;
	model->base_ns = PP_TIME_UNKNOWN;
	model->until_ns = INT64_MAX;
	model->since_ns = INT64_MIN;
	model->access_sets = pp_access_sets_new();
	model->lock = g_new(GMutex, 1);
	g_mutex_init(model->lock);
	return model;
}

void pp_model_free(struct pp_model *model)
{
	struct model_priv *priv;

	if (!model)
		return;
	priv = model->priv;
	g_hash_table_unref(priv->by_tid);
	g_hash_table_unref(priv->paths);
	g_free(priv);
	g_ptr_array_unref(model->processes);
	g_ptr_array_unref(model->threads);
	g_ptr_array_unref(model->problems);
	g_clear_pointer((JsonObject **)&model->info, json_object_unref);
	pp_reversals_free(model->reversals);
	pp_access_sets_free(model->access_sets);
	g_mutex_clear(model->lock);
	g_free(model->lock);
	g_free(model->dir);
	g_free(model);
}

bool pp_model_is_attached(const struct pp_model *model)
{
	for (guint i = 0; i < model->processes->len; i++)
		if (((const struct pp_process *)model->processes->pdata[i])->is_attached)
			return true;
	return false;
}

char *pp_model_live_text(const struct pp_model *model)
{
	int64_t start_ns = pp_json_int(model->info, "start_ns", model->start_ns);
	int64_t covered_ns = start_ns == PP_TIME_UNKNOWN ? 0 : model->until_ns - start_ns;

	JsonObject *snapshot = pp_json_object(model->info, "snapshot");

	if (snapshot)
		covered_ns = pp_json_int(snapshot, "time_ns", 0) - start_ns;
	else if (!pp_model_is_live(model))
		return NULL;
	if (snapshot)
		return g_strdup_printf("a snapshot, taken %.3f s after the start (%s)",
				       (double)MAX(covered_ns, 0) / 1e9,
				       pp_json_string(snapshot, "why") ?: "reason not known");
	return g_strdup_printf("still running; this report covers the first %.3f s",
			       (double)MAX(covered_ns, 0) / 1e9);
}

char *pp_model_ring_text(const struct pp_model *model)
{
	int64_t origin_ns = pp_model_origin(model), end_ns = MIN(model->end_ns, model->until_ns);
	g_autofree char *part = NULL, *all = NULL;

	if (!pp_model_begins_late(model))
		return NULL;
	part = pp_duration_text(MAX(end_ns - model->since_ns, 0));
	all = pp_duration_text(MAX(end_ns - origin_ns, 0));
	return g_strdup_printf("the ring has the last %s of %s; what began before counts from then",
			       part, all);
}

struct pp_process *pp_model_add_process(struct pp_model *model, uint32_t pid, const char *folder)
{
	struct pp_process *process = g_new0(struct pp_process, 1);

	process->pid = pid;
	process->folder = g_strdup(folder);
	process->start_ns = PP_TIME_UNKNOWN;
	process->end_ns = PP_TIME_UNKNOWN;
	process->threads = g_ptr_array_new();
	g_ptr_array_add(model->processes, process);
	return process;
}

struct pp_thread *pp_model_add_thread(struct pp_model *model, struct pp_process *process,
				      uint32_t tid, uint32_t index)
{
	struct model_priv *priv = model->priv;
	struct pp_thread *thread = g_new0(struct pp_thread, 1);
	GPtrArray *same_tid = g_hash_table_lookup(priv->by_tid, GUINT_TO_POINTER(tid));

	thread->process = process;
	thread->tid = tid;
	thread->index = index;
	thread->serial = model->threads->len;
	thread->start_ns = PP_TIME_UNKNOWN;
	thread->end_ns = PP_TIME_UNKNOWN;
	thread->parent_index = -1;
	g_ptr_array_add(model->threads, thread);
	g_ptr_array_add(process->threads, thread);
	if (!same_tid) {
		same_tid = g_ptr_array_new();
		g_hash_table_insert(priv->by_tid, GUINT_TO_POINTER(tid), same_tid);
	}
	g_ptr_array_add(same_tid, thread);
	return thread;
}

void pp_model_count(const struct pp_model *model, unsigned *ret_processes, unsigned *ret_threads)
{
	g_autoptr(GHashTable) pids = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) firsts = g_hash_table_new(NULL, NULL);
	unsigned others = 0;

	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		g_hash_table_add(pids, GUINT_TO_POINTER(process->pid));
	}
	/* An exec ends all threads but the first.  The calling thread takes over its thread id. */
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];

		if (thread->tid == thread->process->pid)
			g_hash_table_add(firsts, GUINT_TO_POINTER(thread->tid));
		else
			others++;
	}
	*ret_processes = g_hash_table_size(pids);
	*ret_threads = g_hash_table_size(firsts) + others;
}

struct pp_thread *pp_process_thread(const struct pp_process *process, uint32_t index)
{
	const GPtrArray *threads = process->threads;
	struct pp_thread *thread;

	if (index < threads->len) {
		thread = threads->pdata[index];
		if (thread->index == index)
			return thread;
	}
	/* Unreadable slots leave gaps, so the thread may be before its position. */
	for (guint i = MIN(index, threads->len); i-- > 0;) {
		thread = threads->pdata[i];
		if (thread->index == index)
			return thread;
	}
	return NULL;
}

static bool has_name_of(const struct pp_thread *thread, uint32_t index)
{
	const struct pp_thread *other = pp_process_thread(thread->process, index);

	return other && other != thread && g_strcmp0(thread->name, other->name) == 0;
}

const char *pp_thread_name(const struct pp_thread *thread)
{
	bool is_own;

	if (!thread->routine)
		return thread->name;
	is_own = thread->name && *thread->name && !has_name_of(thread, 0) &&
		 !(thread->parent_index > 0 && has_name_of(thread, (uint32_t)thread->parent_index));
	return is_own ? thread->name : thread->routine;
}

uint64_t pp_thread_n_samples(const struct pp_thread *thread)
{
	uint64_t n = 0;

	for (guint i = 0; thread->samples && i < thread->samples->len; i++)
		n += g_array_index(thread->samples, struct pp_sample, i).count;
	return n;
}

void pp_model_add_problem(struct pp_model *model, const char *what, const char *where,
			  uint64_t count)
{
	struct pp_problem *problem;

	for (guint i = 0; i < model->problems->len; i++) {
		problem = model->problems->pdata[i];
		if (g_str_equal(problem->what, what) && g_strcmp0(problem->where, where) == 0) {
			problem->count += count;
			return;
		}
	}
	problem = g_new0(struct pp_problem, 1);
	problem->what = g_strdup(what);
	problem->where = g_strdup(where);
	problem->count = count;
	g_ptr_array_add(model->problems, problem);
}

/* True if `a` fits time_ns better than `b`: a live thread first, then the later start. */
static bool better_at(const struct pp_thread *a, const struct pp_thread *b, int64_t time_ns)
{
	bool a_begun = a->start_ns <= time_ns;
	bool b_begun = b->start_ns <= time_ns;
	bool a_over = a->end_ns != PP_TIME_UNKNOWN && a->end_ns < time_ns;
	bool b_over = b->end_ns != PP_TIME_UNKNOWN && b->end_ns < time_ns;

	if (a_begun != b_begun)
		return a_begun;
	if (!a_begun)
		return a->start_ns < b->start_ns;
	if (a_over != b_over)
		return b_over;
	return a->start_ns > b->start_ns;
}

struct pp_thread *pp_model_thread_at(const struct pp_model *model, uint32_t tid, int64_t time_ns)
{
	const struct model_priv *priv = model->priv;
	const GPtrArray *same_tid = g_hash_table_lookup(priv->by_tid, GUINT_TO_POINTER(tid));
	struct pp_thread *best;

	if (!same_tid)
		return NULL;
	best = same_tid->pdata[0];
	for (guint i = 1; i < same_tid->len; i++)
		if (better_at(same_tid->pdata[i], best, time_ns))
			best = same_tid->pdata[i];
	return best;
}

struct pp_thread *pp_model_thread_from(const struct pp_model *model, uint32_t tid, int64_t time_ns)
{
	const struct model_priv *priv = model->priv;
	const GPtrArray *same_tid = g_hash_table_lookup(priv->by_tid, GUINT_TO_POINTER(tid));
	struct pp_thread *best = NULL;

	for (guint i = 0; same_tid && i < same_tid->len; i++) {
		struct pp_thread *thread = same_tid->pdata[i];

		if (thread->start_ns >= time_ns && (!best || thread->start_ns < best->start_ns))
			best = thread;
	}
	return best;
}
