/* SPDX-License-Identifier: MIT */
/*
 * Sampled call paths: of 1 in N acquisitions that did not wait ([sync] path_sample).
 *
 * Each thread counts its acquisitions down, from a number drawn at random from 0 to 2 N - 2, anew
 * for each sample. So each acquisition has the same chance of 1 in N, whatever period the program's
 * loops have, and whichever locks it takes in turn. The count is the same for all types of objects,
 * and does not depend on time: a path that takes a lock often in a short time has its share.
 *
 * The countdown is the only work on the fast paths. A sampled acquisition takes the slow path, and
 * is an event also where others are only counted.
 */
#include "record/internal.h"

uint32_t st_path_sample;

/* xorshift32: never 0 */
static uint32_t draw(struct st_thread *self)
{
	uint32_t x = self->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	self->random = x;
	return x;
}

static void arm(struct st_thread *self)
{
	uint32_t period = st_path_sample;

	if (period == 0 || st_path_wait_ns == UINT64_MAX || self->only_ust ||
	    self->ust_counts != NULL) {
		self->until_sample = INT32_MAX;
		return;
	}
	self->until_sample = (int32_t)((uint64_t)draw(self) * (2 * (uint64_t)period - 1) >> 32);
}

void st_sample_start(struct st_thread *self)
{
	static uint32_t n_started;
	uint32_t n = __atomic_add_fetch(&n_started, 1, __ATOMIC_RELAXED);

	if (self->random == 0)
		self->random = (n ^ (uint32_t)(self->stream.tid << 16)) * 0x9e3779b1u | 1;
	arm(self);
}

void st_sample_note(struct st_thread *self, uintptr_t site, const void *object, uint64_t now_ns)
{
	bool is_armed = st_path_sample != 0 && self->ust_counts == NULL;

	arm(self);
	if (is_armed)
		st_path_note(self, site, object, ST_SAMPLED, now_ns);
}
