/* SPDX-License-Identifier: MIT */
/* See object_table.h. */
#include "analysis/state/object_table.h"

#include <glib.h>

#define ROOM_MIN 64u

static size_t hash_of(const struct pp_process *process, uint64_t address)
{
	return ((address ^ (uintptr_t)process) * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
}

/* The entry of the address, or the free one for it. */
static struct pp_object_entry *entry_of(const struct pp_object_table *table,
					const struct pp_process *process, uint64_t address)
{
	size_t mask = table->room - 1, at = hash_of(process, address) & mask;

	while (table->entries[at].process &&
	       (table->entries[at].address != address || table->entries[at].process != process))
		at = (at + 1) & mask;
	return &table->entries[at];
}

static void rebuild(struct pp_object_table *table, size_t room, bool forgets)
{
	struct pp_object_table old = *table;

	*table = (struct pp_object_table){g_new0(struct pp_object_entry, room), 0, room};
	for (size_t i = 0; i < old.room; i++) {
		struct pp_object_entry entry = old.entries[i];

		if (!entry.process || (forgets && entry.is_folded && !entry.is_kept))
			continue;
		entry.is_kept = false;
		*entry_of(table, entry.process, entry.address) = entry;
		table->n++;
	}
	g_free(old.entries);
}

void pp_object_table_done(struct pp_object_table *table)
{
	g_free(table->entries);
	*table = (struct pp_object_table){0};
}

struct pp_object_entry *pp_object_table_find(const struct pp_object_table *table,
					     const struct pp_process *process, uint64_t address)
{
	struct pp_object_entry *entry = table->room ? entry_of(table, process, address) : NULL;

	return entry && entry->process ? entry : NULL;
}

struct pp_object_entry *pp_object_table_get(struct pp_object_table *table,
					    const struct pp_process *process, uint64_t address)
{
	struct pp_object_entry *entry = pp_object_table_find(table, process, address);

	if (entry)
		return entry;
	if (4 * (table->n + 1) > 3 * table->room)
		rebuild(table, MAX(2 * table->room, ROOM_MIN), false);
	entry = entry_of(table, process, address);
	*entry = (struct pp_object_entry){.process = process, .address = address};
	table->n++;
	return entry;
}

void pp_object_table_forget(struct pp_object_table *table)
{
	if (table->room)
		rebuild(table, table->room, true);
}
