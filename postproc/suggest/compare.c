/* SPDX-License-Identifier: MIT */
/* Pairs of functions are the keys of a set. */
#include "suggest/compare.h"

#include <string.h>

#include "suggest/place.h"

/* The functions of two sites, the same for both orders.  The caller frees it. */
static char *key_of(const char *a, const char *b)
{
	g_autofree char *x = pp_suggest_function_of(a), *y = pp_suggest_function_of(b);

	return strcmp(x, y) <= 0 ? g_strdup_printf("%s\n%s", x, y)
				 : g_strdup_printf("%s\n%s", y, x);
}

static char *pair_key(const struct pp_suggest_lock *lock, const struct pp_suggest_pair *pair)
{
	return key_of(((const struct pp_suggest_site *)lock->sites->pdata[pair->a])->name,
		      ((const struct pp_suggest_site *)lock->sites->pdata[pair->b])->name);
}

enum known { UNKNOWN = 1, CONFLICTS };

/* Returns pair of functions -> enum known. */
static GHashTable *known_conflicts(const struct pp_suggest_facts *facts)
{
	GHashTable *known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < facts->locks->len; i++) {
		const struct pp_suggest_lock *lock = facts->locks->pdata[i];
		GHashTableIter at;
		void *value;

		g_hash_table_iter_init(&at, lock->pairs);
		while (g_hash_table_iter_next(&at, NULL, &value)) {
			const struct pp_suggest_pair *pair = value;
			g_autofree char *key = pair->conflicts ? pair_key(lock, pair) : NULL;

			if (key && (pair->is_seen || !g_hash_table_contains(known, key)))
				g_hash_table_replace(
				    known, g_steal_pointer(&key),
				    GUINT_TO_POINTER(pair->is_seen ? CONFLICTS : UNKNOWN));
		}
	}
	return known;
}

/* Adds the pairs of the lock, by their sites: the order of the hash table is no order. */
static void add_of_lock(GArray *all, const struct pp_suggest_lock *lock, GHashTable *known,
			unsigned *n_unknown)
{
	for (uint32_t a = 0; a < lock->sites->len; a++)
		for (uint32_t b = a; b < lock->sites->len; b++) {
			const struct pp_suggest_pair *pair = pp_suggest_pair_of(lock, a, b);
			struct pp_suggest_new_conflict new = {lock, a, b};
			g_autofree char *key = pair && pair->is_seen ? pair_key(lock, pair) : NULL;
			void *before = key ? g_hash_table_lookup(known, key) : NULL;

			if (key && !before)
				g_array_append_val(all, new);
			*n_unknown += before == GUINT_TO_POINTER(UNKNOWN);
		}
}

GArray *pp_suggest_new_conflicts(const struct pp_suggest_facts *before,
				 const struct pp_suggest_facts *after, unsigned *ret_n_unknown)
{
	g_autoptr(GHashTable) known = known_conflicts(before);
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct pp_suggest_new_conflict));

	*ret_n_unknown = 0;
	for (guint i = 0; i < after->locks->len; i++)
		add_of_lock(all, after->locks->pdata[i], known, ret_n_unknown);
	return all;
}

/* --- without a common lock -------------------------------------------------------------------- */

static int by_sites(const void *x, const void *y)
{
	const struct pp_suggest_apart *a = *(const struct pp_suggest_apart *const *)x;
	const struct pp_suggest_apart *b = *(const struct pp_suggest_apart *const *)y;
	int order = strcmp(a->sites[0], b->sites[0]);

	return order ? order : strcmp(a->sites[1], b->sites[1]);
}

GPtrArray *pp_suggest_new_aparts(GHashTable *before, GHashTable *after)
{
	g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	GPtrArray *all = g_ptr_array_new();
	GHashTableIter at;
	void *value;

	g_hash_table_iter_init(&at, before);
	while (g_hash_table_iter_next(&at, NULL, &value)) {
		const struct pp_suggest_apart *apart = value;

		g_hash_table_add(known, key_of(apart->sites[0], apart->sites[1]));
	}
	g_hash_table_iter_init(&at, after);
	while (g_hash_table_iter_next(&at, NULL, &value)) {
		struct pp_suggest_apart *apart = value;
		g_autofree char *key = key_of(apart->sites[0], apart->sites[1]);

		if (!g_hash_table_contains(known, key))
			g_ptr_array_add(all, apart);
	}
	g_ptr_array_sort(all, by_sites);
	return all;
}

/* ---------------------------------------------------------------------------------------------- */

const struct pp_suggest_lock *pp_suggest_lock_named(const struct pp_suggest_facts *facts,
						    const char *name)
{
	return g_hash_table_lookup(facts->by_name, name);
}

/* A long section is one of a site, of which a lock may have several. */
static bool is_same(const struct pp_suggestion *a, const struct pp_suggestion *b)
{
	g_autofree char *x = NULL, *y = NULL;

	if (a->pattern != b->pattern || strcmp(a->lock->name, b->lock->name) != 0)
		return false;
	if (a->pattern != PP_SUGGEST_LONG)
		return true;
	x = pp_suggest_function_of(pp_suggest_long_site(a)->name);
	y = pp_suggest_function_of(pp_suggest_long_site(b)->name);
	return strcmp(x, y) == 0;
}

const struct pp_suggestion *pp_suggest_same(const GPtrArray *suggestions,
					    const struct pp_suggestion *suggestion)
{
	for (guint i = 0; i < suggestions->len; i++) {
		const struct pp_suggestion *other = suggestions->pdata[i];

		if (is_same(other, suggestion))
			return other;
	}
	return NULL;
}
