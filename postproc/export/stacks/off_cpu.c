/* SPDX-License-Identifier: MIT */
/*
 * Collects the blocked time of each operation until its end gives the call path, then adds it to
 * that stack.
 */
#include "export/stacks/off_cpu.h"

#include "analysis/select.h"
#include "analysis/state/object_refs.h"
#include "analysis/state/select_object.h"

/* The blocked time so far of an operation that has not ended. */
struct sleep {
	enum st_event op;
	uint64_t object, site;
	int64_t begin_ns, slept_ns;
};

struct pp_off_cpu {
	const struct pp_export *export;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_objects objects;
	struct pp_thread_states *states;
	bool with_wakers; /* feed these only if wakers are wanted */
	struct pp_wakers wakers;
	GHashTable *sleeps; /* const struct pp_thread * -> GArray of struct sleep */
	struct pp_object_refs refs;
	GHashTable *known; /* a set of struct pp_off_cpu_use * */
	GPtrArray *uses;   /* in order of first use */
};

static guint use_hash(const void *data)
{
	const struct pp_off_cpu_use *use = data;

	return g_direct_hash(use->thread) ^ use->number * 31 ^ g_direct_hash(use->path) * 961 ^
	       g_int64_hash(&use->site) ^ use->op ^ g_direct_hash(use->waker.thread) * 7 ^
	       g_direct_hash(use->waker.path) * 17 ^ g_int64_hash(&use->waker.site) * 3;
}

static gboolean use_equal(const void *a, const void *b)
{
	const struct pp_off_cpu_use *x = a, *y = b;

	return x->thread == y->thread && x->number == y->number && x->path == y->path &&
	       x->site == y->site && x->op == y->op && x->waker.thread == y->waker.thread &&
	       x->waker.path == y->waker.path && x->waker.site == y->waker.site &&
	       x->waker.op == y->waker.op;
}

static void add_sleep(struct pp_off_cpu *self, const struct pp_off_cpu_use *key, int64_t slept_ns)
{
	struct pp_off_cpu_use *use = g_hash_table_lookup(self->known, key);

	if (!use) {
		use = g_memdup2(key, sizeof(*key));
		use->slept_ns = 0;
		g_hash_table_add(self->known, use);
		g_ptr_array_add(self->uses, use);
	}
	use->slept_ns += slept_ns;
}

/* --- objects that no longer exist ------------------------------------------------------------- */

static bool on_end(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_off_cpu *self = data;

	(void)group;
	if (self->with_wakers)
		pp_wakers_forget(&self->wakers, object);
	return pp_object_refs_end(&self->refs, object);
}

/* Replaces the numbers of folded objects; uses that are the same then are joined. */
static void renumber(struct pp_off_cpu *self)
{
	GPtrArray *uses = self->uses;

	g_hash_table_remove_all(self->known);
	self->uses = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < uses->len; i++) {
		struct pp_off_cpu_use *use = uses->pdata[i];

		use->number = pp_object_refs_now(&self->refs, use->number);
		add_sleep(self, use, use->slept_ns);
	}
	g_ptr_array_unref(uses);
}

static void fold_objects(struct pp_off_cpu *self)
{
	if (self->refs.ended->len <= PP_OBJECT_REFS_MANY ||
	    pp_selects_by(self->export->context, PP_SELECT_OBJECT))
		return;
	pp_object_refs_begin(&self->refs);
	for (guint i = 0; i < self->uses->len; i++) {
		const struct pp_off_cpu_use *use = self->uses->pdata[i];

		pp_object_refs_weigh(&self->refs, use->number, use->slept_ns);
	}
	pp_object_refs_fold(&self->refs, &self->objects);
	renumber(self);
	pp_object_refs_forget(&self->refs);
}

/* --- events ----------------------------------------------------------------------------------- */

static GArray *sleeps_of(const struct pp_off_cpu *self, const struct pp_thread *thread)
{
	GArray *sleeps = g_hash_table_lookup(self->sleeps, thread);

	if (!sleeps) {
		sleeps = g_array_new(FALSE, FALSE, sizeof(struct sleep));
		g_hash_table_insert(self->sleeps, (void *)thread, sleeps);
	}
	return sleeps;
}

static bool is_of(const struct sleep *sleep, const struct pp_operation *operation)
{
	return sleep->op == operation->op && sleep->object == operation->object &&
	       sleep->begin_ns == operation->begin_ns;
}

static void on_interval(void *data, const struct pp_interval *interval)
{
	struct pp_off_cpu *self = pp_objects_owner(data);
	const struct pp_operation *operation = interval->operation;
	GArray *sleeps;
	struct sleep sleep;

	if (interval->mode != PP_MODE_BLOCKED_SYNC || !operation)
		return;
	sleeps = sleeps_of(self, interval->thread);
	sleep = (struct sleep){
	    operation->op, operation->object, operation->site, operation->begin_ns,
	    pp_selected_ns(self->export->context, interval->start_ns, interval->end_ns)};
	for (guint i = 0; i < sleeps->len; i++) {
		struct sleep *known = &g_array_index(sleeps, struct sleep, i);

		if (is_of(known, operation)) {
			known->slept_ns += sleep.slept_ns;
			return;
		}
	}
	g_array_append_val(sleeps, sleep);
}

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	pp_wakers_waits(&((struct pp_off_cpu *)data)->wakers, object, operation);
}

static void on_yielded(void *data, struct pp_object *mutex, const struct pp_operation *operation)
{
	pp_wakers_yielded(&((struct pp_off_cpu *)data)->wakers, mutex, operation);
}

/* Returns the operation that ended the wait, if uses are distinguished by it. */
static struct pp_release waker_of(struct pp_off_cpu *self, const struct pp_object *object,
				  const struct pp_operation *operation)
{
	struct pp_release waker = {0};

	if (!self->with_wakers)
		return waker;
	if (operation->waited)
		(void)pp_wakers_end(&self->wakers, object, operation, &waker);
	pp_wakers_operation(&self->wakers, object, operation);
	waker.object = NULL;
	waker.at_ns = 0;
	return waker;
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_off_cpu *self = data;
	GArray *sleeps = sleeps_of(self, operation->thread);
	struct pp_off_cpu_use use = {.thread = operation->thread,
				     .number = pp_object_number(object),
				     .path = operation->path,
				     .site = operation->site,
				     .op = operation->op};

	(void)acquired;
	/* A condition wait is reported a second time, for its mutex. */
	if (object->type != pp_sync_type(operation->op))
		return;
	use.waker = waker_of(self, object, operation);
	for (guint i = sleeps->len; i-- > 0;) {
		const struct sleep *sleep = &g_array_index(sleeps, struct sleep, i);

		if (!is_of(sleep, operation))
			continue;
		if (sleep->slept_ns && pp_selects_operation(self->export->context, operation)) {
			(void)pp_object_refs_add(&self->refs, object);
			add_sleep(self, &use, sleep->slept_ns);
		}
		g_array_remove_index_fast(sleeps, i);
	}
	fold_objects(self);
}

static void on_io(void *data, const struct pp_io *io)
{
	struct pp_off_cpu *self = pp_objects_owner(data);
	const struct pp_off_cpu_use use = {
	    .thread = io->thread,
	    .number = PP_OBJECT_REFS_NONE,
	    .path = io->path,
	    .site = io->site,
	    .op = pp_io_op(io->call),
	};

	if (io->blocked_ns && !pp_selects_by(self->export->context, PP_SELECT_OBJECT) &&
	    pp_selects_call(self->export->context, io->thread, pp_io_name(io->call), io->site,
			    io->end_ns - io->begin_ns))
		add_sleep(self, &use, io->blocked_ns);
}

struct pp_off_cpu *pp_off_cpu_new(const struct pp_export *export, bool with_wakers)
{
	struct pp_off_cpu *self = g_new0(struct pp_off_cpu, 1);

	self->export = export;
	self->with_wakers = with_wakers;
	pp_wakers_init(&self->wakers);
	pp_object_refs_init(&self->refs);
	self->object_listener = (struct pp_object_listener){
	    .data = self, .operation = on_operation, .fold = on_end, .context = export->context};
	if (with_wakers) {
		self->object_listener.waits = on_waits;
		self->object_listener.yielded = on_yielded;
	}
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	self->thread_listener = pp_objects_feed(&self->objects);
	self->thread_listener.interval = on_interval;
	self->thread_listener.io = on_io;
	self->states = pp_thread_states_new(export->context, &self->thread_listener, NULL);
	self->sleeps = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
	self->known = g_hash_table_new(use_hash, use_equal);
	self->uses = g_ptr_array_new_with_free_func(g_free);
	return self;
}

void pp_off_cpu_event(struct pp_off_cpu *self, const struct pp_event *event)
{
	if (self->with_wakers && event->kind == PP_EVENT_WAKING)
		pp_wakers_waking(&self->wakers, event);
	pp_thread_states_event(self->states, event);
}

/* Adds operations that never ended; the generation of their object is unknown. */
static void add_the_rest(struct pp_off_cpu *self)
{
	GHashTableIter iter;
	void *thread, *sleeps;

	g_hash_table_iter_init(&iter, self->sleeps);
	while (g_hash_table_iter_next(&iter, &thread, &sleeps))
		for (guint i = 0; i < ((GArray *)sleeps)->len; i++) {
			const struct sleep *sleep =
			    &g_array_index((GArray *)sleeps, struct sleep, i);
			struct pp_off_cpu_use use = {.thread = thread,
						     .number = PP_OBJECT_REFS_NONE,
						     .site = sleep->site,
						     .op = sleep->op};

			/* Only these parts of the selection can still be evaluated. */
			if (sleep->slept_ns &&
			    pp_selects_thread(self->export->context, use.thread) &&
			    !pp_selects_by(self->export->context, PP_SELECT_OBJECT |
								      PP_SELECT_FUNCTION |
								      PP_SELECT_MIN_WAIT))
				add_sleep(self, &use, sleep->slept_ns);
		}
}

static void find_objects(struct pp_off_cpu *self)
{
	for (guint i = 0; i < self->uses->len; i++) {
		struct pp_off_cpu_use *use = self->uses->pdata[i];

		use->object = pp_object_refs_at(&self->refs, use->number);
	}
}

/* Selections by name are applied at the end. */
static void drop_others(struct pp_off_cpu *self)
{
	GPtrArray *chosen = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < self->uses->len; i++) {
		struct pp_off_cpu_use *use = self->uses->pdata[i];

		if (!use->object || pp_selects_object(self->export->context, use->object))
			g_ptr_array_add(chosen, use);
		else
			g_free(use);
	}
	g_ptr_array_set_free_func(self->uses, NULL);
	g_ptr_array_unref(self->uses);
	self->uses = chosen;
}

void pp_off_cpu_finish(struct pp_off_cpu *self, int64_t end_ns)
{
	pp_thread_states_finish(self->states, end_ns);
	add_the_rest(self);
	g_hash_table_remove_all(self->known);
	find_objects(self);
	drop_others(self);
}

const GPtrArray *pp_off_cpu_uses(const struct pp_off_cpu *self)
{
	return self->uses;
}

void pp_off_cpu_free(struct pp_off_cpu *self)
{
	if (!self)
		return;
	g_hash_table_unref(self->sleeps);
	g_hash_table_unref(self->known);
	g_ptr_array_unref(self->uses);
	pp_wakers_done(&self->wakers);
	pp_object_refs_done(&self->refs);
	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, NULL);
	g_free(self);
}
