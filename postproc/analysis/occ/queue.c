/* SPDX-License-Identifier: MIT */
/* See queue.h. */
#include "analysis/occ/queue.h"

/*
 * Returns for a waiting thread the acquisitions before its wait, without those of the holders at
 * that time; modulo 2^64, since a holder's own acquisition may not have been recorded.
 */
static uint64_t *before_of(struct pp_occ_queue *self, unsigned number)
{
	unsigned position = pp_occ_numbers_get(&self->numbers, number);

	if (!self->before)
		self->before = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	if (position == self->before->len) {
		g_array_set_size(self->before, position + 1);
		g_array_index(self->before, uint64_t, position) = self->n;
	}
	return &g_array_index(self->before, uint64_t, position);
}

void pp_occ_queue_done(struct pp_occ_queue *self)
{
	if (self->before)
		g_array_unref(self->before);
	pp_occ_numbers_done(&self->numbers);
	*self = (struct pp_occ_queue){0};
}

void pp_occ_queue_waits(struct pp_occ_queue *self, unsigned number, unsigned n_holders)
{
	*before_of(self, number) = self->n - n_holders;
}

uint64_t pp_occ_queue_ends(struct pp_occ_queue *self, unsigned number)
{
	uint64_t n_holders = self->n - *before_of(self, number);

	*before_of(self, number) = self->n;
	return MAX(n_holders, 1);
}

void pp_occ_queue_acquired(struct pp_occ_queue *self)
{
	self->n++;
}
