/* SPDX-License-Identifier: MIT */
/*
 * The newest object at each address.  Programs with hundreds of thousands of objects use another
 * one with each operation, so that a look-up costs a cache miss or two: an entry is half a cache
 * line, and its key is in it.
 */
#ifndef PP_ANALYSIS_STATE_OBJECT_TABLE_H
#define PP_ANALYSIS_STATE_OBJECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pp_object;
struct pp_process;

struct pp_object_entry {
	const struct pp_process *process; /* NULL: the entry is free */
	uint64_t address;
	struct pp_object *object; /* is_folded: the object that stands for it; NULL: none */
	unsigned generation;	  /* is_folded: of the object that was folded */
	bool is_folded;
	bool is_kept; /* pp_object_table_forget() */
};

/* All zero: empty.  Open addressing, at most three quarters full. */
struct pp_object_table {
	struct pp_object_entry *entries;
	size_t n, room; /* room: a power of two, or 0 */
};

void pp_object_table_done(struct pp_object_table *table);

/* NULL: there is none.  Valid until the next one is added. */
struct pp_object_entry *pp_object_table_find(const struct pp_object_table *table,
					     const struct pp_process *process, uint64_t address);
/* Adds it without an object if there is none. */
struct pp_object_entry *pp_object_table_get(struct pp_object_table *table,
					    const struct pp_process *process, uint64_t address);
/* Removes entries of folded objects unless they are to be kept, and clears is_kept. */
void pp_object_table_forget(struct pp_object_table *table);

#endif
