/* SPDX-License-Identifier: MIT */
/*
 * A function takes less time: so do all steps, by the function's part of the CPU time where they
 * are, in sections entered at one call site or outside of sections.
 */
#include <errno.h>
#include <string.h>

#include "replay/change/internal.h"
#include "replay/sections.h"

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

int pp_change_faster(const struct pp_change *change, struct pp_replay_model *model,
		     GPtrArray *notes, struct pp_error *err)
{
	g_autofree double *of_site = g_new0(double, model->sites->len + 1);
	struct parts parts = {.of_site = of_site};

	if (!find_parts(change, model, &parts))
		return pp_error_add(err, -ENODATA,
				    "%s: the CPU time of functions is not known: record with "
				    "sample.hz and sample.stacks=on, and give the capture",
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
