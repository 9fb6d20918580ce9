/* SPDX-License-Identifier: MIT */
/* The ranks of an object's acquisitions, sorted, are given to them in the order of their numbers.
 */
#include "replay/numbers.h"

#include <stdlib.h>

struct acquisition {
	uint32_t object, at;
	uint64_t number;
	GArray *steps;
	bool is_shared;
};

struct pp_replay_numbers {
	GArray *acquisitions; /* of struct acquisition, in the order of time */
};

struct pp_replay_numbers *pp_replay_numbers_new(void)
{
	struct pp_replay_numbers *self = g_new(struct pp_replay_numbers, 1);

	self->acquisitions = g_array_new(FALSE, FALSE, sizeof(struct acquisition));
	return self;
}

void pp_replay_numbers_free(struct pp_replay_numbers *self)
{
	g_array_unref(self->acquisitions);
	g_free(self);
}

void pp_replay_numbers_add(struct pp_replay_numbers *self, uint32_t object, uint64_t number,
			   bool is_shared, GArray *steps, uint32_t at)
{
	struct acquisition acquisition = {object, at, number, steps, is_shared};

	g_array_append_val(self->acquisitions, acquisition);
}

static uint32_t *rank_of(const struct acquisition *acquisition)
{
	return &g_array_index(acquisition->steps, struct pp_replay_step, acquisition->at).rank;
}

/* Readers of one number stay in the order of time. */
static int compare_acquisitions(const void *a, const void *b)
{
	const struct acquisition *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->is_shared != y->is_shared)
		return (int)x->is_shared - (int)y->is_shared;
	return *rank_of(x) < *rank_of(y) ? -1 : *rank_of(x) > *rank_of(y);
}

static int compare_ranks(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The acquisitions of one object, sorted by their numbers. */
static void exchange(struct acquisition *acquisitions, guint n)
{
	g_autofree uint32_t *ranks = g_new(uint32_t, n);

	if (acquisitions[0].number == 0)
		return;
	for (guint i = 0; i < n; i++)
		ranks[i] = *rank_of(&acquisitions[i]);
	qsort(ranks, n, sizeof(*ranks), compare_ranks);
	for (guint i = 0; i < n; i++)
		*rank_of(&acquisitions[i]) = ranks[i];
}

void pp_replay_numbers_apply(struct pp_replay_numbers *self)
{
	struct acquisition *all = (struct acquisition *)(void *)self->acquisitions->data;
	guint n = self->acquisitions->len, first = 0;

	if (n)
		qsort(all, n, sizeof(*all), compare_acquisitions);
	for (guint i = 1; i <= n; i++) {
		if (i < n && all[i].object == all[first].object)
			continue;
		exchange(&all[first], i - first);
		first = i;
	}
}
