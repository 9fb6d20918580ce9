/* SPDX-License-Identifier: MIT */
/* Sites are nodes of a graph whose edges are conflicts; its components need a lock each. */
#include "suggest/patterns.h"

#include <string.h>

const char *const pp_suggest_patterns[PP_SUGGEST_N_PATTERNS] = {
    [PP_SUGGEST_NULL_SHARED] = "null-shared",	[PP_SUGGEST_READ_READ] = "read-read",
    [PP_SUGGEST_GROUPS] = "null-shared groups", [PP_SUGGEST_READERS] = "read-read sites",
    [PP_SUGGEST_LOW] = "low-degree conflict",	[PP_SUGGEST_LONG] = "long section",
};

/* --- the graph of conflicts ------------------------------------------------------------------- */

static const struct pp_suggest_site *site_at(const struct pp_suggest_lock *lock, uint32_t site)
{
	return lock->sites->pdata[site];
}

/*
 * Another thread might execute a site, too, that only one has executed: both would write the same.
 */
static bool conflict(const struct pp_suggest_lock *lock, uint32_t a, uint32_t b)
{
	const struct pp_suggest_pair *pair = pp_suggest_pair_of(lock, a, b);

	return (pair && pair->conflicts) ||
	       (a == b && site_at(lock, a)->stores && !site_at(lock, a)->is_threaded);
}

static bool is_free(const struct pp_suggest_lock *lock, uint32_t site)
{
	for (guint other = 0; other < lock->sites->len; other++)
		if (conflict(lock, site, other))
			return false;
	return true;
}

/* The sites that conflict with the first one, directly or through others; marks them. */
static GArray *component_of(const struct pp_suggest_lock *lock, uint32_t first, bool *marked)
{
	GArray *sites = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	marked[first] = true;
	g_array_append_val(sites, first);
	for (guint i = 0; i < sites->len; i++)
		for (uint32_t other = 0; other < lock->sites->len; other++)
			if (!marked[other] &&
			    conflict(lock, g_array_index(sites, uint32_t, i), other)) {
				marked[other] = true;
				g_array_append_val(sites, other);
			}
	return sites;
}

/* Sets the groups, and the sites that need no lock. */
static void find_groups(struct pp_suggestion *suggestion)
{
	const struct pp_suggest_lock *lock = suggestion->lock;
	g_autofree bool *marked = g_new0(bool, lock->sites->len);

	for (uint32_t site = 0; site < lock->sites->len; site++) {
		if (marked[site])
			continue;
		if (is_free(lock, site))
			g_array_append_val(suggestion->free, site);
		else
			g_ptr_array_add(suggestion->groups, component_of(lock, site, marked));
	}
}

/* --- suggestions ------------------------------------------------------------------------------ */

static void suggestion_free(void *data)
{
	struct pp_suggestion *suggestion = data;

	g_ptr_array_unref(suggestion->groups);
	g_array_unref(suggestion->free);
	g_free(suggestion->gain.why);
	g_free(suggestion);
}

static struct pp_suggestion *suggestion_new(const struct pp_suggest_lock *lock)
{
	struct pp_suggestion *suggestion = g_new0(struct pp_suggestion, 1);

	suggestion->lock = lock;
	suggestion->groups = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	suggestion->free = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return suggestion;
}

uint64_t pp_suggest_unnecessary(const struct pp_suggest_lock *lock, uint64_t *ret_known)
{
	uint64_t n = 0, known = 0;

	for (unsigned class = 0; class < PP_ULCP_N_CLASSES; class ++) {
		uint64_t pairs = pp_suggest_pairs(lock, class);

		n += pp_ulcp_is_unnecessary(class) ? pairs : 0;
		known += pairs;
	}
	*ret_known = known;
	return n;
}

/* The sites that write no shared memory, if there are others: they could share the lock. */
static GArray *readers_of(const struct pp_suggest_lock *lock)
{
	GArray *readers = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < lock->sites->len; i++) {
		const struct pp_suggest_site *site = site_at(lock, i);

		if (site->n > site->n_readers && !site->writes && !site->n_unknown)
			g_array_append_val(readers, i);
	}
	return readers;
}

static bool has_condition(const struct pp_suggest_lock *lock)
{
	for (guint i = 0; i < lock->sites->len; i++)
		if (site_at(lock, i)->has_condition)
			return true;
	return false;
}

static enum pp_suggest_pattern pattern_without_conflicts(const struct pp_suggest_lock *lock)
{
	for (guint i = 0; i < lock->sites->len; i++)
		if (site_at(lock, i)->reads || site_at(lock, i)->writes)
			return PP_SUGGEST_READ_READ;
	return PP_SUGGEST_NULL_SHARED;
}

/* Adds a suggestion whose groups are those sites; takes ownership of the array. */
static void add_with(GPtrArray *all, const struct pp_suggest_lock *lock,
		     enum pp_suggest_pattern pattern, GArray *sites)
{
	struct pp_suggestion *suggestion = suggestion_new(lock);

	suggestion->pattern = pattern;
	g_ptr_array_add(suggestion->groups, sites);
	g_ptr_array_add(all, suggestion);
}

/* A lock all of whose sites need one lock. */
static void add_for_one_group(GPtrArray *all, const struct pp_suggestion *groups)
{
	const struct pp_suggest_lock *lock = groups->lock;
	GArray *sites = g_ptr_array_index(groups->groups, 0);
	GArray *readers = readers_of(lock);
	uint64_t known, unnecessary = pp_suggest_unnecessary(lock, &known);

	if (readers->len)
		add_with(all, lock, PP_SUGGEST_READERS, g_array_ref(readers));
	if ((double)unnecessary > PP_SUGGEST_LOW_DEGREE * (double)known && lock->n_units > 1)
		add_with(all, lock, PP_SUGGEST_LOW, g_array_ref(sites));
	g_array_unref(readers);
}

static bool has_long_sections(const struct pp_suggest_site *site)
{
	const struct pp_suggest_extent *extent = &site->extent;

	return extent->lines && extent->n_samples >= PP_SUGGEST_LEAST_SAMPLES &&
	       (double)extent->moved_ns > PP_SUGGEST_LONG_SHARE * (double)extent->all_ns;
}

static void add_long_sections(GPtrArray *all, const struct pp_suggest_lock *lock)
{
	for (uint32_t i = 0; i < lock->sites->len; i++) {
		GArray *sites;

		if (!has_long_sections(site_at(lock, i)))
			continue;
		sites = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_array_append_val(sites, i);
		add_with(all, lock, PP_SUGGEST_LONG, sites);
	}
}

const struct pp_suggest_site *pp_suggest_long_site(const struct pp_suggestion *suggestion)
{
	const GArray *sites = suggestion->groups->pdata[0];

	return site_at(suggestion->lock, g_array_index(sites, uint32_t, 0));
}

bool pp_suggest_is_long(const struct pp_suggestion *suggestion, uint32_t site)
{
	return suggestion->pattern == PP_SUGGEST_LONG &&
	       pp_suggest_long_site(suggestion) == site_at(suggestion->lock, site);
}

static void add_for_lock(GPtrArray *all, const struct pp_suggest_lock *lock)
{
	struct pp_suggestion *suggestion;
	uint64_t known;

	pp_suggest_unnecessary(lock, &known);
	if (!known)
		return;
	add_long_sections(all, lock);
	if (has_condition(lock))
		return;
	suggestion = suggestion_new(lock);
	find_groups(suggestion);
	if (!suggestion->groups->len)
		suggestion->pattern = pattern_without_conflicts(lock);
	else if (suggestion->groups->len > 1 || suggestion->free->len)
		suggestion->pattern = PP_SUGGEST_GROUPS;
	else {
		add_for_one_group(all, suggestion);
		suggestion_free(suggestion);
		return;
	}
	g_ptr_array_add(all, suggestion);
}

GPtrArray *pp_suggest_find(const struct pp_suggest_facts *facts)
{
	GPtrArray *all = g_ptr_array_new_with_free_func(suggestion_free);

	for (guint i = 0; i < facts->locks->len; i++)
		add_for_lock(all, facts->locks->pdata[i]);
	return all;
}

enum pp_suggest_left_out pp_suggest_left_out(const struct pp_suggest_lock *lock)
{
	uint64_t known, unnecessary = pp_suggest_unnecessary(lock, &known);
	g_autoptr(GPtrArray) all = NULL;

	if (!unnecessary)
		return PP_SUGGEST_NOT_LEFT_OUT;
	all = g_ptr_array_new_with_free_func(suggestion_free);
	add_for_lock(all, lock);
	if (all->len)
		return PP_SUGGEST_NOT_LEFT_OUT;
	if (has_condition(lock))
		return PP_SUGGEST_HAS_CONDITION;
	return lock->n_units > 1 ? PP_SUGGEST_HIGH_DEGREE : PP_SUGGEST_ONE_DATUM;
}

/* --- changes of a model ----------------------------------------------------------------------- */

/* Adds the names of the sites, as a group of patterns. */
static void add_names(struct pp_change *change, const struct pp_suggest_lock *lock,
		      const GArray *sites)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < sites->len; i++)
		g_ptr_array_add(names,
				g_strdup(site_at(lock, g_array_index(sites, uint32_t, i))->name));
	g_ptr_array_add(change->groups, names);
}

static enum pp_change_kind kind_of(enum pp_suggest_pattern pattern)
{
	switch (pattern) {
	case PP_SUGGEST_NULL_SHARED:
	case PP_SUGGEST_READ_READ:
		return PP_CHANGE_DROP;
	case PP_SUGGEST_READERS:
		return PP_CHANGE_RWLOCK;
	case PP_SUGGEST_LONG:
		return PP_CHANGE_SHRINK;
	default:
		return PP_CHANGE_SPLIT;
	}
}

static void shrink(struct pp_change *change, const struct pp_suggest_site *site)
{
	g_free(change->subject);
	change->subject = g_strdup(site->name);
	change->share = 1 - (double)site->extent.moved_ns / (double)site->extent.all_ns;
}

struct pp_change *pp_suggest_change(const struct pp_suggestion *suggestion, bool has_accesses)
{
	const struct pp_suggest_lock *lock = suggestion->lock;
	struct pp_change *change = g_new0(struct pp_change, 1);

	change->kind = kind_of(suggestion->pattern);
	change->subject = g_strdup(lock->name);
	change->text = g_strdup(lock->name);
	if (suggestion->pattern == PP_SUGGEST_LONG) {
		shrink(change, pp_suggest_long_site(suggestion));
		return change;
	}
	if (suggestion->pattern == PP_SUGGEST_LOW)
		change->by = has_accesses ? PP_CHANGE_BY_OBJECT : PP_CHANGE_AT_RANDOM;
	change->n = MIN(lock->n_units, PP_CHANGE_MAX_LOCKS);
	if (suggestion->pattern != PP_SUGGEST_GROUPS && suggestion->pattern != PP_SUGGEST_READERS)
		return change;
	change->by = PP_CHANGE_BY_GROUP;
	change->groups = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
	for (guint i = 0; i < suggestion->groups->len; i++)
		add_names(change, lock, suggestion->groups->pdata[i]);
	return change;
}
