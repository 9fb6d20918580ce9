/* SPDX-License-Identifier: MIT */
/*
 * The locks that a thread holds at a step do not depend on the other threads, so operations without
 * an effect are known before the run.
 */
#include "replay/skeleton/plan.h"

#define MOST_NAMED 4

static const char *const object_words[PP_REPLAY_N_OBJECT_KINDS] = {
    [PP_REPLAY_OBJECT_LOCK] = "lock",
    [PP_REPLAY_OBJECT_SEM] = "semaphore",
    [PP_REPLAY_OBJECT_BARRIER] = "barrier",
    [PP_REPLAY_OBJECT_COND] = "condition",
};

/* A lock that a thread holds. */
struct hold {
	uint32_t object, depth;
	bool is_shared;
};

static struct hold *find_hold(GArray *holds, uint32_t object)
{
	for (guint i = holds->len; i-- > 0;) {
		struct hold *hold = &g_array_index(holds, struct hold, i);

		if (hold->object == object)
			return hold;
	}
	return NULL;
}

/* Returns whether the thread really has to take the lock. */
static bool note_lock(GArray *holds, const struct pp_replay_step *step)
{
	struct hold *hold = find_hold(holds, step->object);
	struct hold first = {step->object, 1, step->kind == PP_REPLAY_RDLOCK};

	if (!hold) {
		g_array_append_val(holds, first);
		return true;
	}
	hold->depth++;
	return hold->is_shared;
}

static bool note_unlock(GArray *holds, const struct pp_replay_step *step)
{
	struct hold *hold = find_hold(holds, step->object);
	bool is_real = hold && (hold->is_shared || hold->depth == 1);

	if (hold && --hold->depth == 0)
		g_array_remove_index_fast(holds, (guint)(hold - (struct hold *)holds->data));
	return is_real;
}

/* Returns the number of locks that the thread holds at a time, at most. */
static uint32_t prepare_thread(struct pp_replay_step *steps, guint n, bool *is_created)
{
	guint most = 0;

	g_autoptr(GArray) holds = g_array_new(FALSE, FALSE, sizeof(struct hold));

	for (guint i = 0; i < n; i++) {
		struct pp_replay_step *step = &steps[i];
		bool is_real = true;

		if (step->kind <= PP_REPLAY_RDLOCK) {
			is_real = note_lock(holds, step);
		} else if (step->kind == PP_REPLAY_UNLOCK) {
			is_real = note_unlock(holds, step);
		} else if (step->kind == PP_REPLAY_CREATE) {
			is_real = !is_created[step->thread];
			is_created[step->thread] = true;
		}
		if (!is_real)
			step->kind = PP_REPLAY_SIGNAL;
		step->rank = PP_PLAN_NO_TURN;
		most = MAX(most, holds->len);
	}
	return most;
}

/* A read lock makes an object a read-write lock; only spin locks make it a spin lock. */
static void choose_locks(struct pp_plan *plan)
{
	const struct pp_replay_model *model = plan->model;

	for (guint i = 0; i < model->objects->len; i++)
		plan->locks[i] = PP_PLAN_SPIN;
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		for (guint k = 0; k < thread->steps->len; k++) {
			const struct pp_replay_step *step =
			    &g_array_index(thread->steps, struct pp_replay_step, k);

			if (step->kind == PP_REPLAY_RDLOCK)
				plan->locks[step->object] = PP_PLAN_RWLOCK;
			else if (step->kind == PP_REPLAY_LOCK &&
				 plan->locks[step->object] == PP_PLAN_SPIN)
				plan->locks[step->object] = PP_PLAN_MUTEX;
		}
	}
}

void pp_plan_init(struct pp_plan *plan, const struct pp_replay_model *model)
{
	g_autofree bool *is_created = g_new0(bool, model->threads->len);

	*plan = (struct pp_plan){.model = model, .order = PP_SKELETON_FREE};
	plan->steps = g_new0(struct pp_replay_step *, model->threads->len);
	plan->n_locks = g_new0(uint32_t, model->threads->len);
	plan->locks = g_new0(uint8_t, model->objects->len);
	choose_locks(plan);
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		plan->steps[i] = g_memdup2(thread->steps->data,
					   sizeof(struct pp_replay_step) * thread->steps->len);
		plan->n_locks[i] = prepare_thread(plan->steps[i], thread->steps->len, is_created);
	}
}

void pp_plan_done(struct pp_plan *plan)
{
	for (guint i = 0; plan->steps && i < plan->model->threads->len; i++)
		g_free(plan->steps[i]);
	g_free(plan->steps);
	g_free(plan->locks);
	g_free(plan->n_locks);
	*plan = (struct pp_plan){0};
}

char *pp_plan_not_created_text(guint n)
{
	return g_strdup_printf("%u %s never created", n, n == 1 ? "thread is" : "threads are");
}

static void append_wait(GString *text, const struct pp_replay_model *model,
			const struct pp_plan_stuck *stuck)
{
	const struct pp_replay_thread *thread = model->threads->pdata[stuck->thread];
	const struct pp_replay_step *step =
	    &g_array_index(thread->steps, struct pp_replay_step, stuck->step);
	const struct pp_replay_object *object = NULL;

	g_string_append_printf(text, "thread %u '%s' at step %u for ", stuck->thread, thread->name,
			       stuck->step);
	if (step->kind == PP_REPLAY_AWAIT) {
		g_string_append_printf(text, "step %u of thread %u", step->of.step,
				       step->of.thread);
		return;
	}
	if (step->kind > PP_REPLAY_BARRIER && step->kind != PP_REPLAY_NOTIFIED) {
		g_string_append(text, "its turn");
		return;
	}
	object = model->objects->pdata[step->object];
	g_string_append_printf(text, "%s '%s'", object_words[object->kind], object->name);
}

char *pp_plan_stuck_text(const struct pp_replay_model *model, const struct pp_plan_stuck *stuck,
			 size_t n)
{
	GString *text = g_string_new("");

	for (size_t i = 0; i < MIN(n, MOST_NAMED); i++) {
		g_string_append(text, i == 0 ? "" : ", ");
		append_wait(text, model, &stuck[i]);
	}
	if (n > MOST_NAMED)
		g_string_append_printf(text, ", and %zu more", n - MOST_NAMED);
	return g_string_free(text, FALSE);
}
