/* SPDX-License-Identifier: MIT */
/* Entries are locks with call sites; the locks held in the sections of each are a set. */
#include "suggest/apart.h"

#include <string.h>

#include "replay/units.h"
#include "suggest/memory.h"

struct entry {
	const char *lock, *site;
	GHashTable *held; /* set of names of locks: interned pointers */
};

struct apart_run {
	GHashTable *aparts;
	const struct pp_replay_model *model;
	const struct pp_suggest_namer *namer;
	GPtrArray *entries;   /* of struct entry * */
	GHashTable *by_names; /* "lock\nsite" -> number + 1 */
	GStringChunk *names;  /* interned */
};

static void apart_free(void *data)
{
	struct pp_suggest_apart *apart = data;

	for (unsigned i = 0; i < 2; i++) {
		g_free(apart->sites[i]);
		g_free(apart->locks[i]);
	}
	g_hash_table_unref(apart->data);
	g_free(apart);
}

GHashTable *pp_suggest_aparts_new(void)
{
	return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, apart_free);
}

/* --- entries ---------------------------------------------------------------------------------- */

static void entry_free(void *data)
{
	struct entry *entry = data;

	g_hash_table_unref(entry->held);
	g_free(entry);
}

static const struct pp_replay_step *step_at(const struct apart_run *run, uint32_t thread,
					    uint32_t step)
{
	const struct pp_replay_thread *of = run->model->threads->pdata[thread];

	return &g_array_index(of->steps, struct pp_replay_step, step);
}

/* The number of the entry of an acquisition, which is added if there is none. */
static uint32_t entry_of(struct apart_run *run, const struct pp_replay_step *step)
{
	const struct pp_replay_object *object = run->model->objects->pdata[step->object];
	const char *site = step->site == PP_REPLAY_NO_SITE
			       ? "an unknown call site"
			       : run->model->sites->pdata[step->site - 1];
	g_autofree char *key = g_strdup_printf("%s\n%s", object->name, site);
	void *known = g_hash_table_lookup(run->by_names, key);
	struct entry *entry;

	if (known)
		return GPOINTER_TO_UINT(known) - 1;
	entry = g_new0(struct entry, 1);
	entry->lock = g_string_chunk_insert_const(run->names, object->name);
	entry->site = site;
	entry->held = g_hash_table_new(NULL, NULL);
	g_hash_table_add(entry->held, (void *)entry->lock);
	g_ptr_array_add(run->entries, entry);
	g_hash_table_insert(run->by_names, g_steal_pointer(&key),
			    GUINT_TO_POINTER(run->entries->len));
	return run->entries->len - 1;
}

/* A thread acquires a lock with others held: each is held in sections of the other. */
static void note_held(struct apart_run *run, const GArray *open, uint32_t number)
{
	struct entry *entry = run->entries->pdata[number];

	for (guint i = 0; i < open->len; i++) {
		struct entry *outer =
		    run->entries
			->pdata[entry_of(run, g_array_index(open, struct pp_replay_step *, i))];

		g_hash_table_add(entry->held, (void *)outer->lock);
		g_hash_table_add(outer->held, (void *)entry->lock);
	}
}

static void remove_open(GArray *open, uint32_t object)
{
	for (guint i = open->len; i-- > 0;)
		if (g_array_index(open, struct pp_replay_step *, i)->object == object) {
			g_array_remove_index(open, i);
			return;
		}
}

static void find_held(struct apart_run *run, uint32_t thread)
{
	const struct pp_replay_thread *of = run->model->threads->pdata[thread];
	g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(struct pp_replay_step *));

	for (guint i = 0; i < of->steps->len; i++) {
		const struct pp_replay_step *step = step_at(run, thread, i);

		if (pp_replay_acquires(step->kind)) {
			note_held(run, open, entry_of(run, step));
			g_array_append_val(open, step);
		} else if (step->kind == PP_REPLAY_UNLOCK) {
			remove_open(open, step->object);
		}
	}
}

/* --- conflicts -------------------------------------------------------------------------------- */

static bool have_common_lock(const struct entry *a, const struct entry *b)
{
	GHashTableIter at;
	void *lock;

	g_hash_table_iter_init(&at, a->held);
	while (g_hash_table_iter_next(&at, &lock, NULL))
		if (g_hash_table_contains(b->held, lock))
			return true;
	return false;
}

static struct pp_suggest_apart *apart_of(struct apart_run *run, const struct entry *a,
					 const struct entry *b)
{
	g_autofree char *x = g_strdup_printf("%s\n%s", a->lock, a->site);
	g_autofree char *y = g_strdup_printf("%s\n%s", b->lock, b->site);
	bool is_in_order = strcmp(x, y) <= 0;
	g_autofree char *key = g_strdup_printf("%s\n%s", is_in_order ? x : y, is_in_order ? y : x);
	struct pp_suggest_apart *apart = g_hash_table_lookup(run->aparts, key);

	if (apart)
		return apart;
	apart = g_new0(struct pp_suggest_apart, 1);
	apart->sites[!is_in_order] = g_strdup(a->site);
	apart->locks[!is_in_order] = g_strdup(a->lock);
	apart->sites[is_in_order] = g_strdup(b->site);
	apart->locks[is_in_order] = g_strdup(b->lock);
	apart->data = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_hash_table_insert(run->aparts, g_steal_pointer(&key), apart);
	return apart;
}

static void take_conflict(void *data, uint32_t a, const struct pp_access_line *of_a, uint32_t b,
			  const struct pp_access_line *of_b)
{
	struct apart_run *run = data;
	const struct entry *x = run->entries->pdata[a], *y = run->entries->pdata[b];

	if (have_common_lock(x, y))
		return;
	for (uint64_t left = pp_access_conflicting(of_a, of_b); left; left &= left - 1) {
		char *memory = run->namer->memory(run->namer->data,
						  of_a->address + (unsigned)__builtin_ctzll(left));

		if (memory)
			g_hash_table_add(apart_of(run, x, y)->data, memory);
	}
}

void pp_suggest_aparts_add(GHashTable *aparts, const struct pp_replay_model *model,
			   const GArray *sections, const GArray *sets,
			   const struct pp_suggest_namer *namer)
{
	struct pp_suggest_conflicts *conflicts = pp_suggest_conflicts_new();
	struct apart_run run = {
	    .aparts = aparts,
	    .model = model,
	    .namer = namer,
	    .entries = g_ptr_array_new_with_free_func(entry_free),
	    .by_names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	    .names = g_string_chunk_new(1024),
	};

	for (guint i = 0; i < model->threads->len; i++)
		find_held(&run, i);
	for (guint i = 0; i < sections->len; i++) {
		const struct pp_ulcp_section *section = pp_ulcp_section_at(sections, i);
		struct pp_access_set *set =
		    pp_replay_find_set(sets, section->thread, section->first);

		if (set)
			pp_suggest_conflicts_add(
			    conflicts, section->thread,
			    entry_of(&run, step_at(&run, section->thread, section->first)), set);
	}
	pp_suggest_conflicts_each(conflicts, take_conflict, &run);
	pp_suggest_conflicts_free(conflicts);
	g_ptr_array_unref(run.entries);
	g_hash_table_unref(run.by_names);
	g_string_chunk_free(run.names);
}
