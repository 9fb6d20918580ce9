/* SPDX-License-Identifier: MIT */
/* Compares what the runs of a pair of sections have left behind, in both orders. */
#include "replay/reverse/verdict.h"

/* The digests at the end of a run. Bytes of one section alone count if all runs have them. */
struct left {
	uint64_t both, of_first, of_second; /* first and second as recorded */
};

static struct left left_by(const struct pp_reversal_run *run, bool has_own)
{
	const struct st_schedule_digests *digests = &run->digests;

	if (!has_own)
		return (struct left){digests->after, 0, 0};
	return (struct left){digests->after,
			     run->is_reversed ? digests->of_second : digests->of_first,
			     run->is_reversed ? digests->of_first : digests->of_second};
}

static bool is_equal(const struct left *a, const struct left *b)
{
	return a->both == b->both && a->of_first == b->of_first && a->of_second == b->of_second;
}

/* A recorded write that is not redundant changes a byte; if none does, others were read. */
static bool is_elsewhere(const struct pp_reversal_run *run)
{
	const struct st_schedule_digests *digests = &run->digests;

	return !run->has_bytes || digests->n_unread != 0 ||
	       (!run->is_reversed && digests->before == digests->between &&
		digests->between == digests->after);
}

enum pp_reversal_verdict pp_reversal_verdict(const struct pp_reversal_run *runs, unsigned n)
{
	const struct pp_reversal_run *of_order[2] = {0};
	struct left left[2];
	bool has_own = true, is_stable = true;

	for (unsigned i = 0; i < n; i++) {
		if (is_elsewhere(&runs[i]))
			return PP_REVERSAL_ELSEWHERE;
		has_own &= runs[i].has_own;
		of_order[runs[i].is_reversed] = &runs[i];
	}
	if (!of_order[0] || !of_order[1])
		return PP_REVERSAL_STUCK;
	for (unsigned i = 0; i < 2; i++)
		left[i] = left_by(of_order[i], has_own);
	for (unsigned i = 0; i < n; i++) {
		struct left here = left_by(&runs[i], has_own);

		is_stable &= runs[i].digests.before == runs[0].digests.before &&
			     is_equal(&here, &left[runs[i].is_reversed]);
	}
	if (!is_stable)
		return PP_REVERSAL_UNSTABLE;
	return is_equal(&left[0], &left[1]) ? PP_REVERSAL_SAME : PP_REVERSAL_DIFFERENT;
}
