/* SPDX-License-Identifier: MIT */
/*
 * A function takes less time: so do all steps, by the function's part of their CPU time. The
 * history of calls tells it of each step; samples only of all steps in sections entered at one call
 * site, and of those outside of sections.
 */
#include <errno.h>
#include <string.h>

#include "replay/change/internal.h"
#include "replay/sections.h"

/* --- by calls --------------------------------------------------------------------------------- */

/* Returns the function whose calls are known; NULL: they are not. */
static const struct pp_replay_function *find_function(const struct pp_change *change,
						      const struct pp_replay_model *model,
						      uint32_t *ret_number)
{
	for (*ret_number = 0; *ret_number < model->functions->len; ++*ret_number) {
		const struct pp_replay_function *function =
		    &g_array_index(model->functions, struct pp_replay_function, *ret_number);

		if (strcmp(function->name, change->subject) == 0)
			return function;
	}
	return NULL;
}

static uint64_t sum_cpu(const struct pp_replay_model *model)
{
	uint64_t sum_ns = 0;

	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		for (guint k = 0; k < thread->steps->len; k++)
			sum_ns += g_array_index(thread->steps, struct pp_replay_step, k).cpu_ns;
	}
	return sum_ns;
}

static void speed_up_calls(const struct pp_change *change, struct pp_replay_model *model,
			   uint32_t function, GPtrArray *notes)
{
	double all_ns = (double)MAX(sum_cpu(model), 1), in_ns = 0;

	for (guint i = 0; i < model->parts->len; i++) {
		const struct pp_replay_function_part *part =
		    &g_array_index(model->parts, struct pp_replay_function_part, i);
		const struct pp_replay_thread *thread = model->threads->pdata[part->thread];
		struct pp_replay_step *step =
		    &g_array_index(thread->steps, struct pp_replay_step, part->step);
		double ns = (double)step->cpu_ns * part->share;

		if (part->function != function)
			continue;
		in_ns += ns;
		step->cpu_ns -= MIN((uint64_t)(ns * change->share + 0.5), step->cpu_ns);
	}
	pp_change_note(notes,
		       "by the history of calls, %.1f %% of the CPU time is in %s and the "
		       "functions that it calls, with the cost of recording calls",
		       100 * in_ns / all_ns, change->subject);
}

/* --- by samples ------------------------------------------------------------------------------- */

struct parts {
	double *of_site; /* by call site */
	double outside;
	uint64_t in_ns, all_ns;
};

static bool find_parts(const struct pp_change *change, const struct pp_replay_model *model,
		       struct parts *parts)
{
	bool is_found = false;

	for (guint i = 0; i < model->shares->len; i++) {
		const struct pp_replay_share *share =
		    &g_array_index(model->shares, struct pp_replay_share, i);
		double part = (double)share->in_ns / (double)MAX(share->all_ns, 1);

		if (strcmp(share->function, change->subject) != 0)
			continue;
		is_found = true;
		parts->in_ns += share->in_ns;
		parts->all_ns += share->all_ns;
		if (share->site == PP_REPLAY_OUTSIDE)
			parts->outside = part;
		else
			parts->of_site[share->site] = part;
	}
	return is_found;
}

static void speed_up(const struct pp_replay_thread *thread, const struct parts *parts, double less)
{
	g_autofree uint32_t *enclosing = pp_replay_find_enclosing(thread);

	for (guint i = 0; i < thread->steps->len; i++) {
		struct pp_replay_step *step =
		    &g_array_index(thread->steps, struct pp_replay_step, i);
		double part = parts->outside;

		if (enclosing[i] != PP_REPLAY_NO_STEP)
			part = parts->of_site[g_array_index(thread->steps, struct pp_replay_step,
							    enclosing[i])
						  .site];
		step->cpu_ns -= MIN((uint64_t)((double)step->cpu_ns * part * less), step->cpu_ns);
	}
}

static int speed_up_samples(const struct pp_change *change, struct pp_replay_model *model,
			    GPtrArray *notes, struct pp_error *err)
{
	g_autofree double *of_site = g_new0(double, model->sites->len + 1);
	struct parts parts = {.of_site = of_site};

	if (!find_parts(change, model, &parts))
		return pp_error_add(
		    err, -ENODATA,
		    "%s: the CPU time of functions is not known: record with "
		    "sample.hz and sample.stacks=on, or with calls.mode=history and "
		    "returns, and give the capture",
		    change->subject);
	if (!parts.in_ns)
		return pp_error_add(err, -ENOENT,
				    "'%s' changes nothing: no sample is in this function; see "
				    "gprof-mt report calltree",
				    change->text);
	for (guint i = 0; i < model->threads->len; i++)
		speed_up(model->threads->pdata[i], &parts, change->share);
	pp_change_note(notes,
		       "by samples, %.1f %% of the CPU time is in %s and the functions that it "
		       "calls",
		       100 * (double)parts.in_ns / (double)parts.all_ns, change->subject);
	return 0;
}

int pp_change_faster(const struct pp_change *change, struct pp_replay_model *model,
		     GPtrArray *notes, struct pp_error *err)
{
	uint32_t number;
	const struct pp_replay_function *function = find_function(change, model, &number);

	if (!function || (!function->n_calls && model->shares->len))
		return speed_up_samples(change, model, notes, err);
	if (!function->n_calls)
		return pp_error_add(err, -ENOENT,
				    "'%s' changes nothing: the history has no call of this "
				    "function; see gprof-mt report flat",
				    change->text);
	speed_up_calls(change, model, number, notes);
	return 0;
}
