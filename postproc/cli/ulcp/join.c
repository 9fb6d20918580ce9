/* SPDX-License-Identifier: MIT */
/* Threads are numbered by creation, so the threads of both runs have the same numbers. */
#include "cli/ulcp/join.h"

#include <errno.h>
#include <string.h>

#define ADVICE "use one capture with accesses for both"

static void set_done(void *data)
{
	pp_access_set_unref(((struct pp_replay_set *)data)->set);
}

/* Returns the thread's next acquisition from *at on; NULL: there is none. */
static const struct pp_replay_step *next_acquisition(const struct pp_replay_thread *thread,
						     uint32_t *at)
{
	for (; *at < thread->steps->len; ++*at) {
		const struct pp_replay_step *step =
		    &g_array_index(thread->steps, struct pp_replay_step, *at);

		if (pp_replay_acquires(step->kind))
			return step;
	}
	return NULL;
}

static const char *site_name(const struct pp_replay_model *model, const struct pp_replay_step *step)
{
	return step->site == PP_REPLAY_NO_SITE ? "" : model->sites->pdata[step->site - 1];
}

static int add_thread(GArray *joined, const struct pp_replay_model *timing,
		      const struct pp_replay_model *accesses, const GArray *sets, uint32_t number,
		      struct pp_error *err)
{
	const struct pp_replay_thread *a = timing->threads->pdata[number];
	const struct pp_replay_thread *b = accesses->threads->pdata[number];
	uint32_t at_a = 0, at_b = 0;

	for (uint32_t k = 1;; k++, at_a++, at_b++) {
		const struct pp_replay_step *x = next_acquisition(a, &at_a);
		const struct pp_replay_step *y = next_acquisition(b, &at_b);
		struct pp_replay_set set = {.thread = number, .step = at_a};

		if (!x && !y)
			return 0;
		if (!x || !y || strcmp(site_name(timing, x), site_name(accesses, y)) != 0)
			return pp_error_add(err, -EINVAL,
					    "the runs differ: acquisition %u of thread %u '%s' is "
					    "at %s in one and at %s in the other: " ADVICE,
					    k, number, a->name,
					    x ? site_name(timing, x) : "no site",
					    y ? site_name(accesses, y) : "no site");
		set.set = pp_replay_find_set(sets, number, at_b);
		if (set.set)
			pp_access_set_ref(set.set);
		g_array_append_val(joined, set);
	}
}

GArray *pp_cli_ulcp_join(const struct pp_replay_model *timing,
			 const struct pp_replay_model *accesses, const GArray *sets,
			 struct pp_error *err)
{
	GArray *joined = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_set));
	int rc = 0;

	g_array_set_clear_func(joined, set_done);
	if (timing->threads->len != accesses->threads->len)
		rc = pp_error_add(err, -EINVAL,
				  "the runs differ: they have %u and %u threads: " ADVICE,
				  timing->threads->len, accesses->threads->len);
	for (uint32_t i = 0; rc == 0 && i < timing->threads->len; i++)
		rc = add_thread(joined, timing, accesses, sets, i, err);
	if (rc)
		g_clear_pointer(&joined, g_array_unref);
	return joined;
}
