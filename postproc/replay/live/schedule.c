/* SPDX-License-Identifier: MIT */
/* Operations are collected by thread; their turns are computed at the end. */
#include "replay/live/schedule.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SEARCHED 8 /* begun operations nest through signal handlers only */

/* An acquisition, to be sorted by its object and number. */
struct acquisition {
	uint32_t object, thread;
	uint64_t op;	 /* of the thread */
	uint64_t number; /* core/event.h */
	bool is_shared;
};

struct creation {
	uint32_t creator, nth; /* serial of the creator */
};

struct track {
	const struct pp_thread *thread;
	struct creation creation;
	bool is_created, has_exited;
	uint32_t n_created;
	uint32_t number; /* in the schedule */
	GArray *ops;	 /* of struct st_schedule_op */
};

struct pp_schedule_builder {
	const struct pp_namer *namer;
	GPtrArray *tracks;     /* by serial, of struct track *; NULL: none */
	GHashTable *creations; /* pthread_t -> struct creation, of a thread that has not begun */
	GHashTable *begun;     /* pthread_t -> struct track, whose creation was not seen yet */
	GHashTable *objects;   /* address -> number */
	GHashTable *sites;     /* address -> number */
	GArray *known_sites;   /* of struct pp_schedule_site */
	GArray *acquisitions;  /* of struct acquisition; `thread` is a serial */
	uint32_t n_objects;
	uint64_t n_unnumbered;
	uint64_t ended; /* operation that the last event has ended */
	int64_t last_ns, longest_gap_ns;
	int64_t end_ns; /* time of the last event */
};

/* --- which operations ------------------------------------------------------------------------- */

/* The operations that a schedule has, by the event of their end. */
static bool is_operation(enum st_event op)
{
	switch (op) {
	case ST_EVENT_mutex_lock:
	case ST_EVENT_mutex_trylock:
	case ST_EVENT_mutex_timedlock:
	case ST_EVENT_rwlock_rdlock:
	case ST_EVENT_rwlock_tryrdlock:
	case ST_EVENT_rwlock_timedrdlock:
	case ST_EVENT_rwlock_wrlock:
	case ST_EVENT_rwlock_trywrlock:
	case ST_EVENT_rwlock_timedwrlock:
	case ST_EVENT_spin_lock:
	case ST_EVENT_spin_trylock:
	case ST_EVENT_sem_wait:
	case ST_EVENT_sem_trywait:
	case ST_EVENT_sem_timedwait:
	case ST_EVENT_cond_wait:
	case ST_EVENT_cond_timedwait:
		return true;
	default:
		return false;
	}
}

static bool acquires(const struct pp_event *event)
{
	return pp_sync_acquired(event->sync.op, event->sync.result) ||
	       (pp_sync_has(event->sync.op, PP_SYNC_YIELDS) && event->sync.result == ECANCELED);
}

/* A condition wait is an operation on its mutex. */
static uint64_t lock_of(const struct pp_event *event)
{
	return pp_sync_has(event->sync.op, PP_SYNC_YIELDS) ? event->sync.value : event->sync.object;
}

/* --- threads, objects and sites --------------------------------------------------------------- */

static struct track *track_of(struct pp_schedule_builder *self, const struct pp_thread *thread)
{
	struct track *track;

	pp_by_serial_reach(self->tracks, thread->serial);
	track = self->tracks->pdata[thread->serial];
	if (!track) {
		track = self->tracks->pdata[thread->serial] = g_new0(struct track, 1);
		track->thread = thread;
		track->ops = g_array_new(FALSE, TRUE, sizeof(struct st_schedule_op));
	}
	return track;
}

static uint32_t object_number(struct pp_schedule_builder *self, uint64_t address)
{
	void *known;

	if (g_hash_table_lookup_extended(self->objects, &address, NULL, &known))
		return GPOINTER_TO_UINT(known);
	g_hash_table_insert(self->objects, g_memdup2(&address, sizeof(address)),
			    GUINT_TO_POINTER(self->n_objects));
	return self->n_objects++;
}

/* Without a namer that knows places, or outside of modules, a site is not known. */
static uint32_t add_site(struct pp_schedule_builder *self, const struct pp_process *process,
			 uint64_t address)
{
	g_autofree char *build_id = NULL;
	g_autofree char *place =
	    self->namer->place ? self->namer->place(self->namer->data, process, address, &build_id)
			       : NULL;
	char *plus = place ? strrchr(place, '+') : NULL;
	struct pp_schedule_site site = {0};

	if (!plus)
		return ST_SCHEDULE_NONE;
	site.offset = g_ascii_strtoull(plus + 1, NULL, 16);
	*plus = '\0';
	site.module = g_intern_string(place);
	site.build_id = build_id ? g_intern_string(build_id) : NULL;
	site.name = self->namer->site(self->namer->data, process, address);
	g_array_append_val(self->known_sites, site);
	return self->known_sites->len - 1;
}

static uint32_t site_number(struct pp_schedule_builder *self, const struct pp_event *event)
{
	uint64_t address = event->sync.site;
	void *known;
	uint32_t number;

	if (!address)
		return ST_SCHEDULE_NONE;
	if (g_hash_table_lookup_extended(self->sites, &address, NULL, &known))
		return GPOINTER_TO_UINT(known);
	number = add_site(self, event->thread->process, address);
	g_hash_table_insert(self->sites, g_memdup2(&address, sizeof(address)),
			    GUINT_TO_POINTER(number));
	return number;
}

/* The creator and the new thread are joined by the thread's pthread_t; either event may be first.
 */
static void take_creation(struct pp_schedule_builder *self, const struct pp_event *event)
{
	struct track *creator = track_of(self, event->thread), *created;
	struct creation creation = {event->thread->serial, 0};

	if (event->sync.result)
		return;
	creation.nth = creator->n_created++;
	created = g_hash_table_lookup(self->begun, &event->sync.object);
	if (created && !created->is_created) {
		created->creation = creation;
		created->is_created = true;
		g_hash_table_remove(self->begun, &event->sync.object);
		return;
	}
	g_hash_table_replace(self->creations,
			     g_memdup2(&event->sync.object, sizeof(event->sync.object)),
			     g_memdup2(&creation, sizeof(creation)));
}

static void take_start(struct pp_schedule_builder *self, const struct pp_event *event)
{
	struct track *track = track_of(self, event->thread);
	const struct creation *creation = g_hash_table_lookup(self->creations, &event->sync.object);

	if (creation) {
		track->creation = *creation;
		track->is_created = true;
		g_hash_table_remove(self->creations, &event->sync.object);
		return;
	}
	g_hash_table_replace(self->begun,
			     g_memdup2(&event->sync.object, sizeof(event->sync.object)), track);
}

/* --- operations ------------------------------------------------------------------------------- */

/* The place of an operation that has begun: its end fills it. */
static void begin_op(struct track *track, enum st_event event)
{
	struct st_schedule_op op = {.turn = ST_TURN_NONE,
				    .site = ST_SCHEDULE_NONE,
				    .event = (uint8_t)event,
				    .result = ST_SCHEDULE_ENDLESS};

	g_array_append_val(track->ops, op);
}

static uint64_t end_op(struct track *track, enum st_event event, bool has_begun)
{
	for (guint i = track->ops->len; has_begun && i > 0 && track->ops->len - i < SEARCHED; i--) {
		const struct st_schedule_op *op =
		    &g_array_index(track->ops, struct st_schedule_op, i - 1);

		if (op->event == event && op->result == ST_SCHEDULE_ENDLESS)
			return i - 1;
	}
	begin_op(track, event);
	return track->ops->len - 1;
}

static void take_operation(struct pp_schedule_builder *self, const struct pp_event *event)
{
	struct track *track = track_of(self, event->thread);
	uint64_t at = end_op(track, event->sync.op, pp_sync_has(event->sync.op, PP_SYNC_BLOCKS));
	struct st_schedule_op *op = &g_array_index(track->ops, struct st_schedule_op, at);
	struct acquisition acquisition = {.thread = event->thread->serial, .op = at};
	enum gm_sync_type object_type = pp_sync_type(event->sync.op);

	self->ended = at;
	op->result = event->sync.result;
	op->site = site_number(self, event);
	if (!acquires(event))
		return;
	op->object = object_number(self, lock_of(event));
	acquisition.object = op->object;
	/* Waits for a semaphore have no numbers, and the order of time. */
	acquisition.number =
	    object_type == GM_SYNC_TYPE_sem ? self->acquisitions->len + 1u : event->sync.order;
	acquisition.is_shared = pp_sync_has(event->sync.op, PP_SYNC_SHARED);
	self->n_unnumbered += !acquisition.number;
	g_array_append_val(self->acquisitions, acquisition);
}

void pp_schedule_builder_event(struct pp_schedule_builder *self, const struct pp_event *event)
{
	enum st_event op = event->sync.op, end = pp_sync_completion(op);

	self->ended = UINT64_MAX;
	if (!event->thread)
		return;
	self->end_ns = MAX(self->end_ns, event->time_ns);
	if (op == ST_EVENT_thread_create)
		take_creation(self, event);
	else if (op == ST_EVENT_thread_start)
		take_start(self, event);
	else if (op == ST_EVENT_thread_exit)
		track_of(self, event->thread)->has_exited = true;
	else if (pp_sync_has(op, PP_SYNC_INITIALIZES) || pp_sync_has(op, PP_SYNC_DESTROYS))
		g_hash_table_remove(self->objects, &event->sync.object);
	else if (end != op && is_operation(end))
		begin_op(track_of(self, event->thread), end);
	else if (is_operation(op))
		take_operation(self, event);
	if (!is_operation(end))
		return;
	if (self->last_ns != PP_TIME_UNKNOWN)
		self->longest_gap_ns = MAX(self->longest_gap_ns, event->time_ns - self->last_ns);
	self->last_ns = event->time_ns;
}

uint64_t pp_schedule_builder_ended(const struct pp_schedule_builder *self)
{
	return self->ended;
}

/* --- the schedule ----------------------------------------------------------------------------- */

static int compare_acquisitions(const void *a, const void *b)
{
	const struct acquisition *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (int)x->is_shared - (int)y->is_shared;
}

/* Readers between two writers have the turn of the first of them. */
static void set_turns(struct pp_schedule_builder *self)
{
	const struct acquisition *before = NULL;
	uint32_t n_before = 0, turn = 0;

	if (self->acquisitions->len)
		qsort(self->acquisitions->data, self->acquisitions->len, sizeof(struct acquisition),
		      compare_acquisitions);
	for (guint i = 0; i < self->acquisitions->len; i++) {
		const struct acquisition *at =
		    &g_array_index(self->acquisitions, struct acquisition, i);
		const struct track *track = self->tracks->pdata[at->thread];

		if (!before || before->object != at->object)
			n_before = 0;
		if (!n_before || !at->is_shared || !before->is_shared ||
		    before->number != at->number)
			turn = n_before;
		g_array_index(track->ops, struct st_schedule_op, at->op).turn = turn;
		n_before++;
		before = at;
	}
}

static struct pp_schedule_thread *add_thread(struct pp_schedule *schedule, struct track *track,
					     uint32_t creator)
{
	struct pp_schedule_thread *thread = g_new0(struct pp_schedule_thread, 1);

	track->number = schedule->threads->len;
	thread->creator = creator;
	thread->nth = track->creation.nth;
	thread->tid = track->thread->tid;
	thread->serial = track->thread->serial;
	/* The initial thread's end is that of the process. */
	thread->ended = track->has_exited || creator == ST_SCHEDULE_NONE;
	thread->ops = g_array_ref(track->ops);
	schedule->n_ops += track->ops->len;
	g_ptr_array_add(schedule->threads, thread);
	return thread;
}

static int compare_nth(const void *a, const void *b)
{
	const struct track *x = *(struct track *const *)a, *y = *(struct track *const *)b;

	return (x->creation.nth > y->creation.nth) - (x->creation.nth < y->creation.nth);
}

/* Adds the threads by creation, those of one creator after the other. */
static void add_threads(const struct pp_schedule_builder *self, struct pp_schedule *schedule,
			struct track *initial)
{
	g_autoptr(GPtrArray) queue = g_ptr_array_new();
	g_autoptr(GPtrArray) created = g_ptr_array_new();

	add_thread(schedule, initial, ST_SCHEDULE_NONE);
	g_ptr_array_add(queue, initial);
	for (guint i = 0; i < queue->len; i++) {
		const struct track *creator = queue->pdata[i];

		g_ptr_array_set_size(created, 0);
		for (guint k = 0; creator->n_created && k < self->tracks->len; k++) {
			struct track *track = self->tracks->pdata[k];

			if (track && track->is_created &&
			    track->creation.creator == creator->thread->serial)
				g_ptr_array_add(created, track);
		}
		g_ptr_array_sort(created, compare_nth);
		for (guint k = 0; k < created->len; k++) {
			add_thread(schedule, created->pdata[k], creator->number);
			g_ptr_array_add(queue, created->pdata[k]);
		}
	}
}

/* Returns the initial thread; NULL: there are none, or several have no known creator. */
static struct track *find_initial(const struct pp_schedule_builder *self, struct pp_error *err)
{
	struct track *initial = NULL;

	for (guint i = 0; i < self->tracks->len; i++) {
		struct track *track = self->tracks->pdata[i];

		if (!track || track->is_created)
			continue;
		if (track->thread->tid == track->thread->process->pid) {
			initial = track;
			continue;
		}
		if (!track->ops->len)
			continue;
		pp_error_add(err, -ENOTSUP,
			     "thread %u cannot be replayed: the call that created it was not "
			     "recorded",
			     track->thread->tid);
		return NULL;
	}
	if (!initial)
		pp_error_add(err, -ENODATA, "the initial thread has no synchronization events");
	return initial;
}

struct pp_schedule *pp_schedule_builder_finish(struct pp_schedule_builder *self,
					       struct pp_error *err)
{
	struct track *initial = find_initial(self, err);
	struct pp_schedule *schedule;

	if (!initial)
		return NULL;
	if (self->n_unnumbered) {
		pp_error_add(err, -ENODATA,
			     "%" PRIu64 " of %u acquisitions have no number: record with --set "
			     "sync.order=on",
			     self->n_unnumbered, self->acquisitions->len);
		return NULL;
	}
	set_turns(self);
	schedule = g_new0(struct pp_schedule, 1);
	schedule->threads = g_ptr_array_new();
	add_threads(self, schedule, initial);
	schedule->sites = g_steal_pointer(&self->known_sites);
	schedule->n_objects = self->n_objects;
	schedule->n_acquired = self->acquisitions->len;
	schedule->longest_gap_ns = self->longest_gap_ns;
	schedule->last_ns = self->end_ns;
	return schedule;
}

void pp_schedule_free(struct pp_schedule *schedule)
{
	if (!schedule)
		return;
	for (guint i = 0; i < schedule->threads->len; i++) {
		struct pp_schedule_thread *thread = schedule->threads->pdata[i];

		g_array_unref(thread->ops);
		g_free(thread);
	}
	for (guint i = 0; i < schedule->sites->len; i++)
		g_free(g_array_index(schedule->sites, struct pp_schedule_site, i).name);
	g_ptr_array_unref(schedule->threads);
	g_array_unref(schedule->sites);
	g_free(schedule);
}

/* --- the builder ------------------------------------------------------------------------------ */

static void track_free(void *data)
{
	struct track *track = data;

	if (!track)
		return;
	g_array_unref(track->ops);
	g_free(track);
}

struct pp_schedule_builder *pp_schedule_builder_new(const struct pp_namer *namer)
{
	struct pp_schedule_builder *self = g_new0(struct pp_schedule_builder, 1);

	self->namer = namer;
	self->last_ns = PP_TIME_UNKNOWN;
	self->tracks = g_ptr_array_new_with_free_func(track_free);
	self->creations = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	self->begun = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	self->objects = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	self->sites = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	self->known_sites = g_array_new(FALSE, FALSE, sizeof(struct pp_schedule_site));
	self->acquisitions = g_array_new(FALSE, FALSE, sizeof(struct acquisition));
	return self;
}

void pp_schedule_builder_free(struct pp_schedule_builder *self)
{
	for (guint i = 0; self->known_sites && i < self->known_sites->len; i++)
		g_free(g_array_index(self->known_sites, struct pp_schedule_site, i).name);
	g_clear_pointer(&self->known_sites, g_array_unref);
	g_ptr_array_unref(self->tracks);
	g_hash_table_unref(self->creations);
	g_hash_table_unref(self->begun);
	g_hash_table_unref(self->objects);
	g_hash_table_unref(self->sites);
	g_array_unref(self->acquisitions);
	g_free(self);
}
