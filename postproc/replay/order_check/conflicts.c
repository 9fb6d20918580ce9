/* SPDX-License-Identifier: MIT */
/* The lines of both sets are compared in the order of their addresses. */
#include "replay/order_check/internal.h"

static bool lines_conflict(const struct pp_access_line *a, const struct pp_access_line *b)
{
	uint64_t changed_a = a->written & a->changed, changed_b = b->written & b->changed;

	return (changed_a & (b->read | b->written)) || (changed_b & (a->read | a->written));
}

bool pp_order_conflict(const struct pp_order_part *a, const struct pp_order_part *b)
{
	unsigned i = 0, k = 0;

	if (a->shared && b->shared)
		return false;
	if (!a->set || !b->set)
		return true;
	while (i < a->set->n && k < b->set->n) {
		const struct pp_access_line *x = &a->set->lines[i], *y = &b->set->lines[k];

		if (x->address == y->address && lines_conflict(x, y))
			return true;
		i += x->address <= y->address;
		k += y->address <= x->address;
	}
	return false;
}
