/* SPDX-License-Identifier: MIT */
/*
 * Sections get shorter: a part of the thread's CPU time in them is moved to before the acquisition
 * and behind the release. This part is given, and moved in equal halves; or it is that before the
 * first and behind the last conflict. Sleeps stay where they are.
 */
#include <errno.h>
#include <inttypes.h>

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

/* --- to conflicts ----------------------------------------------------------------------------- */

/* CPU time in a section: it is passed from the begin on, and only a part of it is kept. */
struct span {
	const bool *sites;
	const struct pp_replay_model *model;
	uint64_t from_ns, to_ns; /* kept */
	uint64_t at_ns;		 /* passed */
	uint64_t all_ns, kept_ns;
	uint64_t n_sections, n_unknown;
};

static void add_step(void *data, struct pp_replay_step *step, bool is_inside)
{
	struct span *span = data;

	span->at_ns += is_inside ? step->cpu_ns : 0;
}

static void keep_step(void *data, struct pp_replay_step *step, bool is_inside)
{
	struct span *span = data;
	uint64_t begin_ns = MAX(span->at_ns, span->from_ns);
	uint64_t end_ns = MIN(span->at_ns + step->cpu_ns, span->to_ns);

	if (!is_inside)
		return;
	span->at_ns += step->cpu_ns;
	step->cpu_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/* The time behind the last conflict is moved behind the section, unless the thread ends in it. */
static void keep_conflicts(void *data, const struct pp_replay_section *section)
{
	struct span *span = data;
	GArray *steps = section->thread->steps;
	const struct pp_replay_access *access;
	uint32_t behind = section->last + 1 < steps->len ? section->last + 1 : section->first;
	uint64_t cpu_ns;

	if (!span->sites[section->site])
		return;
	span->n_sections++;
	access = pp_replay_find_access(span->model, section->number, section->first);
	if (!access || !access->has_span || section->waits) {
		span->n_unknown++;
		return;
	}
	span->at_ns = 0;
	pp_replay_each_step(section, add_step, span);
	cpu_ns = span->at_ns;
	span->from_ns = (uint64_t)(access->from * (double)cpu_ns + 0.5);
	span->to_ns = (uint64_t)(access->to * (double)cpu_ns + 0.5);
	span->at_ns = 0;
	pp_replay_each_step(section, keep_step, span);
	g_array_index(steps, struct pp_replay_step, section->first).cpu_ns += span->from_ns;
	g_array_index(steps, struct pp_replay_step, behind).cpu_ns += cpu_ns - span->to_ns;
	span->all_ns += cpu_ns;
	span->kept_ns += span->to_ns - span->from_ns;
}

static int shrink_to_conflicts(const struct pp_change *change, struct pp_replay_model *model,
			       const bool *sites, GPtrArray *notes, struct pp_error *err)
{
	struct span span = {.sites = sites, .model = model};

	pp_replay_each_section(model, keep_conflicts, &span);
	if (span.n_unknown == span.n_sections)
		return pp_error_add(err, -ENODATA,
				    "'%s': of none of the %" PRIu64
				    " sections it is known where they conflict with others; "
				    "gprof-mt-predict(1) tells how to record accesses",
				    change->text, span.n_sections);
	pp_change_note(notes,
		       "%s: %.1f %% of the CPU time in its sections is from the first to the last "
		       "conflict with another section, if their accesses are spread evenly over "
		       "that time, and other runs have the same conflicts",
		       change->subject, 100 * (double)span.kept_ns / (double)MAX(span.all_ns, 1));
	if (span.n_unknown)
		pp_change_note(
		    notes,
		    "sections that stay as they are, since they wait for a condition, or "
		    "their accesses are not known: %" PRIu64 " of %" PRIu64,
		    span.n_unknown, span.n_sections);
	return 0;
}

int pp_change_shrink(const struct pp_change *change, struct pp_replay_model *model,
		     GPtrArray *notes, struct pp_error *err)
{
	g_autofree bool *sites = pp_change_find_sites(model, change->subject, err);
	struct shrink shrink = {.sites = sites, .share = change->share};

	if (!sites)
		return -ENOENT;
	if (change->to_conflicts)
		return shrink_to_conflicts(change, model, sites, notes, err);
	pp_replay_each_section(model, shrink_section, &shrink);
	if (!shrink.n_sections)
		return pp_error_add(err, -EINVAL,
				    "'%s' changes nothing: no lock is acquired at this call site",
				    change->text);
	pp_change_note(notes, "whether that part of %s can be done without the lock is not known",
		       change->subject);
	return 0;
}
