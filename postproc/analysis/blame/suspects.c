/* SPDX-License-Identifier: MIT */
/*
 * See suspects.h.  The shares of a process are two clocks: that of W_l runs at I_l / W_l, that of
 * W_co at I_c / W_co.  A thread is charged what its clock advanced while it was in the set, so a
 * change costs the same however many threads there are.
 *
 * Clocks run in units of 2^-32 ns, and the rest of each division is added to the next one, so no
 * time is lost.  At the end the sums are rounded so that the sum of all is exact.
 *
 * A semaphore is a lock from the time on when a thread posts what it has acquired, until another
 * one posts it.
 *
 * The begin and end of a thread are those in the model, as far as they are known there, since a
 * thread that computes may have no events.
 */
#include "analysis/blame/suspects.h"

#include "analysis/blame/transitions.h"
#include "analysis/select.h"

#define NO_ROLE PP_N_SUSPECT_KINDS

/* The threads of a process. */
struct crowd {
	int64_t until_ns; /* the clocks have run up to then */
	unsigned n_idle[PP_N_SUSPECT_KINDS], n_working[PP_N_SUSPECT_KINDS];
	unsigned __int128 clock[PP_N_SUSPECT_KINDS];
	uint64_t rest[PP_N_SUSPECT_KINDS]; /* units that are not in the clock yet */
};

struct wait {
	enum st_event op;
	uint64_t object;
	enum pp_suspect_kind kind;
	bool is_open;	    /* it is counted in n_idle */
	int64_t begin_ns;   /* the clocks' time at its begin */
	int64_t counted_ns; /* after its end: the selected time in n_idle */
};

struct member {
	struct crowd *crowd;
	bool lives, in_idle_call;
	GArray *waits;	  /* of struct wait, innermost last */
	GHashTable *held; /* a set of struct pp_object *: its locks, perhaps thousands */
	unsigned role;	  /* enum pp_suspect_kind, or NO_ROLE */
	unsigned __int128 mark;
	unsigned __int128 pending[PP_N_SUSPECT_KINDS]; /* has no path yet */
	/*
	 * In a process with samples: what belongs to the calls since the thread's last sample, if
	 * there is no other one.  struct pp_suspect_cell * -> unsigned __int128 *; NULL: nothing.
	 */
	GHashTable *since;
};

/* struct pp_object.data of a semaphore */
struct semaphore {
	bool is_lock;
	GHashTable *units; /* const struct pp_thread * -> what it acquired and did not post */
};

struct pp_suspects {
	const struct pp_pass_context *context;
	struct pp_objects objects;
	struct pp_object_listener object_listener;
	struct pp_thread_listener feed, listener; /* of the objects, and ours */
	struct pp_thread_states *states;
	int64_t now_ns;
	bool is_over;	     /* there are no more events */
	GPtrArray *members;  /* by thread serial; NULL: none yet */
	GHashTable *crowds;  /* const struct pp_process * -> struct crowd * */
	GArray *transitions; /* of struct pp_transition, in order of time */
	guint next;	     /* ... the next one */
	struct pp_suspect_cells cells;
	struct pp_suspect_sums sums;
};

bool pp_suspects_can(const struct pp_pass_context *context)
{
	return !pp_selects_by(context, PP_SELECT_OBJECT | PP_SELECT_MIN_WAIT);
}

/* --- clocks --------------------------------------------------------------------------------- */

static void advance(struct pp_suspects *self, struct crowd *crowd, enum pp_suspect_kind kind,
		    int64_t past_ns)
{
	int64_t idle_ns = past_ns * crowd->n_idle[kind];
	unsigned n = crowd->n_working[kind];
	unsigned __int128 units;

	if (!n) {
		self->sums.nobody_ns[kind] += idle_ns;
		return;
	}
	units = ((unsigned __int128)idle_ns << PP_SUSPECT_UNIT_BITS) + crowd->rest[kind];
	crowd->clock[kind] += units / n;
	crowd->rest[kind] = (uint64_t)(units % n);
}

/* Runs the clocks up to now. */
static void run(struct pp_suspects *self, struct crowd *crowd)
{
	int64_t past_ns;

	if (self->now_ns <= crowd->until_ns)
		return;
	if (crowd->n_idle[PP_SUSPECT_LOCK] || crowd->n_idle[PP_SUSPECT_OTHER]) {
		past_ns = pp_selected_ns(self->context, crowd->until_ns, self->now_ns);
		for (unsigned kind = 0; kind < PP_N_SUSPECT_KINDS; kind++)
			advance(self, crowd, kind, past_ns);
	}
	crowd->until_ns = self->now_ns;
}

static struct crowd *crowd_of(struct pp_suspects *self, const struct pp_process *process)
{
	struct crowd *crowd = g_hash_table_lookup(self->crowds, process);

	if (!crowd) {
		crowd = g_new0(struct crowd, 1);
		crowd->until_ns = INT64_MIN;
		g_hash_table_insert(self->crowds, (void *)process, crowd);
	}
	return crowd;
}

/* --- members -------------------------------------------------------------------------------- */

static struct member *member_of(struct pp_suspects *self, const struct pp_thread *thread)
{
	struct member *member;

	pp_by_serial_reach(self->members, thread->serial);
	member = self->members->pdata[thread->serial];
	if (!member) {
		member = self->members->pdata[thread->serial] = g_new0(struct member, 1);
		member->crowd = crowd_of(self, thread->process);
		member->waits = g_array_new(FALSE, FALSE, sizeof(struct wait));
		member->held = g_hash_table_new(NULL, NULL);
		member->role = NO_ROLE;
	}
	return member;
}

static void member_free(void *data)
{
	struct member *member = data;

	if (!member)
		return;
	g_array_unref(member->waits);
	g_hash_table_unref(member->held);
	g_clear_pointer(&member->since, g_hash_table_unref);
	g_free(member);
}

static unsigned role_of(const struct member *member)
{
	if (!member->lives || member->waits->len)
		return NO_ROLE;
	if (g_hash_table_size(member->held))
		return PP_SUSPECT_LOCK;
	return member->in_idle_call ? NO_ROLE : PP_SUSPECT_OTHER;
}

/* Takes over what the clock has advanced. */
static void collect(struct member *member)
{
	unsigned role = member->role;

	if (role == NO_ROLE)
		return;
	member->pending[role] += member->crowd->clock[role] - member->mark;
	member->mark = member->crowd->clock[role];
}

/* To be called after each change of what role_of() depends on. */
static void update(struct pp_suspects *self, struct member *member)
{
	unsigned role = role_of(member);

	if (role == member->role)
		return;
	run(self, member->crowd);
	collect(member);
	if (member->role != NO_ROLE)
		member->crowd->n_working[member->role]--;
	member->role = role;
	if (role == NO_ROLE)
		return;
	member->crowd->n_working[role]++;
	member->mark = member->crowd->clock[role];
}

/* --- charges -------------------------------------------------------------------------------- */

/* Adds to the sum that the cell will have if the thread has no other sample. */
static void defer(struct member *member, struct pp_suspect_cell *cell, unsigned __int128 units)
{
	unsigned __int128 *sum;

	if (!member->since)
		member->since = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	sum = g_hash_table_lookup(member->since, cell);
	if (!sum) {
		sum = g_new0(unsigned __int128, 1);
		g_hash_table_insert(member->since, cell, sum);
	}
	*sum += units;
}

/* The thread's time up to now belongs to that call, unless it is deferred. */
static void charge(struct pp_suspects *self, const struct pp_thread *thread,
		   const struct pp_blame_call *call, bool deferred)
{
	struct member *member = member_of(self, thread);

	run(self, member->crowd);
	collect(member);
	for (unsigned kind = 0; kind < PP_N_SUSPECT_KINDS; kind++) {
		const struct pp_suspect suspect = {
		    .kind = kind, .process = thread->process, .call = *call};
		struct pp_suspect_cell *cell;

		if (!member->pending[kind])
			continue;
		cell = pp_suspect_cell_of(&self->cells, &suspect);
		if (deferred)
			defer(member, cell, member->pending[kind]);
		else
			cell->units += member->pending[kind];
		member->pending[kind] = 0;
	}
}

/* The deferred time has no call yet, or that call. */
static void end_deferring(struct member *member, bool has_sample)
{
	GHashTableIter iter;
	gpointer key, value;

	if (!member->since)
		return;
	g_hash_table_iter_init(&iter, member->since);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		struct pp_suspect_cell *cell = key;
		const unsigned __int128 *units = value;

		*(has_sample ? &member->pending[cell->suspect.kind] : &cell->units) += *units;
	}
	g_clear_pointer(&member->since, g_hash_table_unref);
}

static void on_sample(struct pp_suspects *self, const struct pp_event *event)
{
	const struct pp_blame_call call = {.op = ST_N_EVENTS, .path = event->sample.path};
	struct member *member = member_of(self, event->thread);

	if (!call.path || member->role == NO_ROLE)
		return;
	end_deferring(member, true);
	charge(self, event->thread, &call, false);
}

/* --- holders -------------------------------------------------------------------------------- */

static void hold(struct pp_suspects *self, struct pp_object *object, const struct pp_thread *thread)
{
	struct member *member = member_of(self, thread);

	if (g_hash_table_add(member->held, object))
		update(self, member);
}

static void lose(struct pp_suspects *self, const struct pp_object *object,
		 const struct pp_thread *thread)
{
	struct member *member = member_of(self, thread);

	if (g_hash_table_remove(member->held, object))
		update(self, member);
}

static struct semaphore *semaphore_of(struct pp_object *object)
{
	struct semaphore *semaphore = object->data;

	if (!semaphore) {
		semaphore = object->data = g_new0(struct semaphore, 1);
		semaphore->units = g_hash_table_new(NULL, NULL);
	}
	return semaphore;
}

static void semaphore_free(void *data)
{
	struct semaphore *semaphore = data;

	g_hash_table_unref(semaphore->units);
	g_free(semaphore);
}

/* The threads that have acquired it hold a lock, or no longer. */
static void set_lock(struct pp_suspects *self, struct pp_object *object, bool is_lock)
{
	struct semaphore *semaphore = object->data;
	GHashTableIter iter;
	gpointer thread;

	if (semaphore->is_lock == is_lock)
		return;
	semaphore->is_lock = is_lock;
	g_hash_table_iter_init(&iter, semaphore->units);
	while (g_hash_table_iter_next(&iter, &thread, NULL)) {
		if (is_lock)
			hold(self, object, thread);
		else
			lose(self, object, thread);
	}
}

static void take_unit(struct pp_suspects *self, struct pp_object *object,
		      const struct pp_thread *thread)
{
	struct semaphore *semaphore = semaphore_of(object);
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(semaphore->units, thread));

	g_hash_table_insert(semaphore->units, (void *)thread, GUINT_TO_POINTER(n + 1));
	if (semaphore->is_lock)
		hold(self, object, thread);
}

static void post_unit(struct pp_suspects *self, struct pp_object *object,
		      const struct pp_thread *thread)
{
	struct semaphore *semaphore = semaphore_of(object);
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(semaphore->units, thread));

	if (n > 1)
		g_hash_table_insert(semaphore->units, (void *)thread, GUINT_TO_POINTER(n - 1));
	else
		g_hash_table_remove(semaphore->units, thread);
	if (n == 1)
		lose(self, object, thread);
	set_lock(self, object, n > 0);
}

static void on_semaphore(struct pp_suspects *self, struct pp_object *object,
			 const struct pp_operation *operation, bool acquired)
{
	if (acquired)
		take_unit(self, object, operation->thread);
	else if (operation->op == ST_EVENT_sem_post && operation->finished &&
		 operation->result == 0)
		post_unit(self, object, operation->thread);
	else if (object->ended && object->data)
		set_lock(self, object, false);
}

/* Its posts may be missing. */
static void lose_semaphores(struct pp_suspects *self, const struct pp_thread *thread)
{
	struct member *member = member_of(self, thread);
	bool has_changed = false;
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, member->held);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const struct pp_object *object = key;

		if (object->type != GM_SYNC_TYPE_sem)
			continue;
		g_hash_table_remove(((struct semaphore *)object->data)->units, thread);
		g_hash_table_iter_remove(&iter);
		has_changed = true;
	}
	if (has_changed)
		update(self, member);
}

/* --- waits ---------------------------------------------------------------------------------- */

static enum pp_suspect_kind kind_of(struct pp_suspects *self, const struct pp_operation *operation)
{
	enum gm_sync_type type = pp_sync_type(operation->op);
	const struct pp_object *object =
	    type == GM_SYNC_TYPE_sem
		? pp_objects_at(&self->objects, operation->thread->process, operation->object)
		: NULL;
	const struct semaphore *semaphore = object ? object->data : NULL;

	return pp_sync_type_is_lock(type) || (semaphore && semaphore->is_lock) ? PP_SUSPECT_LOCK
									       : PP_SUSPECT_OTHER;
}

static void open_wait(struct pp_suspects *self, const struct pp_operation *operation)
{
	struct member *member = member_of(self, operation->thread);
	struct wait wait = {
	    .op = operation->op,
	    .object = operation->object,
	    .kind = kind_of(self, operation),
	    .is_open = pp_selects_operation(self->context, operation),
	};

	run(self, member->crowd);
	wait.begin_ns = member->crowd->until_ns;
	member->crowd->n_idle[wait.kind] += wait.is_open;
	g_array_append_val(member->waits, wait);
	update(self, member);
}

static void close_wait(struct pp_suspects *self, const struct member *member, struct wait *wait)
{
	struct crowd *crowd = member->crowd;

	if (!wait->is_open)
		return;
	run(self, crowd);
	crowd->n_idle[wait->kind]--;
	wait->is_open = false;
	wait->counted_ns = pp_selected_ns(self->context, wait->begin_ns, crowd->until_ns);
}

/* The operation has ended, or was given up. */
static void end_wait(struct pp_suspects *self, const struct pp_operation *operation)
{
	struct member *member = member_of(self, operation->thread);

	if (pp_selects_operation(self->context, operation))
		self->sums.correction_ns +=
		    pp_selected_ns(self->context, operation->begin_ns, operation->end_ns);
	for (guint i = member->waits->len; i-- > 0;) {
		struct wait *wait = &g_array_index(member->waits, struct wait, i);

		if (wait->op != operation->op || wait->object != operation->object)
			continue;
		close_wait(self, member, wait);
		self->sums.correction_ns -= wait->counted_ns;
		g_array_remove_index(member->waits, i);
		break;
	}
	update(self, member);
}

/* --- begin and end of threads ----------------------------------------------------------------- */

static void start_thread(struct pp_suspects *self, const struct pp_thread *thread)
{
	struct member *member = member_of(self, thread);
	int64_t end_ns = pp_transition_end_ns(thread);

	member->lives = end_ns == PP_TIME_UNKNOWN || end_ns > self->now_ns;
	update(self, member);
}

/* Its waits do not end, but are no longer idleness. */
static void end_thread(struct pp_suspects *self, const struct pp_thread *thread)
{
	struct member *member = member_of(self, thread);

	for (guint i = 0; i < member->waits->len; i++)
		close_wait(self, member, &g_array_index(member->waits, struct wait, i));
	member->lives = false;
	update(self, member);
}

/* The kernel tells when it ends, which is later than what the runtime has seen of it. */
static bool ends_by_event(const struct pp_suspects *self, const struct pp_thread *thread)
{
	const struct pp_thread_state *state = pp_thread_state(self->states, thread);

	return !self->is_over && state && state->scheduled;
}

/* It is now time_ns; threads begin and end until then. */
static void go_to(struct pp_suspects *self, int64_t time_ns)
{
	while (self->next < self->transitions->len) {
		const struct pp_transition *next =
		    &g_array_index(self->transitions, struct pp_transition, self->next);

		if (next->time_ns > time_ns)
			break;
		self->next++;
		self->now_ns = MAX(self->now_ns, next->time_ns);
		if (!next->is_end)
			start_thread(self, next->thread);
		else if (!ends_by_event(self, next->thread))
			end_thread(self, next->thread);
	}
	if (time_ns != INT64_MAX)
		self->now_ns = MAX(self->now_ns, time_ns);
}

/* --- the thread listener ---------------------------------------------------------------------- */

static void on_begin(void *data, const struct pp_operation *operation)
{
	struct pp_suspects *self = pp_objects_owner(data);

	self->feed.begin(data, operation);
	open_wait(self, operation);
}

static void on_operation(void *data, const struct pp_operation *operation)
{
	struct pp_suspects *self = pp_objects_owner(data);
	const struct pp_blame_call call = {operation->op, operation->site, operation->path};

	self->feed.operation(data, operation);
	if (operation->waited)
		end_wait(self, operation);
	if (operation->finished && (call.site || call.path))
		charge(self, operation->thread, &call, operation->thread->process->has_stacks);
}

static void on_io_begin(void *data, const struct pp_io *io)
{
	struct pp_suspects *self = pp_objects_owner(data);
	struct member *member = member_of(self, io->thread);

	member->in_idle_call = pp_io_is_idle(io->call);
	update(self, member);
}

static void on_io(void *data, const struct pp_io *io)
{
	struct pp_suspects *self = pp_objects_owner(data);
	struct member *member = member_of(self, io->thread);

	member->in_idle_call = false;
	update(self, member);
}

static void on_started(void *data, const struct pp_thread *thread)
{
	start_thread(pp_objects_owner(data), thread);
}

static void on_ended(void *data, const struct pp_thread *thread)
{
	end_thread(pp_objects_owner(data), thread);
}

static void on_lost(void *data, const struct pp_thread *thread)
{
	pp_objects_lost(data, thread);
	lose_semaphores(pp_objects_owner(data), thread);
}

/* --- the object listener ---------------------------------------------------------------------- */

/* Updates the holds of an object that was acquired; an earlier hold ends with that. */
static void on_object(void *data, struct pp_object *object, const struct pp_operation *operation,
		      bool acquired)
{
	struct pp_suspects *self = data;

	if (object->type == GM_SYNC_TYPE_sem)
		on_semaphore(self, object, operation, acquired);
	if (!acquired || !pp_object_is_lock(object))
		return;
	for (guint i = 0; i < pp_object_n_holds(object); i++) {
		const struct pp_hold *hold = &g_array_index(object->holds, struct pp_hold, i);

		if (hold->superseded_ns != PP_TIME_UNKNOWN)
			lose(self, object, hold->thread);
	}
	if (pp_object_is_held(object, operation->thread))
		hold(self, object, operation->thread);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	(void)end_ns;
	(void)operation;
	lose(data, object, hold->thread);
}

static void on_dropped(void *data, struct pp_object *object, const struct pp_thread *thread)
{
	lose(data, object, thread);
}

/* The holds of a lock have been dropped. */
static bool on_fold(void *data, struct pp_object *object, struct pp_object *group)
{
	(void)group;
	if (!object->data)
		return false;
	set_lock(data, object, false);
	g_clear_pointer(&object->data, semaphore_free);
	return false;
}

/* -------------------------------------------------------------------------------------------- */

struct pp_suspects *pp_suspects_new(const struct pp_pass_context *context)
{
	struct pp_suspects *self = g_new0(struct pp_suspects, 1);

	self->context = context;
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .operation = on_object,
	    .released = on_released,
	    .dropped = on_dropped,
	    .fold = on_fold,
	    .context = context,
	};
	self->feed = self->listener = pp_objects_feed(&self->objects);
	self->listener.begin = on_begin;
	self->listener.operation = on_operation;
	self->listener.io_begin = on_io_begin;
	self->listener.io = on_io;
	self->listener.started = on_started;
	self->listener.ended = on_ended;
	self->listener.lost = on_lost;
	self->now_ns = INT64_MIN;
	self->members = g_ptr_array_new_with_free_func(member_free);
	self->crowds = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	pp_suspect_cells_init(&self->cells);
	self->transitions = pp_transitions_new(context->model);
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	self->states = pp_thread_states_new(context, &self->listener, NULL);
	return self;
}

void pp_suspects_free(struct pp_suspects *self)
{
	if (!self)
		return;
	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, semaphore_free);
	pp_suspect_cells_done(&self->cells);
	g_ptr_array_unref(self->members);
	g_hash_table_unref(self->crowds);
	g_array_unref(self->transitions);
	g_free(self);
}

void pp_suspects_event(struct pp_suspects *self, const struct pp_event *event)
{
	go_to(self, event->time_ns);
	if (event->kind == PP_EVENT_SAMPLE && event->thread)
		on_sample(self, event);
	else
		pp_thread_states_event(self->states, event);
}

/* The end of a thread may be known, and later than the last event. */
static void end_all(struct pp_suspects *self, int64_t end_ns)
{
	const GPtrArray *threads = self->context->model->threads;
	bool is_cut = self->context->is_cut;

	go_to(self, end_ns);
	self->is_over = true;
	for (guint i = 0; i < threads->len; i++)
		if (is_cut || pp_transition_end_ns(threads->pdata[i]) == PP_TIME_UNKNOWN)
			end_thread(self, threads->pdata[i]);
	if (!is_cut)
		go_to(self, INT64_MAX);
}

/* Units that are in no clock. */
static uint64_t rest_of(const struct pp_suspects *self, enum pp_suspect_kind kind)
{
	GHashTableIter iter;
	gpointer crowd;
	uint64_t units = 0;

	g_hash_table_iter_init(&iter, self->crowds);
	while (g_hash_table_iter_next(&iter, NULL, &crowd))
		units += ((const struct crowd *)crowd)->rest[kind];
	return units;
}

void pp_suspects_finish(struct pp_suspects *self, int64_t end_ns)
{
	static const struct pp_blame_call none = {.op = ST_N_EVENTS};
	const GPtrArray *threads = self->context->model->threads;

	end_all(self, end_ns);
	pp_thread_states_finish(self->states, end_ns);
	for (guint i = 0; i < threads->len; i++) {
		end_deferring(member_of(self, threads->pdata[i]), false);
		charge(self, threads->pdata[i], &none, false);
	}
	for (unsigned kind = 0; kind < PP_N_SUSPECT_KINDS; kind++)
		pp_suspect_cells_round(&self->cells, kind, rest_of(self, kind));
}

void pp_suspects_walk(const struct pp_suspects *self,
		      void (*take)(void *data, const struct pp_suspect *suspect), void *data)
{
	for (guint i = 0; i < self->cells.all->len; i++)
		take(data, &((const struct pp_suspect_cell *)self->cells.all->pdata[i])->suspect);
}

struct pp_suspect_sums pp_suspects_sums(const struct pp_suspects *self)
{
	return self->sums;
}
