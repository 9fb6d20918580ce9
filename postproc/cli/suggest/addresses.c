/* SPDX-License-Identifier: MIT */
/* See addresses.h. */
#include "cli/suggest/addresses.h"

GHashTable *pp_suggest_addresses_new(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

void pp_suggest_addresses_add(GHashTable *set, uint64_t address)
{
	if (address && !g_hash_table_contains(set, &address))
		g_hash_table_add(set, g_memdup2(&address, sizeof(address)));
}

void pp_suggest_addresses_add_all(GHashTable *set, GHashTable *others)
{
	GHashTableIter at;
	void *address;

	g_hash_table_iter_init(&at, others);
	while (g_hash_table_iter_next(&at, &address, NULL))
		pp_suggest_addresses_add(set, *(const uint64_t *)address);
}
