/* SPDX-License-Identifier: MIT */
/* Steps are copied with the waits before them; then awaited steps get their new numbers. */
#include "replay/ulcp/transform.h"

/* The waits of the thread that is copied, from `next` on. */
struct copier {
	const GArray *waits;
	guint next;
	GArray *steps; /* the new ones */
};

/* Adds the waits of a step. Returns their number. */
static uint32_t add_waits(struct copier *self, uint32_t thread, uint32_t at,
			  const struct pp_replay_step *step)
{
	uint32_t n = 0;

	for (; self->next < self->waits->len; self->next++, n++) {
		const struct pp_ulcp_wait *wait =
		    &g_array_index(self->waits, struct pp_ulcp_wait, self->next);
		struct pp_replay_step new = {.kind = PP_REPLAY_AWAIT, .site = step->site};

		if (wait->thread != thread || wait->step != at)
			break;
		new.of.thread = wait->of.thread;
		new.of.step = wait->of.step;
		if (n == 0) {
			new.cpu_ns = step->cpu_ns;
			new.rank = step->rank;
		}
		g_array_append_val(self->steps, new);
	}
	return n;
}

static void copy_step(struct copier *self, uint32_t thread, uint32_t at,
		      const struct pp_replay_step *step)
{
	uint32_t n_waits = add_waits(self, thread, at, step);
	struct pp_replay_step copy = *step;
	bool is_on_lock = step->kind <= PP_REPLAY_UNLOCK;

	if (is_on_lock && n_waits)
		return;
	if (is_on_lock)
		copy = (struct pp_replay_step){.kind = PP_REPLAY_SIGNAL,
					       .cpu_ns = step->cpu_ns,
					       .site = step->site,
					       .rank = step->rank};
	if (n_waits) {
		copy.cpu_ns = 0;
		copy.rank = PP_REPLAY_NO_RANK;
	}
	g_array_append_val(self->steps, copy);
}

static void copy_thread(struct copier *self, const struct pp_replay_thread *from, uint32_t number,
			uint32_t *ret_steps)
{
	for (uint32_t i = 0; i < from->steps->len; i++) {
		copy_step(self, number, i, &g_array_index(from->steps, struct pp_replay_step, i));
		ret_steps[i] = self->steps->len - 1;
	}
}

static void renumber_awaited(const struct pp_ulcp_result *result)
{
	for (guint i = 0; i < result->n_threads; i++) {
		GArray *steps =
		    ((struct pp_replay_thread *)result->model->threads->pdata[i])->steps;

		for (guint k = 0; k < steps->len; k++) {
			struct pp_replay_step *step =
			    &g_array_index(steps, struct pp_replay_step, k);

			if (step->kind == PP_REPLAY_AWAIT)
				step->of.step = result->steps[step->of.thread][step->of.step];
		}
	}
	/* marks the steps that are awaited now */
	g_free(pp_replay_check(result->model));
}

void pp_ulcp_transform(const struct pp_replay_model *model, const GArray *waits,
		       struct pp_ulcp_result *ret)
{
	struct copier copier = {.waits = waits};

	ret->n_threads = model->threads->len;
	ret->model = pp_replay_model_copy(model);
	ret->steps = g_new0(uint32_t *, ret->n_threads);
	g_array_set_size(ret->model->accesses, 0);
	for (guint i = 0; i < ret->n_threads; i++) {
		struct pp_replay_thread *to = ret->model->threads->pdata[i];
		const struct pp_replay_thread *from = model->threads->pdata[i];

		ret->steps[i] = g_new(uint32_t, from->steps->len);
		copier.steps = to->steps;
		g_array_set_size(to->steps, 0);
		copy_thread(&copier, from, i, ret->steps[i]);
	}
	renumber_awaited(ret);
}

void pp_ulcp_result_done(struct pp_ulcp_result *result)
{
	g_clear_pointer(&result->model, pp_replay_model_free);
	for (guint i = 0; result->steps && i < result->n_threads; i++)
		g_free(result->steps[i]);
	g_clear_pointer(&result->steps, g_free);
}
