/* SPDX-License-Identifier: MIT */
/* Each thread is followed in the result, with the last step of each other one that it awaited. */
#include "replay/order_check/check.h"

#include <stdlib.h>

#include "replay/order_check/internal.h"

static int compare_needs(const void *a, const void *b)
{
	const struct pp_order_need *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Notes the waits of the thread up to the step. awaited: by thread, number + 1 of the last step. */
static void pass(const struct pp_order_claim *claim, uint32_t thread, uint32_t *at, uint32_t end,
		 uint32_t *awaited)
{
	for (; *at <= end; ++*at) {
		const struct pp_replay_step *step = pp_order_step(claim->result, thread, *at);

		if (step->kind == PP_REPLAY_AWAIT)
			awaited[step->of.thread] = MAX(awaited[step->of.thread], step->of.step + 1);
	}
}

static char *check_needs(const struct pp_order_claim *claim, GArray *needs)
{
	guint n_threads = claim->original->threads->len;
	g_autofree uint32_t *awaited = g_new0(uint32_t, n_threads);
	uint32_t thread = UINT32_MAX, at = 0;

	if (needs->len)
		qsort(needs->data, needs->len, sizeof(struct pp_order_need), compare_needs);
	for (guint i = 0; i < needs->len; i++) {
		const struct pp_order_need *need = &g_array_index(needs, struct pp_order_need, i);

		if (need->thread != thread) {
			for (guint k = 0; k < n_threads; k++)
				awaited[k] = 0;
			thread = need->thread;
			at = 0;
		}
		pass(claim, thread, &at, claim->steps[thread][need->first], awaited);
		if (awaited[need->of.thread] <= claim->steps[need->of.thread][need->of.last])
			return g_strdup_printf(
			    "thread %u, step %u: it does not wait for step %u of "
			    "thread %u, with which it conflicts",
			    thread, need->first, need->of.last, need->of.thread);
	}
	return NULL;
}

char *pp_order_check(const struct pp_order_claim *claim)
{
	g_autoptr(GArray) parts = pp_order_parts(claim);
	g_autoptr(GArray) needs = NULL;
	char *wrong = pp_order_check_steps(claim, parts);

	if (wrong)
		return wrong;
	needs = pp_order_needs(parts, claim->original->threads->len);
	return check_needs(claim, needs);
}
