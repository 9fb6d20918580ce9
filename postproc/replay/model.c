/* SPDX-License-Identifier: MIT */
/* Makes, checks and frees models. */
#include "replay/model.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[PP_REPLAY_N_KINDS] = {
    [PP_REPLAY_LOCK] = "lock",	     [PP_REPLAY_LOCK_SPIN] = "spin",
    [PP_REPLAY_RDLOCK] = "rdlock",   [PP_REPLAY_UNLOCK] = "unlock",
    [PP_REPLAY_SEM_WAIT] = "wait",   [PP_REPLAY_SEM_POST] = "post",
    [PP_REPLAY_BARRIER] = "barrier", [PP_REPLAY_AWAIT] = "await",
    [PP_REPLAY_SLEEP] = "sleep",     [PP_REPLAY_CREATE] = "create",
    [PP_REPLAY_EXIT] = "exit",	     [PP_REPLAY_SIGNAL] = "signal",
    [PP_REPLAY_NOTIFY] = "notify",   [PP_REPLAY_NOTIFIED] = "notified",
};

const char *pp_replay_kind_name(enum pp_replay_kind kind)
{
	return kind_names[kind];
}

static void thread_free(void *data)
{
	struct pp_replay_thread *thread = data;

	g_free(thread->name);
	g_array_unref(thread->steps);
	g_free(thread);
}

static void object_free(void *data)
{
	struct pp_replay_object *object = data;

	g_free(object->name);
	g_free(object);
}

static void share_done(void *data)
{
	g_free(((struct pp_replay_share *)data)->function);
}

static void function_done(void *data)
{
	g_free(((struct pp_replay_function *)data)->name);
}

struct pp_replay_model *pp_replay_model_new(void)
{
	struct pp_replay_model *model = g_new0(struct pp_replay_model, 1);

	model->threads = g_ptr_array_new_with_free_func(thread_free);
	model->objects = g_ptr_array_new_with_free_func(object_free);
	model->sites = g_ptr_array_new_with_free_func(g_free);
	model->shares = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_share));
	g_array_set_clear_func(model->shares, share_done);
	model->functions = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_function));
	g_array_set_clear_func(model->functions, function_done);
	model->parts = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_function_part));
	model->delays = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_delay));
	model->accesses = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_access));
	model->n_cpus = 1;
	model->n_wakes = 1;
	return model;
}

struct pp_replay_model *pp_replay_model_copy(const struct pp_replay_model *model)
{
	struct pp_replay_model *copy = pp_replay_model_new();
	GPtrArray *threads = copy->threads, *objects = copy->objects, *sites = copy->sites;
	GArray *shares = copy->shares, *accesses = copy->accesses;
	GArray *functions = copy->functions, *parts = copy->parts, *delays = copy->delays;

	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];
		struct pp_replay_thread *to = pp_replay_add_thread(copy, thread->name);

		to->has_creator = thread->has_creator;
		to->start_ns = thread->start_ns;
		g_array_append_vals(to->steps, thread->steps->data, thread->steps->len);
	}
	for (guint i = 0; i < model->objects->len; i++) {
		const struct pp_replay_object *object = model->objects->pdata[i];

		pp_replay_add_object(copy, object->kind, object->count, object->name);
	}
	for (guint i = 0; i < model->sites->len; i++)
		pp_replay_add_site(copy, model->sites->pdata[i]);
	for (guint i = 0; i < model->shares->len; i++) {
		const struct pp_replay_share *share =
		    &g_array_index(model->shares, struct pp_replay_share, i);

		pp_replay_add_share(copy, share->function, share->site, share->in_ns,
				    share->all_ns);
	}
	for (guint i = 0; i < model->functions->len; i++) {
		const struct pp_replay_function *function =
		    &g_array_index(model->functions, struct pp_replay_function, i);

		pp_replay_add_function(copy, function->name, function->n_calls);
	}
	*copy = *model;
	copy->threads = threads;
	copy->objects = objects;
	copy->sites = sites;
	copy->shares = shares;
	copy->functions = functions;
	copy->parts = parts;
	copy->delays = delays;
	if (model->delays->len)
		g_array_append_vals(delays, model->delays->data, model->delays->len);
	copy->accesses = accesses;
	if (model->parts->len)
		g_array_append_vals(parts, model->parts->data, model->parts->len);
	if (model->accesses->len)
		g_array_append_vals(accesses, model->accesses->data, model->accesses->len);
	return copy;
}

void pp_replay_model_free(struct pp_replay_model *model)
{
	if (!model)
		return;
	g_ptr_array_unref(model->threads);
	g_ptr_array_unref(model->objects);
	g_ptr_array_unref(model->sites);
	g_array_unref(model->shares);
	g_array_unref(model->functions);
	g_array_unref(model->parts);
	g_array_unref(model->delays);
	g_array_unref(model->accesses);
	g_free(model);
}

struct pp_replay_thread *pp_replay_add_thread(struct pp_replay_model *model, const char *name)
{
	struct pp_replay_thread *thread = g_new0(struct pp_replay_thread, 1);

	thread->name = g_strdup(name);
	thread->steps = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_step));
	g_ptr_array_add(model->threads, thread);
	return thread;
}

void pp_replay_set_wake(struct pp_replay_model *model, int64_t ns)
{
	model->wake_ns[0] = ns;
	model->n_wakes = 1;
}

int64_t pp_replay_longest_wake(const struct pp_replay_model *model)
{
	int64_t ns = model->wake_ns[model->n_wakes - 1];

	return model->n_wakes == 1 ? ns + ns / 2 : ns;
}

uint32_t pp_replay_add_object(struct pp_replay_model *model, enum pp_replay_object_kind kind,
			      uint32_t count, const char *name)
{
	struct pp_replay_object *object = g_new0(struct pp_replay_object, 1);

	*object = (struct pp_replay_object){g_strdup(name), kind, count};
	g_ptr_array_add(model->objects, object);
	return model->objects->len - 1;
}

uint32_t pp_replay_add_site(struct pp_replay_model *model, const char *name)
{
	g_ptr_array_add(model->sites, g_strdup(name));
	return model->sites->len;
}

void pp_replay_add_share(struct pp_replay_model *model, const char *function, uint32_t site,
			 uint64_t in_ns, uint64_t all_ns)
{
	struct pp_replay_share new = {.site = site, .in_ns = in_ns, .all_ns = all_ns};

	for (guint i = 0; i < model->shares->len; i++) {
		struct pp_replay_share *share =
		    &g_array_index(model->shares, struct pp_replay_share, i);

		if (share->site != site || strcmp(share->function, function) != 0)
			continue;
		share->in_ns += in_ns;
		share->all_ns += all_ns;
		return;
	}
	new.function = g_strdup(function);
	g_array_append_val(model->shares, new);
}

void pp_replay_add_function(struct pp_replay_model *model, const char *name, uint64_t n_calls)
{
	struct pp_replay_function function = {g_strdup(name), n_calls};

	g_array_append_val(model->functions, function);
}

static int compare_parts(const void *a, const void *b)
{
	const struct pp_replay_function_part *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

void pp_replay_sort_parts(struct pp_replay_model *model)
{
	if (model->parts->len)
		qsort(model->parts->data, model->parts->len, sizeof(struct pp_replay_function_part),
		      compare_parts);
}

guint pp_replay_find_part(const struct pp_replay_model *model, uint32_t thread, uint32_t step)
{
	const struct pp_replay_function_part key = {.thread = thread, .step = step};
	guint low = 0, high = model->parts->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (compare_parts(
			&g_array_index(model->parts, struct pp_replay_function_part, middle),
			&key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int compare_delays(const void *a, const void *b)
{
	const struct pp_replay_delay *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->step > y->step) - (x->step < y->step);
}

void pp_replay_sort_delays(struct pp_replay_model *model)
{
	if (model->delays->len)
		qsort(model->delays->data, model->delays->len, sizeof(struct pp_replay_delay),
		      compare_delays);
}

guint pp_replay_find_delay(const struct pp_replay_model *model, uint32_t thread, uint32_t step)
{
	const struct pp_replay_delay key = {.thread = thread, .step = step};
	guint low = 0, high = model->delays->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (compare_delays(&g_array_index(model->delays, struct pp_replay_delay, middle),
				   &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int compare_accesses(const void *a, const void *b)
{
	const struct pp_replay_access *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->step > y->step) - (x->step < y->step);
}

const struct pp_replay_access *pp_replay_find_access(const struct pp_replay_model *model,
						     uint32_t thread, uint32_t step)
{
	const struct pp_replay_access key = {.thread = thread, .step = step};

	return model->accesses->len ? bsearch(&key, model->accesses->data, model->accesses->len,
					      sizeof(key), compare_accesses)
				    : NULL;
}

uint64_t pp_replay_n_steps(const struct pp_replay_model *model)
{
	uint64_t n = 0;

	for (guint i = 0; i < model->threads->len; i++)
		n += ((const struct pp_replay_thread *)model->threads->pdata[i])->steps->len;
	return n;
}

/* --- checks ----------------------------------------------------------------------------------- */

static struct pp_replay_step *step_at(const struct pp_replay_model *model, uint32_t thread,
				      uint32_t step)
{
	const struct pp_replay_thread *of =
	    thread < model->threads->len ? model->threads->pdata[thread] : NULL;

	return of && step < of->steps->len ? &g_array_index(of->steps, struct pp_replay_step, step)
					   : NULL;
}

static bool is_object(const struct pp_replay_model *model, uint32_t number,
		      enum pp_replay_object_kind kind)
{
	return number < model->objects->len &&
	       ((const struct pp_replay_object *)model->objects->pdata[number])->kind == kind;
}

/* Returns what is wrong with the step, or NULL. */
static const char *check_step(struct pp_replay_model *model, const struct pp_replay_step *step,
			      bool is_last)
{
	struct pp_replay_step *awaited;

	if (is_last != (step->kind == PP_REPLAY_EXIT))
		return is_last ? "the last step is no exit" : "steps follow the exit";
	if (step->site > model->sites->len)
		return "no such call site";
	switch (step->kind) {
	case PP_REPLAY_LOCK:
	case PP_REPLAY_LOCK_SPIN:
	case PP_REPLAY_RDLOCK:
	case PP_REPLAY_UNLOCK:
		return is_object(model, step->object, PP_REPLAY_OBJECT_LOCK) ? NULL
									     : "no such lock";
	case PP_REPLAY_SEM_WAIT:
	case PP_REPLAY_SEM_POST:
		return is_object(model, step->object, PP_REPLAY_OBJECT_SEM) ? NULL
									    : "no such semaphore";
	case PP_REPLAY_BARRIER:
		return is_object(model, step->object, PP_REPLAY_OBJECT_BARRIER) ? NULL
										: "no such barrier";
	case PP_REPLAY_NOTIFY:
	case PP_REPLAY_NOTIFIED:
		return is_object(model, step->object, PP_REPLAY_OBJECT_COND) ? NULL
									     : "no such condition";
	case PP_REPLAY_AWAIT:
		awaited = step_at(model, step->of.thread, step->of.step);
		if (!awaited)
			return "no such step to await";
		awaited->awaited = true;
		return NULL;
	case PP_REPLAY_CREATE:
		if (step->thread >= model->threads->len)
			return "no such thread to create";
		return ((const struct pp_replay_thread *)model->threads->pdata[step->thread])
			       ->has_creator
			   ? NULL
			   : "a thread that is created has a start, too";
	default:
		return step->kind < PP_REPLAY_N_KINDS ? NULL : "no such operation";
	}
}

/* Adds up all times of the model; false: they are too long. */
static bool add_times(const struct pp_replay_model *model, uint64_t *ret_ns)
{
	const struct pp_contention_costs *costs = &model->costs;
	uint64_t per_step_ns = (uint64_t)(pp_replay_longest_wake(model) + costs->block_ns +
					  costs->retry_ns + costs->release_ns + costs->wake_up_ns);
	uint64_t sum_ns = 0;

	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		sum_ns += (uint64_t)MAX(thread->start_ns, 0);
		for (guint k = 0; k < thread->steps->len && sum_ns <= PP_REPLAY_LONGEST_NS; k++) {
			const struct pp_replay_step *step =
			    &g_array_index(thread->steps, struct pp_replay_step, k);

			sum_ns += MIN(step->cpu_ns, PP_REPLAY_LONGEST_NS) + per_step_ns;
			if (step->kind == PP_REPLAY_SLEEP)
				sum_ns += MIN(step->sleep_ns, PP_REPLAY_LONGEST_NS);
		}
		if (sum_ns > PP_REPLAY_LONGEST_NS)
			return false;
	}
	for (guint i = 0; i < model->delays->len && sum_ns <= PP_REPLAY_LONGEST_NS; i++)
		sum_ns += MIN((uint64_t)g_array_index(model->delays, struct pp_replay_delay, i).ns,
			      PP_REPLAY_LONGEST_NS);
	*ret_ns = sum_ns;
	return sum_ns <= PP_REPLAY_LONGEST_NS;
}

/* So that no time overflows, and no simulation has more turns than it can do. */
static char *check_times(const struct pp_replay_model *model)
{
	const struct pp_contention_costs *costs = &model->costs;
	uint64_t sum_ns;

	if (pp_replay_longest_wake(model) > PP_REPLAY_LONGEST_WAKE_NS)
		return g_strdup("wake: more than 1 s");
	for (uint32_t i = 1; i < model->n_wakes; i++)
		if (model->wake_ns[i] < model->wake_ns[i - 1])
			return g_strdup("wake: its times fall");
	if (MAX(MAX(costs->block_ns, costs->retry_ns), MAX(costs->release_ns, costs->wake_up_ns)) >
	    PP_REPLAY_LONGEST_WAKE_NS)
		return g_strdup("costs: more than 1 s");
	if (model->recording_ns > PP_REPLAY_LONGEST_WAKE_NS)
		return g_strdup("recording: more than 1 s");
	if (model->others > PP_REPLAY_MOST_OTHERS)
		return g_strdup("others: more than 1000 threads");
	if (!add_times(model, &sum_ns))
		return g_strdup("its times add up to more than 13 days");
	if (model->quantum_ns <= 0 || sum_ns / (uint64_t)model->quantum_ns > PP_REPLAY_MOST_TURNS)
		return g_strdup("quantum: too short for these times");
	return NULL;
}

char *pp_replay_check(struct pp_replay_model *model)
{
	if (!model->threads->len)
		return g_strdup("the model has no threads");
	if (!model->n_cpus)
		return g_strdup("the model has no CPUs");
	for (guint i = 0; i < model->objects->len; i++) {
		const struct pp_replay_object *object = model->objects->pdata[i];

		if (object->kind == PP_REPLAY_OBJECT_BARRIER && !object->count)
			return g_strdup_printf("object %u: a barrier of 0 threads", i);
	}
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		if (!thread->steps->len)
			return g_strdup_printf("thread %u: no steps", i);
		for (guint k = 0; k < thread->steps->len; k++) {
			const char *wrong =
			    check_step(model, step_at(model, i, k), k + 1 == thread->steps->len);

			if (wrong)
				return g_strdup_printf("thread %u, step %u: %s", i, k, wrong);
		}
	}
	for (guint i = 0; i < model->shares->len; i++) {
		const struct pp_replay_share *share =
		    &g_array_index(model->shares, struct pp_replay_share, i);

		if (share->site != PP_REPLAY_OUTSIDE && share->site > model->sites->len)
			return g_strdup_printf("share of %s: no such call site", share->function);
		if (share->in_ns > share->all_ns)
			return g_strdup_printf("share of %s: more than all", share->function);
	}
	return check_times(model);
}
