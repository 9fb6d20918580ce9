/* SPDX-License-Identifier: MIT */
/*
 * Sorts ranges, outer before inner.  To find the innermost range, it goes back from the last one
 * that begins at or before the address, until no earlier one extends to it.
 */
#include "symbols/ranges.h"

/*
 * Valid debug information has few ranges inside another; damaged data must not take excessive time.
 */
#define MAX_STEPS 4096

struct range {
	uint64_t start, end;
	uint64_t reach; /* the maximum end of the ranges up to here */
	uint32_t number;
};

void pp_ranges_init(struct pp_ranges *ranges)
{
	ranges->all = g_array_new(FALSE, FALSE, sizeof(struct range));
}

void pp_ranges_done(struct pp_ranges *ranges)
{
	g_clear_pointer(&ranges->all, g_array_unref);
}

void pp_ranges_add(struct pp_ranges *ranges, uint64_t start, uint64_t end, uint32_t number)
{
	struct range range = {.start = start, .end = end, .number = number};

	if (start < end)
		g_array_append_val(ranges->all, range);
}

/* Outer ranges first; of equal ones, the preferred one is last. */
static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->number > y->number ? -1 : x->number < y->number;
}

void pp_ranges_sort(struct pp_ranges *ranges)
{
	uint64_t reach = 0;

	g_array_sort(ranges->all, compare);
	for (guint i = 0; i < ranges->all->len; i++) {
		struct range *range = &g_array_index(ranges->all, struct range, i);

		range->reach = reach = MAX(reach, range->end);
	}
}

bool pp_ranges_find(const struct pp_ranges *ranges, uint64_t address, uint32_t *ret_number)
{
	const struct range *all = (const struct range *)(const void *)ranges->all->data;
	guint low = 0, high = ranges->all->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (all[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (guint step = 0; low-- > 0 && all[low].reach > address && step < MAX_STEPS; step++)
		if (address < all[low].end) {
			*ret_number = all[low].number;
			return true;
		}
	return false;
}
