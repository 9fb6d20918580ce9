/* SPDX-License-Identifier: MIT */
/* Steps are copied with the waits before them; then awaited steps get their new numbers. */
#include "replay/ulcp/transform.h"

/* The waits that have not been added yet, from `next` on. */
struct waiting {
	const GArray *waits;
	guint next;
};

void pp_ulcp_add_step(GArray *steps, const struct pp_replay_step *step, bool is_first,
		      struct pp_replay_step new)
{
	new.site = step->site;
	new.cpu_ns = is_first ? step->cpu_ns : 0;
	new.rank = is_first ? step->rank : PP_REPLAY_NO_RANK;
	g_array_append_val(steps, new);
}

static void copy_step(void *data, GArray *steps, uint32_t thread, uint32_t at,
		      const struct pp_replay_step *step)
{
	struct waiting *self = data;
	bool is_on_lock = step->kind <= PP_REPLAY_UNLOCK, is_first = true;
	const struct pp_ulcp_wait *wait;

	for (; self->next < self->waits->len; self->next++, is_first = false) {
		wait = &g_array_index(self->waits, struct pp_ulcp_wait, self->next);
		if (wait->thread != thread || wait->step != at)
			break;
		pp_ulcp_add_step(steps, step, is_first,
				 (struct pp_replay_step){.kind = PP_REPLAY_AWAIT,
							 .of = {wait->of.thread, wait->of.step}});
	}
	if (!is_on_lock)
		pp_ulcp_add_step(steps, step, is_first, *step);
	else if (is_first)
		pp_ulcp_add_step(steps, step, true,
				 (struct pp_replay_step){.kind = PP_REPLAY_SIGNAL});
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

void pp_ulcp_copy(const struct pp_replay_model *model, const struct pp_ulcp_copier *copier,
		  struct pp_ulcp_result *ret)
{
	ret->n_threads = model->threads->len;
	ret->model = pp_replay_model_copy(model);
	ret->steps = g_new0(uint32_t *, ret->n_threads);
	g_array_set_size(ret->model->accesses, 0);
	for (guint i = 0; i < ret->n_threads; i++) {
		GArray *to = ((struct pp_replay_thread *)ret->model->threads->pdata[i])->steps;
		const GArray *from =
		    ((const struct pp_replay_thread *)model->threads->pdata[i])->steps;

		ret->steps[i] = g_new(uint32_t, from->len);
		g_array_set_size(to, 0);
		for (uint32_t k = 0; k < from->len; k++) {
			copier->copy(copier->data, to, i, k,
				     &g_array_index(from, struct pp_replay_step, k));
			ret->steps[i][k] = to->len - 1;
		}
	}
	renumber_awaited(ret);
}

void pp_ulcp_transform(const struct pp_replay_model *model, const GArray *waits,
		       struct pp_ulcp_result *ret)
{
	struct waiting waiting = {.waits = waits};

	pp_ulcp_copy(model, &(struct pp_ulcp_copier){copy_step, &waiting}, ret);
}

void pp_ulcp_result_done(struct pp_ulcp_result *result)
{
	g_clear_pointer(&result->model, pp_replay_model_free);
	for (guint i = 0; result->steps && i < result->n_threads; i++)
		g_free(result->steps[i]);
	g_clear_pointer(&result->steps, g_free);
}
