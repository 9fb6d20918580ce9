/* SPDX-License-Identifier: MIT */
/* A heap of numbers by key; equal keys in the order in which they were added. */
#ifndef PP_REPLAY_HEAP_H
#define PP_REPLAY_HEAP_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct pp_heap_entry {
	uint64_t key, order;
	uint32_t value, tag;
};

struct pp_heap {
	struct pp_heap_entry *entries;
	size_t n, n_allocated;
	uint64_t n_ever;
};

void pp_heap_add(struct pp_heap *heap, uint64_t key, uint32_t value, uint32_t tag);

/* Removes the first entry; returns false if there is none. */
bool pp_heap_take(struct pp_heap *heap, struct pp_heap_entry *ret);

void pp_heap_done(struct pp_heap *heap);

#endif
