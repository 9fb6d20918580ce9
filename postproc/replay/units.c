/* SPDX-License-Identifier: MIT */
/*
 * Data is divided into words of 8 bytes. A word knows its threads and whether it is written; then
 * each set of accesses joins its shared words (union-find). The k-th instance of a section, by
 * thread and lock, belongs to the k-th step that takes that lock.
 *
 * A section's conflicts are its accesses to lines of which it accesses a shared word that one of
 * the lock's sections writes, or memory that another thread frees later.
 */
#include "replay/units.h"

#include <stdlib.h>

#include "replay/frees.h"

#define WORD_BYTES 8u

struct word {
	uint32_t serial; /* of the first thread */
	bool is_shared, is_written;
	uint32_t parent; /* number of a word in the same unit; its own: it stands for the unit */
	uint32_t unit;	 /* of such a word; 0: no number so far */
};

/* A section, by the numbers of its thread and of the section of the lock there. */
struct instance {
	struct pp_replay_set set; /* without numbers */
	const struct pp_thread *thread;
	int64_t begin_ns;
};

/* Instances of a lock's sections, in order, by thread. */
struct lock {
	uint64_t address, load_id;
	unsigned generation;
	GPtrArray *of_thread; /* by serial: of struct instance; or NULL */
	GHashTable *numbers;  /* address of a word -> its number + 1 */
	GArray *words;	      /* of struct word */
	uint32_t n_units;
};

struct pp_replay_units {
	struct pp_access_listener listener;
	struct pp_access_sections *sections;
	GPtrArray *locks;		 /* of struct lock * */
	GArray *all;			 /* of struct pp_replay_set, by thread and step */
	struct pp_replay_orders *orders; /* NULL: not wanted */
	struct pp_replay_frees *frees;
};

static void set_done(void *data)
{
	struct pp_replay_set *set = data;

	pp_access_set_unref(set->set);
	pp_access_set_unref(set->freed);
	pp_access_set_unref(set->freed_later);
	pp_replay_order_free(set->order);
}

static void instance_done(void *data)
{
	set_done(&((struct instance *)data)->set);
}

static GArray *array_new(size_t size, GDestroyNotify done)
{
	GArray *array = g_array_new(FALSE, FALSE, (guint)size);

	g_array_set_clear_func(array, done);
	return array;
}

static struct pp_replay_set *set_at(const GArray *instances, guint i)
{
	return &g_array_index(instances, struct instance, i).set;
}

static void sets_free(void *data)
{
	if (data)
		g_array_unref(data);
}

static void lock_free(void *data)
{
	struct lock *lock = data;

	g_ptr_array_unref(lock->of_thread);
	g_hash_table_unref(lock->numbers);
	g_array_unref(lock->words);
	g_free(lock);
}

/* --- instances -------------------------------------------------------------------------------- */

static struct lock *lock_of(struct pp_replay_units *self, struct pp_object *object)
{
	struct lock *lock = object->data;

	if (lock)
		return lock;
	lock = object->data = g_new0(struct lock, 1);
	lock->address = object->address;
	lock->load_id = object->load_id;
	lock->generation = object->generation;
	lock->of_thread = g_ptr_array_new_with_free_func(sets_free);
	lock->numbers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	lock->words = g_array_new(FALSE, FALSE, sizeof(struct word));
	g_ptr_array_add(self->locks, lock);
	return lock;
}

static void on_segment(void *data, const struct pp_access_instance *instance,
		       const struct pp_event *event)
{
	const struct pp_replay_units *self = data;

	pp_replay_orders_segment(self->orders, instance, event);
}

/* The set of all that the section accessed, or freed. */
static struct pp_access_set *whole_set(const struct pp_access_instance *instance)
{
	struct pp_access_set *accessed = pp_access_set_union(instance->set, instance->ended_set);
	struct pp_access_set *whole = pp_access_set_union(accessed, instance->freed_set);

	pp_access_set_unref(accessed);
	return whole;
}

static void on_ended(void *data, const struct pp_access_instance *instance)
{
	const struct pp_replay_units *self = data;
	struct lock *lock = lock_of(data, instance->object);
	uint32_t serial = instance->thread->serial;
	struct instance new = {
	    .set = {.known = instance->known, .is_inexact = instance->left_out != 0},
	    .thread = instance->thread,
	    .begin_ns = instance->begin_ns};

	pp_by_serial_reach(lock->of_thread, serial);
	if (!lock->of_thread->pdata[serial])
		lock->of_thread->pdata[serial] = array_new(sizeof(new), instance_done);
	if (instance->known == PP_ACCESSES_KNOWN)
		new.set.set = whole_set(instance);
	if (instance->freed_set->n)
		new.set.freed = pp_access_set_ref(instance->freed_set);
	if (self->orders)
		new.set.order = pp_replay_orders_take(self->orders, instance);
	g_array_append_val((GArray *)lock->of_thread->pdata[serial], new);
}

static void on_freed_by(void *data, const struct pp_thread *thread, uint64_t address, uint64_t size,
			int64_t time_ns)
{
	const struct pp_replay_units *self = data;

	pp_replay_frees_add(self->frees, thread, address, size, time_ns);
}

struct pp_replay_units *pp_replay_units_new(const struct pp_pass_context *context, bool with_spans)
{
	struct pp_replay_units *self = g_new0(struct pp_replay_units, 1);

	self->listener =
	    (struct pp_access_listener){.data = self, .ended = on_ended, .freed_by = on_freed_by};
	if (with_spans) {
		self->orders = pp_replay_orders_new();
		self->listener.segment = on_segment;
	}
	self->sections = pp_access_sections_new(context, &self->listener);
	self->locks = g_ptr_array_new_with_free_func(lock_free);
	self->all = array_new(sizeof(struct pp_replay_set), set_done);
	self->frees = pp_replay_frees_new();
	return self;
}

void pp_replay_units_free(struct pp_replay_units *self)
{
	if (!self)
		return;
	pp_access_sections_free(self->sections, NULL);
	g_ptr_array_unref(self->locks);
	g_array_unref(self->all);
	pp_replay_orders_free(self->orders);
	pp_replay_frees_free(self->frees);
	g_free(self);
}

void pp_replay_units_event(struct pp_replay_units *self, const struct pp_event *event)
{
	pp_access_sections_event(self->sections, event);
}

/* --- words ------------------------------------------------------------------------------------ */

static struct word *word_at(const struct lock *lock, uint32_t number)
{
	return &g_array_index(lock->words, struct word, number);
}

static uint32_t number_of(struct lock *lock, uint64_t address, uint32_t serial)
{
	void *known = g_hash_table_lookup(lock->numbers, &address);
	struct word new = {.serial = serial, .parent = lock->words->len};

	if (known)
		return GPOINTER_TO_UINT(known) - 1;
	g_array_append_val(lock->words, new);
	g_hash_table_insert(lock->numbers, g_memdup2(&address, sizeof(address)),
			    GUINT_TO_POINTER(lock->words->len));
	return lock->words->len - 1;
}

static uint32_t root_of(const struct lock *lock, uint32_t number)
{
	while (word_at(lock, number)->parent != number) {
		struct word *word = word_at(lock, number);

		word->parent = word_at(lock, word->parent)->parent;
		number = word->parent;
	}
	return number;
}

/* Calls take() for each word that the set accesses. */
static void each_word(struct lock *lock, const struct pp_access_set *set, uint32_t serial,
		      void (*take)(struct lock *lock, uint32_t number, bool is_written, void *data),
		      void *data)
{
	for (unsigned i = 0; i < set->n; i++) {
		const struct pp_access_line *line = &set->lines[i];

		for (unsigned k = 0; k < 64; k += WORD_BYTES) {
			uint64_t mask = UINT64_C(0xff) << k;

			if (!((line->read | line->written) & mask))
				continue;
			take(lock, number_of(lock, line->address + k, serial), line->written & mask,
			     data);
		}
	}
}

static void note_word(struct lock *lock, uint32_t number, bool is_written, void *data)
{
	struct word *word = word_at(lock, number);

	word->is_written |= is_written;
	word->is_shared |= word->serial != *(const uint32_t *)data;
}

/* The shared words of a set: the first one, UINT32_MAX: none; and whether it writes one. */
struct shared {
	uint32_t first;
	bool writes;
};

static void join_word(struct lock *lock, uint32_t number, bool is_written, void *data)
{
	struct shared *shared = data;
	const struct word *word = word_at(lock, number);

	if (!word->is_shared || !word->is_written)
		return;
	shared->writes |= is_written;
	if (shared->first == UINT32_MAX)
		shared->first = number;
	else
		word_at(lock, root_of(lock, number))->parent = root_of(lock, shared->first);
}

/* Calls each_word() for each set of each thread, once if the set is repeated. */
static void note_words(struct lock *lock)
{
	for (uint32_t serial = 0; serial < lock->of_thread->len; serial++) {
		const GArray *sets = lock->of_thread->pdata[serial];
		g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

		for (guint i = 0; sets && i < sets->len; i++) {
			struct pp_access_set *set = set_at(sets, i)->set;

			if (set && g_hash_table_add(seen, set))
				each_word(lock, set, serial, note_word, &serial);
		}
	}
}

static struct shared join_words(struct lock *lock, const struct pp_access_set *set, uint32_t serial)
{
	struct shared shared = {.first = UINT32_MAX};

	each_word(lock, set, serial, join_word, &shared);
	return shared;
}

static void join_all(struct lock *lock)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

	for (uint32_t serial = 0; serial < lock->of_thread->len; serial++) {
		const GArray *sets = lock->of_thread->pdata[serial];

		for (guint i = 0; sets && i < sets->len; i++) {
			struct pp_access_set *set = set_at(sets, i)->set;

			if (set && g_hash_table_add(seen, set))
				join_words(lock, set, serial);
		}
	}
}

/* --- the model -------------------------------------------------------------------------------- */

static guint hash_lock(const void *data)
{
	const struct lock *lock = data;

	return g_int64_hash(&lock->address) ^ lock->generation;
}

static gboolean equal_locks(const void *a, const void *b)
{
	const struct lock *x = a, *y = b;

	return x->address == y->address && x->load_id == y->load_id &&
	       x->generation == y->generation;
}

static struct lock *find_lock(GHashTable *locks, const struct pp_object *object)
{
	const struct lock key = {.address = object->address,
				 .load_id = object->load_id,
				 .generation = object->generation};

	return g_hash_table_lookup(locks, &key);
}

static uint32_t unit_of(struct lock *lock, const struct shared *shared)
{
	struct word *root;

	if (shared->first == UINT32_MAX)
		return PP_REPLAY_NO_UNIT;
	root = word_at(lock, root_of(lock, shared->first));
	if (!root->unit)
		root->unit = ++lock->n_units;
	return root->unit;
}

/* True if a word of the line that the section accesses is shared, and written. */
static bool is_conflict(const struct lock *lock, const struct pp_access_line *line)
{
	for (unsigned k = 0; k < 64; k += WORD_BYTES) {
		uint64_t address = line->address + k;
		void *known = (line->read | line->written) & UINT64_C(0xff) << k
				  ? g_hash_table_lookup(lock->numbers, &address)
				  : NULL;
		const struct word *word = known ? word_at(lock, GPOINTER_TO_UINT(known) - 1) : NULL;

		if (word && word->is_shared && word->is_written)
			return true;
	}
	return false;
}

static bool is_freed_later(const struct pp_replay_set *set, const struct pp_access_line *line)
{
	return set->freed_later && pp_access_set_line(set->freed_later, line->address);
}

/* Sets where in the section its first and its last conflict are. */
static void set_span(const struct lock *lock, const struct pp_replay_set *set,
		     struct pp_replay_access *access)
{
	const struct pp_replay_order *order = set->order;
	uint64_t first = UINT64_MAX, last = 0;

	access->has_span = !set->is_inexact && !(order && order->is_unknown);
	if (!access->has_span || !order)
		return;
	for (guint i = 0; i < order->lines->len; i++) {
		const struct pp_replay_order_line *at =
		    &g_array_index(order->lines, struct pp_replay_order_line, i);
		const struct pp_access_line *line = pp_access_set_line(set->set, at->address);

		if (!line || !(is_conflict(lock, line) || is_freed_later(set, line)))
			continue;
		first = MIN(first, at->first);
		last = MAX(last, at->last);
	}
	if (!last)
		return;
	access->from = (double)(first - 1) / (double)order->n_accesses;
	access->to = (double)last / (double)order->n_accesses;
}

/* Adds the accesses of a step that takes a lock. */
static void add_access(struct pp_replay_model *model, struct lock *lock, uint32_t serial,
		       const struct pp_replay_set *set, bool with_spans)
{
	struct pp_replay_access access = {.thread = set->thread, .step = set->step};
	struct shared shared;

	if (!set->set)
		return;
	shared = join_words(lock, set->set, serial);
	access.unit = unit_of(lock, &shared);
	access.writes = shared.writes;
	if (with_spans)
		set_span(lock, set, &access);
	g_array_append_val(model->accesses, access);
}

/* The accesses of the k-th section of the lock; the order is lent by it. */
static struct pp_replay_set find_set(const struct pp_replay_units *self, const struct lock *lock,
				     uint32_t serial, uint32_t k)
{
	const GArray *of = serial < lock->of_thread->len ? lock->of_thread->pdata[serial] : NULL;
	const struct instance *instance =
	    of && k < of->len ? &g_array_index(of, struct instance, k) : NULL;
	struct pp_replay_set set = {.known = PP_ACCESSES_UNKNOWN};

	if (!instance)
		return set;
	set = instance->set;
	if (set.freed)
		pp_access_set_ref(set.freed);
	if (!set.set)
		return set;
	pp_access_set_ref(set.set);
	set.freed_later =
	    pp_replay_frees_part(self->frees, instance->thread, instance->begin_ns, set.set);
	return set;
}

static void add_thread(struct pp_replay_units *self, struct pp_replay_model *model,
		       struct lock *const *locks, uint32_t number, uint32_t serial)
{
	const struct pp_replay_thread *thread = model->threads->pdata[number];
	g_autofree uint32_t *counts = g_new0(uint32_t, model->objects->len + 1);

	for (guint i = 0; i < thread->steps->len; i++) {
		const struct pp_replay_step *step =
		    &g_array_index(thread->steps, struct pp_replay_step, i);
		struct lock *lock = pp_replay_acquires(step->kind) ? locks[step->object] : NULL;
		struct pp_replay_set set;

		if (!lock)
			continue;
		set = find_set(self, lock, serial, counts[step->object]++);
		set.thread = number;
		set.step = i;
		add_access(model, lock, serial, &set, self->orders != NULL);
		set.order = NULL; /* lent by the lock's array */
		g_array_append_val(self->all, set);
	}
}

void pp_replay_units_finish(struct pp_replay_units *self, struct pp_replay_model *model,
			    const GPtrArray *objects, const uint32_t *serials, int64_t end_ns)
{
	g_autofree struct lock **locks = g_new0(struct lock *, objects->len + 1);
	g_autoptr(GHashTable) known = g_hash_table_new(hash_lock, equal_locks);

	pp_access_sections_finish(self->sections, end_ns);
	for (guint i = 0; i < self->locks->len; i++) {
		g_hash_table_add(known, self->locks->pdata[i]);
		note_words(self->locks->pdata[i]);
		join_all(self->locks->pdata[i]);
	}
	for (guint i = 0; i < objects->len; i++)
		locks[i] = find_lock(known, objects->pdata[i]);
	for (guint i = 0; i < model->threads->len; i++)
		add_thread(self, model, locks, i, serials[i]);
}

GArray *pp_replay_units_sets(const struct pp_replay_units *self)
{
	return g_array_ref(self->all);
}

static int compare_sets(const void *a, const void *b)
{
	const struct pp_replay_set *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->step > y->step) - (x->step < y->step);
}

const struct pp_replay_set *pp_replay_find_accesses(const GArray *sets, uint32_t thread,
						    uint32_t step)
{
	const struct pp_replay_set key = {.thread = thread, .step = step};
	const struct pp_replay_set *found =
	    sets->len ? bsearch(&key, sets->data, sets->len, sizeof(key), compare_sets) : NULL;

	return found && found->set && !found->is_inexact ? found : NULL;
}

struct pp_access_set *pp_replay_find_set(const GArray *sets, uint32_t thread, uint32_t step)
{
	const struct pp_replay_set *found = pp_replay_find_accesses(sets, thread, step);

	return found ? found->set : NULL;
}
