/* SPDX-License-Identifier: MIT */
/*
 * See conflicts.h.  Equal conflicts (of a pair of sections, with the same two sets) are counted
 * first, and get their places when a block is allocated or freed, or at the end.
 */
#include "pass/accesses/conflicts.h"

#include "analysis/mix.h"
#include "analysis/select.h"

#define COUNTED_MAX 65536u

struct counted {
	struct pp_conflict_pair *pair;
	struct pp_access_set *a, *b; /* references */
	uint64_t n;
};

/* --- codes and pairs -------------------------------------------------------------------------- */

static guint code_hash(const void *data)
{
	const struct pp_conflict_code *code = data;

	return (guint)pp_mix(pp_mix((uintptr_t)code->process, code->op), code->site);
}

static gboolean code_equal(const void *a, const void *b)
{
	const struct pp_conflict_code *x = a, *y = b;

	return x->process == y->process && x->op == y->op && x->site == y->site;
}

static const struct pp_conflict_code *code_of(struct pp_conflict_pass *self,
					      const struct pp_access_instance *instance)
{
	const struct pp_conflict_code key = {instance->thread->process, instance->op,
					     instance->site};
	struct pp_conflict_code *code = g_hash_table_lookup(self->codes, &key);

	if (!code) {
		code = g_memdup2(&key, sizeof(key));
		g_hash_table_add(self->codes, code);
	}
	return code;
}

static guint pair_hash(const void *data)
{
	const struct pp_conflict_pair *pair = data;

	return (guint)pp_mix((uintptr_t)pair->a, (uintptr_t)pair->b);
}

static gboolean pair_equal(const void *a, const void *b)
{
	const struct pp_conflict_pair *x = a, *y = b;

	return x->a == y->a && x->b == y->b;
}

static void pair_free(void *data)
{
	struct pp_conflict_pair *pair = data;

	g_clear_pointer(&pair->places, g_hash_table_unref);
	g_free(pair);
}

static struct pp_conflict_pair *pair_of(struct pp_conflict_pass *self,
					const struct pp_conflict_code *a,
					const struct pp_conflict_code *b)
{
	struct pp_conflict_pair key = {.a = MIN(a, b), .b = MAX(a, b)};
	struct pp_conflict_pair *pair = g_hash_table_lookup(self->pairs, &key);

	if (!pair) {
		pair = g_memdup2(&key, sizeof(key));
		g_hash_table_add(self->pairs, pair);
	}
	return pair;
}

static struct pp_conflict_part *part_of(struct pp_conflict_lock *lock,
					struct pp_conflict_pair *pair)
{
	struct pp_conflict_part new = {.pair = pair};

	for (guint i = lock->parts->len; i-- > 0;) {
		struct pp_conflict_part *part =
		    &g_array_index(lock->parts, struct pp_conflict_part, i);

		if (part->pair == pair)
			return part;
	}
	g_array_append_val(lock->parts, new);
	return &g_array_index(lock->parts, struct pp_conflict_part, lock->parts->len - 1);
}

/* --- locks ------------------------------------------------------------------------------------ */

static struct pp_conflict_lock *lock_of(struct pp_object *object)
{
	struct pp_conflict_lock *lock = object->data;

	if (!lock) {
		lock = object->data = g_new0(struct pp_conflict_lock, 1);
		lock->parts = g_array_new(FALSE, FALSE, sizeof(struct pp_conflict_part));
	}
	return lock;
}

static void lock_free(void *data)
{
	struct pp_conflict_lock *lock = data;

	if (!lock)
		return;
	g_array_unref(lock->parts);
	pp_access_set_unref(lock->set);
	g_free(lock);
}

static bool on_fold(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_conflict_lock *lock = g_steal_pointer(&object->data);
	bool has_parts = lock && lock->parts->len;

	(void)data;
	for (guint i = 0; lock && i < lock->parts->len; i++) {
		const struct pp_conflict_part *part =
		    &g_array_index(lock->parts, struct pp_conflict_part, i);
		struct pp_conflict_figures *to = &part_of(lock_of(group), part->pair)->figures;

		to->n += part->figures.n;
		to->n_bytes += part->figures.n_bytes;
		to->n_lines += part->figures.n_lines;
		to->n_ended += part->figures.n_ended;
	}
	lock_free(lock);
	return has_parts;
}

static int64_t n_of(const struct pp_object *object)
{
	const struct pp_conflict_lock *lock = object->data;
	int64_t n = 0;

	for (guint i = 0; lock && i < lock->parts->len; i++)
		n += (int64_t)g_array_index(lock->parts, struct pp_conflict_part, i).figures.n;
	return n;
}

static int compare_objects(const struct pp_object *a, const struct pp_object *b)
{
	return pp_object_compare(a, n_of(a), b, n_of(b));
}

/* --- places of conflicts ---------------------------------------------------------------------- */

static guint place_hash(const void *data)
{
	return pp_memory_place_hash(&((const struct pp_conflict_place *)data)->place);
}

static gboolean place_equal(const void *a, const void *b)
{
	return pp_memory_place_equal(&((const struct pp_conflict_place *)a)->place,
				     &((const struct pp_conflict_place *)b)->place);
}

static void add_place(struct pp_conflict_pass *self, struct pp_conflict_pair *pair,
		      uint64_t address, uint64_t n)
{
	struct pp_conflict_place key = {
	    .place = pp_blocks_place(self->blocks, pair->a->process, address)};
	struct pp_conflict_place *place;

	if (!pair->places)
		pair->places = g_hash_table_new_full(place_hash, place_equal, g_free, NULL);
	place = g_hash_table_lookup(pair->places, &key);
	if (!place) {
		place = g_memdup2(&key, sizeof(key));
		g_hash_table_add(pair->places, place);
	}
	place->n += n;
}

/* Each word of 8 bytes is a place. */
static void add_places(struct pp_conflict_pass *self, struct pp_conflict_pair *pair,
		       uint64_t address, uint64_t bytes, uint64_t n)
{
	while (bytes) {
		unsigned at = (unsigned)__builtin_ctzll(bytes);

		add_place(self, pair, address + at, n);
		bytes &= ~(UINT64_C(0xff) << at / 8 * 8);
	}
}

/* --- conflicts that were only counted so far -------------------------------------------------- */

static guint counted_hash(const void *data)
{
	const struct counted *counted = data;

	return (guint)pp_mix(pp_mix((uintptr_t)counted->pair, counted->a->serial),
			     counted->b->serial);
}

static gboolean counted_equal(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	return x->pair == y->pair && x->a == y->a && x->b == y->b;
}

static void counted_free(void *data)
{
	struct counted *counted = data;

	pp_access_set_unref(counted->a);
	pp_access_set_unref(counted->b);
	g_free(counted);
}

static void flush(struct pp_conflict_pass *self)
{
	GHashTableIter iter;
	void *key;

	g_hash_table_iter_init(&iter, self->counted);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const struct counted *counted = key;
		const struct pp_overlap *overlap =
		    pp_overlaps_get(self->overlaps, counted->a, counted->b);

		for (unsigned i = 0; i < overlap->n; i++)
			add_places(self, counted->pair, overlap->lines[i].address,
				   overlap->lines[i].bytes, counted->n);
	}
	g_hash_table_remove_all(self->counted);
}

static void count_conflict(struct pp_conflict_pass *self, struct pp_conflict_pair *pair,
			   struct pp_access_set *a, struct pp_access_set *b)
{
	struct counted key = {.pair = pair, .a = a, .b = b, .n = 1};
	struct counted *counted = g_hash_table_lookup(self->counted, &key);

	if (counted) {
		counted->n++;
		return;
	}
	if (g_hash_table_size(self->counted) >= COUNTED_MAX)
		flush(self);
	counted = g_memdup2(&key, sizeof(key));
	pp_access_set_ref(a);
	pp_access_set_ref(b);
	g_hash_table_add(self->counted, counted);
}

/* --- comparisons ------------------------------------------------------------------------------ */

/* Memory was freed between the two instances.  Returns false if they do not conflict any more. */
static bool add_live(struct pp_conflict_pass *self, struct pp_conflict_pair *pair,
		     const struct pp_overlap *overlap, uint64_t n_freed)
{
	bool found = false;

	for (unsigned i = 0; i < overlap->n; i++) {
		uint64_t address = overlap->lines[i].address;
		uint64_t live = pp_lives_bytes(self->lives, pair->a->process, address,
					       overlap->lines[i].bytes, n_freed);

		found |= live != 0;
		add_places(self, pair, address, live, 1);
	}
	return found;
}

static void compare(struct pp_conflict_pass *self, struct pp_conflict_lock *lock,
		    const struct pp_conflict_code *code, struct pp_access_set *set)
{
	struct pp_conflict_pair *pair = pair_of(self, lock->code, code);
	struct pp_conflict_figures *figures = &part_of(lock, pair)->figures;
	const struct pp_overlap *overlap = pp_overlaps_get(self->overlaps, lock->set, set);
	bool conflicts = false, has_ended = false;

	if (overlap->has_bytes && lock->n_freed == pp_lives_now(self->lives)) {
		count_conflict(self, pair, lock->set, set);
		conflicts = true;
	} else if (overlap->has_bytes) {
		conflicts = add_live(self, pair, overlap, lock->n_freed);
		has_ended = !conflicts;
	}
	conflicts |= lock->has_conflict;
	figures->n++;
	figures->n_bytes += conflicts;
	figures->n_ended += !conflicts && has_ended;
	figures->n_lines += !conflicts && !has_ended && overlap->has_lines;
}

static void keep(struct pp_conflict_pass *self, struct pp_conflict_lock *lock,
		 const struct pp_conflict_code *code, const struct pp_access_instance *instance)
{
	pp_access_set_unref(lock->set);
	lock->set = pp_access_set_ref(instance->set);
	lock->thread = instance->thread;
	lock->code = code;
	lock->n_freed = pp_lives_now(self->lives);
	lock->has_conflict = false;
}

/*
 * Some bytes end their life before the instance ends: they are compared now.  Those that it frees
 * itself are as if written.
 */
static void on_freed_within(void *data, const struct pp_access_instance *instance)
{
	struct pp_conflict_pass *self = data;
	struct pp_conflict_lock *lock = lock_of(instance->object);
	const struct pp_overlap *overlap;
	struct pp_access_set *ending;

	/* In sampled mode it is not known yet whether the instance counts. */
	if (!lock->thread || lock->thread == instance->thread ||
	    instance->thread->process->accesses != PP_ACCESSES_COMPILED)
		return;
	ending = pp_access_set_union(instance->set, instance->freed_set);
	overlap = pp_overlaps_get(self->overlaps, lock->set, ending);
	if (overlap->has_bytes)
		lock->has_conflict |=
		    add_live(self, pair_of(self, lock->code, code_of(self, instance)), overlap,
			     lock->n_freed);
	pp_access_set_unref(ending);
}

static bool is_selected(const struct pp_conflict_pass *self,
			const struct pp_access_instance *instance)
{
	return pp_selects_time(self->context, instance->end_ns) &&
	       pp_selects_thread(self->context, instance->thread);
}

static void on_ended(void *data, const struct pp_access_instance *instance)
{
	struct pp_conflict_pass *self = data;
	struct pp_conflict_lock *lock = lock_of(instance->object);
	const struct pp_conflict_code *code;

	self->all.n++;
	self->all.known[instance->known]++;
	self->all.n_inexact += instance->left_out != 0;
	if (instance->known != PP_ACCESSES_KNOWN)
		return;
	code = code_of(self, instance);
	if (lock->thread == instance->thread) {
		self->n_same_thread += is_selected(self, instance);
	} else if (lock->thread && is_selected(self, instance)) {
		compare(self, lock, code, instance->set);
	}
	keep(self, lock, code, instance);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static void on_block(void *data, const struct pp_process *process, uint64_t address, uint64_t size,
		     uint64_t site)
{
	struct pp_conflict_pass *self = data;

	flush(self);
	pp_blocks_add(self->blocks, process, address, size, site);
}

static void on_freed(void *data, const struct pp_process *process, uint64_t address, uint64_t size)
{
	struct pp_conflict_pass *self = data;

	flush(self);
	pp_blocks_remove(self->blocks, process, address, size);
	pp_lives_end(self->lives, process, address, size);
}

/* --- the pass --------------------------------------------------------------------------------- */

static void *conflicts_start(const struct pp_pass_context *context)
{
	struct pp_conflict_pass *self = g_new0(struct pp_conflict_pass, 1);

	self->context = context;
	self->listener = (struct pp_access_listener){
	    .data = self,
	    .ended = on_ended,
	    .block = on_block,
	    .freed_within = on_freed_within,
	    .freed = on_freed,
	    .fold = on_fold,
	    .compare = compare_objects,
	};
	self->sections = pp_access_sections_new(context, &self->listener);
	self->overlaps = pp_overlaps_new();
	self->codes = g_hash_table_new_full(code_hash, code_equal, g_free, NULL);
	self->pairs = g_hash_table_new_full(pair_hash, pair_equal, pair_free, NULL);
	self->counted = g_hash_table_new_full(counted_hash, counted_equal, counted_free, NULL);
	self->blocks = pp_blocks_new();
	self->lives = pp_lives_new();
	return self;
}

static void conflicts_event(void *state, const struct pp_event *event)
{
	struct pp_conflict_pass *self = state;

	pp_access_sections_event(self->sections, event);
}

static void conflicts_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct pp_conflict_pass *self = state;

	pp_access_sections_finish(self->sections, end_ns);
	flush(self);
	pp_conflict_tables(self, tables);
}

static void conflicts_free(void *state)
{
	struct pp_conflict_pass *self = state;

	pp_access_sections_free(self->sections, lock_free);
	pp_overlaps_free(self->overlaps);
	g_hash_table_unref(self->counted);
	g_hash_table_unref(self->pairs);
	g_hash_table_unref(self->codes);
	pp_blocks_free(self->blocks);
	pp_lives_free(self->lives);
	g_free(self);
}

const struct pp_pass pp_pass_conflicts = {
    .name = "conflicts",
    .summary = "sections that conflict",
    .kinds = PP_ACCESS_SECTIONS_KINDS,
    .selects = PP_SELECT_TIME | PP_SELECT_THREAD | PP_SELECT_OBJECT,
    .has_operations = true,
    .start = conflicts_start,
    .event = conflicts_event,
    .finish = conflicts_finish,
    .free = conflicts_free,
};
