/* SPDX-License-Identifier: MIT */
/* A sorted array with a union-find structure that skips items that have been taken. */
#include "core/latest_before.h"

struct item {
	uint64_t time_ns;
	int id;
};

struct pp_latest {
	GArray *items; /* of struct item */
	/* position (1, 2, ...) -> itself, or a position before it if taken; 0: none */
	guint *left;
};

struct pp_latest *pp_latest_new(void)
{
	struct pp_latest *latest = g_new0(struct pp_latest, 1);

	latest->items = g_array_new(FALSE, FALSE, sizeof(struct item));
	return latest;
}

void pp_latest_free(struct pp_latest *latest)
{
	g_array_unref(latest->items);
	g_free(latest->left);
	g_free(latest);
}

void pp_latest_add(struct pp_latest *latest, uint64_t time_ns, int id)
{
	const struct item item = {time_ns, id};

	g_array_append_val(latest->items, item);
}

static gint compare(gconstpointer a, gconstpointer b)
{
	const struct item *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static void sort(struct pp_latest *latest)
{
	g_array_sort(latest->items, compare);
	latest->left = g_new(guint, latest->items->len + 1);
	for (guint i = 0; i <= latest->items->len; i++)
		latest->left[i] = i;
}

/* The number of items at or before that time. */
static guint count(const struct pp_latest *latest, uint64_t time_ns)
{
	guint low = 0, high = latest->items->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(latest->items, struct item, middle).time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Finds the nearest remaining item, and halves the path for later searches. */
static guint find_left(guint *left, guint i)
{
	while (left[i] != i) {
		left[i] = left[left[i]];
		i = left[i];
	}
	return i;
}

int pp_latest_take(struct pp_latest *latest, uint64_t time_ns)
{
	guint found;

	if (!latest->left)
		sort(latest);
	found = find_left(latest->left, count(latest, time_ns));
	if (found == 0)
		return -1;
	latest->left[found] = found - 1;
	return g_array_index(latest->items, struct item, found - 1).id;
}
