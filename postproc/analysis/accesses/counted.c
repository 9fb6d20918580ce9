/* SPDX-License-Identifier: MIT */
/*
 * An array of entries, and a hash table of their positions.  A place of the table is empty if it
 * was filled in an earlier round, so the table is cleared at once: each free() does that.
 */
#include "analysis/accesses/counted.h"

#include <glib.h>

#include "analysis/accesses/users.h"
#include "analysis/mix.h"

/*
 * Few enough that the sets are still in the CPU's cache when their lines are added, and sets that
 * do not repeat are released soon.
 */
#define ENTRIES	  4096u
#define LINES_MAX (1u << 18) /* of all entries' sets */
#define PLACES	  (2 * ENTRIES)

struct place {
	uint32_t round;
	uint32_t at; /* position of an entry, if the round is the present one */
};

struct pp_counted_table {
	struct pp_counted *entries;
	struct place *places;
	unsigned n, n_lines;
	uint32_t round; /* never 0 */
};

struct pp_counted_table *pp_counted_new(void)
{
	struct pp_counted_table *table = g_new0(struct pp_counted_table, 1);

	table->entries = g_new(struct pp_counted, ENTRIES);
	table->places = g_new0(struct place, PLACES);
	table->round = 1;
	return table;
}

void pp_counted_free(struct pp_counted_table *table)
{
	pp_counted_clear(table);
	g_free(table->entries);
	g_free(table->places);
	g_free(table);
}

/* Returns the place of the entry, or the empty one where it belongs. */
static struct place *place_of(const struct pp_counted_table *table,
			      const struct pp_location_user *user, const struct pp_thread *thread,
			      const struct pp_access_set *set)
{
	uint64_t hash = pp_mix(pp_mix((uintptr_t)user, (uintptr_t)thread), set->serial);

	for (unsigned at = (unsigned)hash % PLACES;; at = (at + 1) % PLACES) {
		struct place *place = &table->places[at];
		const struct pp_counted *entry = &table->entries[place->at];

		if (place->round != table->round ||
		    (entry->set == set && entry->user == user && entry->thread == thread))
			return place;
	}
}

bool pp_counted_add(struct pp_counted_table *table, struct pp_location_user *user,
		    const struct pp_thread *thread, struct pp_access_set *set)
{
	struct place *place = place_of(table, user, thread, set);

	if (place->round == table->round) {
		struct pp_counted *entry = &table->entries[place->at];

		if (entry->n == UINT32_MAX)
			return false;
		entry->n++;
		return true;
	}
	if (table->n == ENTRIES || (table->n && table->n_lines + set->n > LINES_MAX))
		return false;
	*place = (struct place){table->round, table->n};
	table->entries[table->n++] = (struct pp_counted){
	    .user = pp_location_user_ref(user),
	    .thread = thread,
	    .set = pp_access_set_ref(set),
	    .n = 1,
	};
	table->n_lines += set->n;
	return true;
}

const struct pp_counted *pp_counted_entries(const struct pp_counted_table *table, unsigned *ret_n)
{
	*ret_n = table->n;
	return table->entries;
}

void pp_counted_clear(struct pp_counted_table *table)
{
	for (unsigned i = 0; i < table->n; i++) {
		pp_location_user_unref(table->entries[i].user);
		pp_access_set_unref(table->entries[i].set);
	}
	table->n = table->n_lines = 0;
	if (++table->round)
		return;
	for (unsigned i = 0; i < PLACES; i++)
		table->places[i].round = 0;
	table->round = 1;
}
