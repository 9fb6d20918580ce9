/* SPDX-License-Identifier: MIT */
/*
 * Sections get shorter: a part of the thread's CPU time in them is moved to before the acquisition
 * and behind the release, in equal halves. Sleeps stay where they are.
 */
#include <errno.h>

#include "replay/change/internal.h"
#include "replay/change/names.h"
#include "replay/sections.h"

struct shrink {
	const bool *sites;
	double share; /* what remains */
	uint64_t moved_ns, n_sections;
};

static void shrink_step(void *data, struct pp_replay_step *step, bool is_inside)
{
	struct shrink *shrink = data;
	uint64_t kept_ns;

	if (!is_inside)
		return;
	kept_ns = MIN((uint64_t)((double)step->cpu_ns * shrink->share), step->cpu_ns);
	shrink->moved_ns += step->cpu_ns - kept_ns;
	step->cpu_ns = kept_ns;
}

static void shrink_section(void *data, const struct pp_replay_section *section)
{
	struct shrink *shrink = data;
	GArray *steps = section->thread->steps;
	uint64_t before_ns;

	if (!shrink->sites[section->site])
		return;
	shrink->n_sections++;
	shrink->moved_ns = 0;
	pp_replay_each_step(section, shrink_step, shrink);
	before_ns = section->last + 1 < steps->len ? shrink->moved_ns / 2 : shrink->moved_ns;
	g_array_index(steps, struct pp_replay_step, section->first).cpu_ns += before_ns;
	if (section->last + 1 < steps->len)
		g_array_index(steps, struct pp_replay_step, section->last + 1).cpu_ns +=
		    shrink->moved_ns - before_ns;
}

int pp_change_shrink(const struct pp_change *change, struct pp_replay_model *model,
		     GPtrArray *notes, struct pp_error *err)
{
	g_autofree bool *sites = pp_change_find_sites(model, change->subject, err);
	struct shrink shrink = {.sites = sites, .share = change->share};

	if (!sites)
		return -ENOENT;
	pp_replay_each_section(model, shrink_section, &shrink);
	if (!shrink.n_sections)
		return pp_error_add(err, -EINVAL,
				    "'%s' changes nothing: no lock is acquired at this call site",
				    change->text);
	pp_change_note(notes, "whether that part of %s can be done without the lock is not known",
		       change->subject);
	return 0;
}
