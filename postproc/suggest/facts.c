/* SPDX-License-Identifier: MIT */
/* A run is followed lock by lock, in the recorded order of its sections. */
#include "suggest/facts.h"

#include "replay/sections.h"
#include "replay/units.h"
#include "suggest/memory.h"

/* Names of conflicting code that are kept of a site. */
#define MAX_NAMES 20

/* --- locks, sites and pairs ------------------------------------------------------------------- */

void pp_suggest_call_done(void *call)
{
	g_free(((struct pp_suggest_call *)call)->name);
}

static void site_free(void *data)
{
	struct pp_suggest_site *site = data;

	g_free(site->name);
	g_free(site->exit);
	g_ptr_array_unref(site->conflicting);
	g_hash_table_unref(site->data);
	g_clear_pointer(&site->extent.lines, g_array_unref);
	g_clear_pointer(&site->extent.exits, g_hash_table_unref);
	g_clear_pointer(&site->extent.calls, g_array_unref);
	g_free(site);
}

static void lock_free(void *data)
{
	struct pp_suggest_lock *lock = data;

	g_free(lock->name);
	g_ptr_array_unref(lock->sites);
	g_hash_table_unref(lock->pairs);
	g_free(lock);
}

void pp_suggest_facts_init(struct pp_suggest_facts *facts)
{
	facts->locks = g_ptr_array_new_with_free_func(lock_free);
	facts->by_name = g_hash_table_new(g_str_hash, g_str_equal);
	facts->n_runs = 0;
}

void pp_suggest_facts_done(struct pp_suggest_facts *facts)
{
	g_hash_table_unref(facts->by_name);
	g_ptr_array_unref(facts->locks);
}

static struct pp_suggest_lock *lock_named(struct pp_suggest_facts *facts, const char *name)
{
	struct pp_suggest_lock *lock = g_hash_table_lookup(facts->by_name, name);

	if (lock)
		return lock;
	lock = g_new0(struct pp_suggest_lock, 1);
	lock->name = g_strdup(name);
	lock->sites = g_ptr_array_new_with_free_func(site_free);
	lock->pairs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	g_hash_table_insert(facts->by_name, lock->name, lock);
	g_ptr_array_add(facts->locks, lock);
	return lock;
}

static uint32_t site_named(struct pp_suggest_lock *lock, const char *name)
{
	struct pp_suggest_site *site;

	for (guint i = 0; i < lock->sites->len; i++)
		if (g_str_equal(((struct pp_suggest_site *)lock->sites->pdata[i])->name, name))
			return i;
	site = g_new0(struct pp_suggest_site, 1);
	site->name = g_strdup(name);
	site->conflicting = g_ptr_array_new_with_free_func(g_free);
	site->data = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_ptr_array_add(lock->sites, site);
	return lock->sites->len - 1;
}

static uint64_t pair_key(uint32_t a, uint32_t b)
{
	return (uint64_t)MIN(a, b) << 32 | MAX(a, b);
}

const struct pp_suggest_pair *pp_suggest_pair_of(const struct pp_suggest_lock *lock, uint32_t a,
						 uint32_t b)
{
	uint64_t key = pair_key(a, b);

	return g_hash_table_lookup(lock->pairs, &key);
}

static struct pp_suggest_pair *pair_for(struct pp_suggest_lock *lock, uint32_t a, uint32_t b)
{
	uint64_t key = pair_key(a, b);
	struct pp_suggest_pair *pair = g_hash_table_lookup(lock->pairs, &key);

	if (!pair) {
		pair = g_new0(struct pp_suggest_pair, 1);
		pair->a = MIN(a, b);
		pair->b = MAX(a, b);
		g_hash_table_insert(lock->pairs, g_memdup2(&key, sizeof(key)), pair);
	}
	return pair;
}

uint64_t pp_suggest_pairs(const struct pp_suggest_lock *lock, enum pp_ulcp_class class)
{
	GHashTableIter at;
	uint64_t n = 0;
	void *value;

	g_hash_table_iter_init(&at, lock->pairs);
	while (g_hash_table_iter_next(&at, NULL, &value))
		n += ((const struct pp_suggest_pair *)value)->n[class];
	return n;
}

/* --- a run ------------------------------------------------------------------------------------ */

struct run {
	struct pp_suggest_facts *facts;
	struct pp_replay_model *model;
	const GArray *sections, *sets;
	const struct pp_suggest_namer *namer;
	struct pp_suggest_shared *shared;
	GHashTable *conflicts;	/* lock -> struct pp_suggest_conflicts * */
	GHashTable *conditions; /* pp_replay_condition_sites() */
	uint32_t *joined;	/* pp_replay_join_sites() */
	GHashTable *seen;	/* sites (struct pp_suggest_site) and locks that the run has */
	GHashTable *units;	/* lock -> set of units */
	GHashTable *threads;	/* site (struct pp_suggest_site) -> the first thread + 1 */
	GHashTable *named;	/* conflicting bytes that were named, by site */
	struct pp_suggest_lock *lock; /* whose conflicts are taken */
};

static const char *site_name(const struct run *run, uint32_t site)
{
	return site == PP_REPLAY_NO_SITE ? "an unknown call site"
					 : run->model->sites->pdata[run->joined[site] - 1];
}

static const struct pp_replay_step *step_at(const struct run *run, uint32_t thread, uint32_t step)
{
	const struct pp_replay_thread *of = run->model->threads->pdata[thread];

	return &g_array_index(of->steps, struct pp_replay_step, step);
}

static struct pp_suggest_lock *lock_of(const struct run *run, const struct pp_ulcp_section *section)
{
	const struct pp_replay_object *object = run->model->objects->pdata[section->object];

	return lock_named(run->facts, object->name);
}

static uint32_t site_of(const struct run *run, struct pp_suggest_lock *lock,
			const struct pp_ulcp_section *section)
{
	return site_named(lock,
			  site_name(run, step_at(run, section->thread, section->first)->site));
}

static struct pp_access_set *set_of(const struct run *run, const struct pp_ulcp_section *section)
{
	return pp_replay_find_set(run->sets, section->thread, section->first);
}

static void add_shared(const struct run *run)
{
	for (guint i = 0; i < run->sections->len; i++) {
		const struct pp_ulcp_section *section = pp_ulcp_section_at(run->sections, i);
		const struct pp_access_set *set = set_of(run, section);

		if (set)
			pp_suggest_shared_add(run->shared, section->thread, set);
	}
}

static bool uses_condition(const struct run *run, const struct pp_ulcp_section *section)
{
	const struct pp_replay_section of = {
	    .thread = run->model->threads->pdata[section->thread],
	    .number = section->thread,
	    .object = section->object,
	    .site = step_at(run, section->thread, section->first)->site,
	    .first = section->first,
	    .last = section->last,
	};

	return pp_replay_has_condition(run->conditions, run->joined, &of);
}

static void note_exit(const struct run *run, struct pp_suggest_site *site,
		      const struct pp_ulcp_section *section)
{
	const struct pp_replay_step *last = step_at(run, section->thread, section->last);
	const char *name = site_name(run, last->site);

	if (last->kind != PP_REPLAY_UNLOCK || last->site == PP_REPLAY_NO_SITE)
		return;
	if (site->n == 0)
		site->exit = g_strdup(name);
	else if (g_strcmp0(site->exit, name) != 0)
		g_clear_pointer(&site->exit, g_free);
}

static struct pp_suggest_conflicts *conflicts_of(const struct run *run,
						 struct pp_suggest_lock *lock)
{
	struct pp_suggest_conflicts *conflicts = g_hash_table_lookup(run->conflicts, lock);

	if (!conflicts) {
		conflicts = pp_suggest_conflicts_new();
		g_hash_table_insert(run->conflicts, lock, conflicts);
	}
	return conflicts;
}

static void note_unit(const struct run *run, const struct pp_suggest_lock *lock,
		      const struct pp_ulcp_section *section)
{
	const struct pp_replay_access *access =
	    pp_replay_find_access(run->model, section->thread, section->first);
	GHashTable *units = g_hash_table_lookup(run->units, lock);

	if (!access || access->unit == PP_REPLAY_NO_UNIT)
		return;
	if (!units) {
		units = g_hash_table_new(NULL, NULL);
		g_hash_table_insert(run->units, (void *)lock, units);
	}
	g_hash_table_add(units, GUINT_TO_POINTER(access->unit));
}

static void note_thread(const struct run *run, struct pp_suggest_site *site, uint32_t thread)
{
	void *first = g_hash_table_lookup(run->threads, site);

	if (!first)
		g_hash_table_insert(run->threads, site, GUINT_TO_POINTER(thread + 1));
	else
		site->is_threaded |= first != GUINT_TO_POINTER(thread + 1);
}

static bool has_stores(const struct pp_access_set *set)
{
	for (unsigned i = 0; i < set->n; i++)
		if (set->lines[i].written)
			return true;
	return false;
}

/* Adds a section to the facts of its site. */
static void add_section(const struct run *run, struct pp_suggest_lock *lock, uint32_t number,
			const struct pp_ulcp_section *section, struct pp_access_set *set)
{
	struct pp_suggest_site *site = lock->sites->pdata[number];

	note_exit(run, site, section);
	site->n++;
	site->n_unknown += !set;
	site->n_readers += section->shared;
	site->n_runs += g_hash_table_add(run->seen, site);
	site->has_condition |= uses_condition(run, section);
	note_unit(run, lock, section);
	note_thread(run, site, section->thread);
	if (!set)
		return;
	site->stores = site->stores || has_stores(set);
	pp_suggest_shared_use(run->shared, set, &site->reads, &site->writes);
	pp_suggest_conflicts_add(conflicts_of(run, lock), section->thread, number, set);
}

static enum pp_ulcp_use use_of(const struct run *run, const struct pp_access_set *set)
{
	bool reads = false, writes = false;

	pp_suggest_shared_use(run->shared, set, &reads, &writes);
	return writes ? PP_ULCP_WRITES : reads ? PP_ULCP_READS : PP_ULCP_USES_NONE;
}

static enum pp_ulcp_class class_of(const struct run *run, const struct pp_access_set *a,
				   const struct pp_access_set *b)
{
	struct pp_ulcp_conflict conflict;

	if (!a || !b)
		return PP_ULCP_UNDECIDED;
	conflict = pp_ulcp_compare(a, b);
	return conflict.conflicts ? pp_ulcp_class_of_conflict(&conflict, false, false)
				  : pp_ulcp_class_of_uses(use_of(run, a), use_of(run, b));
}

/* The class of consecutive sections; replays in the other order decide what accesses do not. */
static enum pp_ulcp_class class_of_pair(const struct run *run, struct pp_suggest_lock *lock,
					uint32_t a, const struct pp_access_set *set_a, uint32_t b,
					const struct pp_access_set *set_b)
{
	enum pp_ulcp_class class = class_of(run, set_a, set_b);
	const struct pp_suggest_site *x = lock->sites->pdata[a], *y = lock->sites->pdata[b];
	const struct pp_reversal *reversal =
	    class == PP_ULCP_UNDECIDED && set_a && set_b
		? pp_reversals_find(run->namer->reversals, x->name, y->name)
		: NULL;

	if (!reversal)
		return class;
	lock->n_reversed += reversal->is_benign;
	return reversal->is_benign ? PP_ULCP_BENIGN : PP_ULCP_TRUE;
}

/* Adds the n sections of one lock from `first` on. */
static void add_lock(const struct run *run, guint first, guint n)
{
	struct pp_suggest_lock *lock = lock_of(run, pp_ulcp_section_at(run->sections, first));
	g_autoptr(GHashTable) threads = g_hash_table_new(NULL, NULL);
	const struct pp_ulcp_section *before = NULL;
	struct pp_access_set *set_before = NULL;
	uint32_t site_before = 0;

	lock->n_runs += g_hash_table_add(run->seen, lock);
	for (guint i = first; i < first + n; i++) {
		const struct pp_ulcp_section *section = pp_ulcp_section_at(run->sections, i);
		struct pp_access_set *set = set_of(run, section);
		uint32_t site = site_of(run, lock, section);

		g_hash_table_add(threads, GUINT_TO_POINTER(section->thread));
		add_section(run, lock, site, section, set);
		if (before && before->thread != section->thread &&
		    !(before->shared && section->shared))
			pair_for(lock, site_before, site)
			    ->n[class_of_pair(run, lock, site_before, set_before, site, set)]++;
		before = section;
		set_before = set;
		site_before = site;
	}
	lock->n_threads = MAX(lock->n_threads, g_hash_table_size(threads));
}

/* --- once for each site ----------------------------------------------------------------------- */

/* A set of accesses, or an address of code or memory, in sections of the site. */
struct once {
	uint64_t what;
	const struct pp_suggest_site *site;
};

static guint once_hash(const void *data)
{
	const struct once *once = data;

	return (guint)(once->what * 0x9e3779b97f4a7c15u >> 32) ^ g_direct_hash(once->site);
}

static gboolean once_equal(const void *a, const void *b)
{
	const struct once *x = a, *y = b;

	return x->what == y->what && x->site == y->site;
}

/* Returns false if it was added before. */
static bool add_once(GHashTable *seen, uint64_t what, const struct pp_suggest_site *site)
{
	const struct once once = {what, site};

	if (g_hash_table_contains(seen, &once))
		return false;
	g_hash_table_add(seen, g_memdup2(&once, sizeof(once)));
	return true;
}

static GHashTable *onces_new(void)
{
	return g_hash_table_new_full(once_hash, once_equal, g_free, NULL);
}

/* --- conflicts -------------------------------------------------------------------------------- */

static void add_code(const struct run *run, struct pp_suggest_site *site, uint64_t address)
{
	char *name = address ? run->namer->code(run->namer->data, address) : NULL;

	if (name && site->conflicting->len < MAX_NAMES &&
	    !g_ptr_array_find_with_equal_func(site->conflicting, name, g_str_equal, NULL))
		g_ptr_array_add(site->conflicting, name);
	else
		g_free(name);
}

/* Names all variables that the bytes belong to; each byte of a site once. */
static void note_conflict(const struct run *run, uint32_t number, const struct pp_access_line *line,
			  uint64_t bytes)
{
	struct pp_suggest_site *site = run->lock->sites->pdata[number];

	for (uint64_t left = bytes; left; left &= left - 1) {
		uint64_t address = line->address + (unsigned)__builtin_ctzll(left);
		char *memory = add_once(run->named, address, site)
				   ? run->namer->memory(run->namer->data, address)
				   : NULL;

		if (memory)
			g_hash_table_add(site->data, memory);
	}
}

static void take_conflict(void *data, uint32_t a, const struct pp_access_line *of_a, uint32_t b,
			  const struct pp_access_line *of_b)
{
	struct run *run = data;
	uint64_t bytes = pp_access_conflicting(of_a, of_b);
	struct pp_suggest_pair *pair = pair_for(run->lock, a, b);

	pair->conflicts = pair->is_seen = true;
	note_conflict(run, a, of_a, bytes);
	note_conflict(run, b, of_b, bytes);
}

static void add_conflicts(struct run *run)
{
	GHashTableIter at;
	void *lock, *conflicts, *units;

	g_hash_table_iter_init(&at, run->conflicts);
	while (g_hash_table_iter_next(&at, &lock, &conflicts)) {
		run->lock = lock;
		pp_suggest_conflicts_each(conflicts, take_conflict, run);
	}
	g_hash_table_iter_init(&at, run->units);
	while (g_hash_table_iter_next(&at, &lock, &units)) {
		run->lock = lock;
		run->lock->n_units = MAX(run->lock->n_units, g_hash_table_size(units));
	}
}

/* --- code ------------------------------------------------------------------------------------- */

/* The sets and addresses that have been passed on, by site; freed: sets of memory that is freed. */
struct telling {
	GHashTable *sets, *codes, *conflicting, *freed;
};

static void tell_access(const struct run *run, const struct telling *telling,
			const struct pp_suggest_lock *lock, struct pp_suggest_site *site,
			const struct pp_access_line *line, uint64_t conflicting)
{
	bool conflicts = ((line->read | line->written) & conflicting) != 0;
	const uint64_t codes[] = {line->first_site, line->last_site};

	for (unsigned i = 0; i < G_N_ELEMENTS(codes); i++) {
		if (!codes[i] ||
		    !add_once(conflicts ? telling->conflicting : telling->codes, codes[i], site))
			continue;
		if (conflicts)
			add_code(run, site, codes[i]);
		if (run->namer->access)
			run->namer->access(run->namer->data, lock, site, codes[i], conflicts);
	}
}

/* The section frees memory in which it conflicts. */
static void tell_freed(const struct run *run, const struct pp_suggest_lock *lock,
		       const struct pp_suggest_site *site, uint32_t number,
		       const struct pp_access_set *freed)
{
	const struct pp_suggest_conflicts *conflicts = g_hash_table_lookup(run->conflicts, lock);
	bool any = false;

	for (unsigned i = 0; i < freed->n && !any; i++)
		any = (pp_suggest_conflicts_bytes(conflicts, number, freed->lines[i].address) &
		       freed->lines[i].written) != 0;
	if (any && run->namer->access)
		run->namer->access(run->namer->data, lock, site, 0, true);
}

static void tell_set(const struct run *run, const struct telling *telling,
		     struct pp_suggest_lock *lock, uint32_t number, const struct pp_access_set *set)
{
	struct pp_suggest_site *site = lock->sites->pdata[number];
	const struct pp_suggest_conflicts *conflicts = g_hash_table_lookup(run->conflicts, lock);

	if (!add_once(telling->sets, set->serial, site))
		return;
	for (unsigned k = 0; k < set->n; k++)
		tell_access(run, telling, lock, site, &set->lines[k],
			    pp_suggest_conflicts_bytes(conflicts, number, set->lines[k].address));
}

/* Tells the code of all accesses, once for each set and site. */
static void add_codes(const struct run *run)
{
	struct telling telling = {onces_new(), onces_new(), onces_new(), onces_new()};

	for (guint i = 0; i < run->sections->len; i++) {
		const struct pp_ulcp_section *section = pp_ulcp_section_at(run->sections, i);
		struct pp_suggest_lock *lock = lock_of(run, section);
		uint32_t number = site_of(run, lock, section);
		struct pp_suggest_site *site = lock->sites->pdata[number];
		const struct pp_replay_set *of =
		    pp_replay_find_accesses(run->sets, section->thread, section->first);

		if (!of)
			continue;
		tell_set(run, &telling, lock, number, of->set);
		if (of->freed && add_once(telling.freed, of->freed->serial, site))
			tell_freed(run, lock, site, number, of->freed);
		if (of->freed_later && add_once(telling.freed, of->freed_later->serial, site))
			for (unsigned k = 0; k < of->freed_later->n; k++)
				tell_access(run, &telling, lock, site, &of->freed_later->lines[k],
					    UINT64_MAX);
	}
	g_hash_table_unref(telling.sets);
	g_hash_table_unref(telling.codes);
	g_hash_table_unref(telling.conflicting);
	g_hash_table_unref(telling.freed);
}

/* Sections without known accesses may conflict with any. */
static void add_unknown(struct pp_suggest_facts *facts)
{
	for (guint l = 0; l < facts->locks->len; l++) {
		struct pp_suggest_lock *lock = facts->locks->pdata[l];

		for (guint a = 0; a < lock->sites->len; a++)
			for (guint b = 0; b < lock->sites->len; b++)
				if (((struct pp_suggest_site *)lock->sites->pdata[a])->n_unknown)
					pair_for(lock, a, b)->conflicts = true;
	}
}

void pp_suggest_facts_add(struct pp_suggest_facts *facts, struct pp_replay_model *model,
			  const GArray *sections, const GArray *sets,
			  const struct pp_suggest_namer *namer)
{
	struct run run = {
	    .facts = facts,
	    .model = model,
	    .sections = sections,
	    .sets = sets,
	    .namer = namer,
	    .shared = pp_suggest_shared_new(),
	    .conflicts = g_hash_table_new_full(
		NULL, NULL, NULL, (GDestroyNotify)(void (*)(void))pp_suggest_conflicts_free),
	    .joined = pp_replay_join_sites(model),
	    .seen = g_hash_table_new(NULL, NULL),
	    .threads = g_hash_table_new(NULL, NULL),
	    .named = onces_new(),
	    .units = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_hash_table_unref),
	};

	run.conditions = pp_replay_condition_sites(model, run.joined);
	facts->n_runs++;
	add_shared(&run);
	for (guint first = 0, n; first < sections->len; first += n) {
		n = pp_ulcp_count_of_lock(sections, first);
		add_lock(&run, first, n);
	}
	add_conflicts(&run);
	add_codes(&run);
	add_unknown(facts);
	pp_suggest_shared_free(run.shared);
	g_hash_table_unref(run.conflicts);
	g_hash_table_unref(run.conditions);
	g_hash_table_unref(run.seen);
	g_hash_table_unref(run.threads);
	g_hash_table_unref(run.named);
	g_hash_table_unref(run.units);
	g_free(run.joined);
}
