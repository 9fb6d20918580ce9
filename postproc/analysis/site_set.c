/* SPDX-License-Identifier: MIT */
/* See site_set.h.  The hash table uses open addressing and is at most half full. */
#include "analysis/site_set.h"

#include <string.h>

#include <glib.h>

/* A power of two. */
#define FEW 16u

static struct pp_site_key *key_at(const struct pp_site_set *set, size_t item_bytes, unsigned i)
{
	return (struct pp_site_key *)((char *)set->items + i * item_bytes);
}

static bool are_equal(const struct pp_site_key *a, const struct pp_site_key *b)
{
	return a->address == b->address && a->op == b->op && a->detail == b->detail;
}

static uint32_t hash_of(const struct pp_site_key *key)
{
	uint64_t mixed = key->address ^ (uint64_t)key->op << 56 ^ (uint64_t)key->detail << 48;

	return (uint32_t)(mixed * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* The slot of the key, or the empty slot for it. */
static uint32_t *slot_of(const struct pp_site_set *set, size_t item_bytes,
			 const struct pp_site_key *key)
{
	uint32_t mask = 2 * set->room - 1, at = hash_of(key) & mask;

	while (set->slots[at] && !are_equal(key_at(set, item_bytes, set->slots[at] - 1), key))
		at = (at + 1) & mask;
	return &set->slots[at];
}

static void grow(struct pp_site_set *set, size_t item_bytes)
{
	set->room = MAX(2 * set->room, 1);
	set->items = g_realloc_n(set->items, set->room, item_bytes);
	if (set->room <= FEW)
		return;
	g_free(set->slots);
	set->slots = g_new0(uint32_t, 2 * (size_t)set->room);
	for (unsigned i = 0; i < set->n; i++)
		*slot_of(set, item_bytes, key_at(set, item_bytes, i)) = i + 1;
}

void *pp_site_set_find(const struct pp_site_set *set, size_t item_bytes,
		       const struct pp_site_key *key)
{
	if (set->slots) {
		uint32_t number = *slot_of(set, item_bytes, key);

		return number ? key_at(set, item_bytes, number - 1) : NULL;
	}
	for (unsigned i = 0; i < set->n; i++)
		if (are_equal(key_at(set, item_bytes, i), key))
			return key_at(set, item_bytes, i);
	return NULL;
}

void *pp_site_set_get(struct pp_site_set *set, size_t item_bytes, const struct pp_site_key *key)
{
	struct pp_site_key *item = pp_site_set_find(set, item_bytes, key);

	if (item)
		return item;
	if (set->n == set->room)
		grow(set, item_bytes);
	item = key_at(set, item_bytes, set->n++);
	memset(item, 0, item_bytes);
	*item = *key;
	if (set->slots)
		*slot_of(set, item_bytes, key) = set->n;
	return item;
}

void pp_site_set_done(struct pp_site_set *set)
{
	g_free(set->items);
	g_free(set->slots);
	*set = (struct pp_site_set){0};
}
