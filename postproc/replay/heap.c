/* SPDX-License-Identifier: MIT */
/* A binary heap in an array. */
#include "replay/heap.h"

static bool is_before(const struct pp_heap_entry *a, const struct pp_heap_entry *b)
{
	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

void pp_heap_add(struct pp_heap *heap, uint64_t key, uint32_t value, uint32_t tag)
{
	struct pp_heap_entry entry = {key, heap->n_ever++, value, tag};
	size_t at = heap->n++;

	if (heap->n > heap->n_allocated) {
		heap->n_allocated = MAX(16, 2 * heap->n_allocated);
		heap->entries = g_renew(struct pp_heap_entry, heap->entries, heap->n_allocated);
	}
	while (at > 0 && is_before(&entry, &heap->entries[(at - 1) / 2])) {
		heap->entries[at] = heap->entries[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->entries[at] = entry;
}

bool pp_heap_take(struct pp_heap *heap, struct pp_heap_entry *ret)
{
	struct pp_heap_entry last;
	size_t at = 0, child;

	if (!heap->n)
		return false;
	*ret = heap->entries[0];
	last = heap->entries[--heap->n];
	while ((child = 2 * at + 1) < heap->n) {
		if (child + 1 < heap->n &&
		    is_before(&heap->entries[child + 1], &heap->entries[child]))
			child++;
		if (!is_before(&heap->entries[child], &last))
			break;
		heap->entries[at] = heap->entries[child];
		at = child;
	}
	heap->entries[at] = last;
	return true;
}

void pp_heap_done(struct pp_heap *heap)
{
	g_free(heap->entries);
}
