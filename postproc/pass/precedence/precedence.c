/* SPDX-License-Identifier: MIT */
/*
 * The partial order of the parallel execution, as synch-events imply it.  A node is a thread at a
 * call site.  An edge counts how often the thread of the first node was known to have reached it
 * before the thread of the second continued.  Within a thread, the order is the program's.
 *
 * Edges connect an event only with its nearest cause, not with what follows by transitivity: the
 * release before an acquisition, the readers since the last writer, the oldest post that no wait
 * has consumed, the signal during a condition wait.  A barrier has a node of its own, which all
 * arrivals precede and all departures follow.  If there are several posts or signals, the recording
 * does not say which one a thread received; the oldest is assumed.
 */
#include "analysis/select.h"
#include "pass/precedence/precedence.h"

#include <errno.h>

/* Runs of posts with a known node; the nodes of further runs are dropped. */
#define MAX_RUNS 1024u

/* Consecutive posts of one node. */
struct run {
	uint32_t node; /* PP_LINK_NONE: the initial count, or not known */
	uint64_t n;
	int64_t last_ns; /* time of the last post */
};

/* A thread, and the node at which it released a read lock or at which it was signalled. */
struct mark {
	const struct pp_thread *thread;
	uint32_t node;
};

/* struct pp_object.data */
struct causes {
	/* node of the owner's release, the run of a routine, or the thread's end; PP_LINK_NONE */
	uint32_t last;
	uint32_t created;  /* node of a thread's creation */
	GArray *readers;   /* of struct mark: releases by readers since the last writer */
	GArray *signalled; /* of struct mark: waiters that have been signalled */
	GArray *runs;	   /* of struct run */
	/* of uint32_t: nodes that continued some ns before their cause was recorded */
	GArray *early;
};

/* --- nodes ---------------------------------------------------------------------------------- */

static uint32_t node_number(struct pp_precedence *self, const struct pp_thread *thread, uint32_t at)
{
	struct pp_precedence_node node = {thread, at};
	int64_t key = (int64_t)((thread ? (uint64_t)thread->serial + 1 : 0) << 32 | at);
	void *number = g_hash_table_lookup(self->node_of, &key);

	if (!number) {
		g_array_append_val(self->nodes, node);
		number = GUINT_TO_POINTER(self->nodes->len);
		g_hash_table_insert(self->node_of, g_memdup2(&key, sizeof(key)), number);
	}
	return GPOINTER_TO_UINT(number) - 1;
}

static uint32_t node_at(struct pp_precedence *self, const struct pp_thread *thread,
			enum st_event op, uint64_t site)
{
	return node_number(
	    self, thread,
	    pp_call_sites_number(&self->sites, (struct pp_call_site){thread->process, site, op}));
}

static uint32_t node_of(struct pp_precedence *self, const struct pp_operation *operation)
{
	return node_at(self, operation->thread, operation->op, operation->site);
}

static void order(struct pp_precedence *self, uint32_t from, uint32_t to,
		  enum pp_precedence_kind kind, struct pp_object *object)
{
	struct pp_link link = {
	    .from = from,
	    .to = to,
	    .parts[PP_PRECEDENCE_PART_KIND] = kind,
	    .parts[PP_PRECEDENCE_PART_OBJECT] = pp_object_number(object),
	};

	if (from != PP_LINK_NONE &&
	    pp_precedence_node(self, from)->thread != pp_precedence_node(self, to)->thread &&
	    pp_links_add(&self->links, &link, 0))
		pp_object_refs_add(&self->refs, object);
}

static void causes_free(void *data)
{
	struct causes *causes = data;

	g_array_unref(causes->readers);
	g_array_unref(causes->signalled);
	g_array_unref(causes->runs);
	g_array_unref(causes->early);
	g_free(causes);
}

static struct causes *causes_of(struct pp_object *object)
{
	struct causes *causes = object->data;

	if (causes)
		return causes;
	causes = object->data = g_new0(struct causes, 1);
	causes->last = causes->created = PP_LINK_NONE;
	causes->readers = g_array_new(FALSE, FALSE, sizeof(struct mark));
	causes->signalled = g_array_new(FALSE, FALSE, sizeof(struct mark));
	causes->runs = g_array_new(FALSE, FALSE, sizeof(struct run));
	causes->early = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return causes;
}

/* Removes the thread's mark and returns its node; PP_LINK_NONE if there is none. */
static uint32_t take_mark(GArray *marks, const struct pp_thread *thread)
{
	for (guint i = 0; i < marks->len; i++) {
		struct mark mark = g_array_index(marks, struct mark, i);

		if (mark.thread != thread)
			continue;
		g_array_remove_index(marks, i);
		return mark.node;
	}
	return PP_LINK_NONE;
}

static void set_mark(GArray *marks, const struct pp_thread *thread, uint32_t node)
{
	struct mark mark = {thread, node};

	take_mark(marks, thread);
	g_array_append_val(marks, mark);
}

/*
 * Adds edges to nodes that continued before this cause was recorded, `most` at most.  Returns false
 * if there are none.
 */
static bool serve_early(struct pp_precedence *self, struct pp_object *object, uint32_t node,
			enum pp_precedence_kind kind, guint most)
{
	GArray *early = causes_of(object)->early;
	guint n = MIN(early->len, most);

	for (guint i = 0; i < n; i++)
		order(self, node, g_array_index(early, uint32_t, i), kind, object);
	if (n)
		g_array_remove_range(early, 0, n);
	return n > 0;
}

/* --- locks ---------------------------------------------------------------------------------- */

static enum pp_precedence_kind kind_of_lock(const struct pp_object *object)
{
	if (object->type == GM_SYNC_TYPE_mutex)
		return PP_PRECEDENCE_MUTEX;
	return object->type == GM_SYNC_TYPE_spin ? PP_PRECEDENCE_SPIN : PP_PRECEDENCE_RWLOCK;
}

/* True if the owner's release has a later time stamp than this acquisition. */
static bool came_early(const struct pp_object *object, const struct pp_operation *operation)
{
	for (guint i = 0; i < pp_object_n_holds(object); i++) {
		const struct pp_hold *hold = &g_array_index(object->holds, struct pp_hold, i);

		if (hold->thread != operation->thread && hold->superseded_ns == operation->end_ns)
			return true;
	}
	return false;
}

static void acquire(struct pp_precedence *self, struct pp_object *object,
		    const struct pp_operation *operation)
{
	struct causes *causes = causes_of(object);
	enum pp_precedence_kind kind = kind_of_lock(object);
	uint32_t node = node_of(self, operation);

	if (came_early(object, operation)) {
		g_array_append_val(causes->early, node);
		return;
	}
	if (pp_sync_has(operation->op, PP_SYNC_SHARED)) {
		order(self, causes->last, node, kind, object);
		return;
	}
	for (guint i = 0; i < causes->readers->len; i++)
		order(self, g_array_index(causes->readers, struct mark, i).node, node, kind,
		      object);
	if (!causes->readers->len)
		order(self, causes->last, node, kind, object);
	g_array_set_size(causes->readers, 0);
	causes->last = PP_LINK_NONE; /* a second acquisition by the same thread needs no cause */
}

static void release(struct pp_precedence *self, struct pp_object *object,
		    const struct pp_thread *thread, uint32_t node, bool shared)
{
	struct causes *causes = causes_of(object);

	if (serve_early(self, object, node, kind_of_lock(object), UINT_MAX))
		return;
	if (shared)
		set_mark(causes->readers, thread, node);
	else
		causes->last = node;
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	struct pp_precedence *self = data;
	bool died = operation && operation->result == EOWNERDEAD && operation->finished &&
		    operation->thread != hold->thread;

	(void)end_ns;
	if (died)
		release(self, object, hold->thread,
			node_at(self, hold->thread, ST_EVENT_thread_exit, 0), false);
	else if (operation)
		release(self, object, operation->thread, node_of(self, operation),
			pp_sync_has(hold->op, PP_SYNC_SHARED));
}

/* --- semaphores and condition variables ----------------------------------------------------- */

static void set_count(struct pp_object *object, const struct pp_operation *operation)
{
	struct run run = {PP_LINK_NONE, operation->value, operation->end_ns};

	/* With only contended operations recorded, most waits that consumed it have no event. */
	if (!object->process->only_waits && run.n)
		g_array_append_val(causes_of(object)->runs, run);
}

static void post(struct pp_precedence *self, struct pp_object *object,
		 const struct pp_operation *operation)
{
	GArray *runs = causes_of(object)->runs;
	struct run run = {node_of(self, operation), 1, operation->end_ns};
	struct run *last = runs->len ? &g_array_index(runs, struct run, runs->len - 1) : NULL;

	if (serve_early(self, object, run.node, PP_PRECEDENCE_SEM, 1))
		return;
	if (last && last->node == run.node) {
		last->n++;
		last->last_ns = operation->end_ns;
	} else if (last && runs->len >= MAX_RUNS) {
		last->node = PP_LINK_NONE;
		last->n++;
		last->last_ns = operation->end_ns;
	} else {
		g_array_append_val(runs, run);
	}
}

/*
 * If only contended operations are recorded, calls without an event may have consumed the posts
 * before the wait began.  Drops these posts.
 */
static void forget_used(GArray *runs, const struct pp_operation *operation)
{
	guint n = 0;

	while (n < runs->len && g_array_index(runs, struct run, n).last_ns < operation->begin_ns)
		n++;
	if (n)
		g_array_remove_range(runs, 0, n);
}

static void use_post(struct pp_precedence *self, struct pp_object *object,
		     const struct pp_operation *operation)
{
	struct causes *causes = causes_of(object);
	uint32_t node = node_of(self, operation);
	struct run *first;

	if (object->process->only_waits && operation->waited)
		forget_used(causes->runs, operation);
	if (!causes->runs->len) {
		if (operation->waited && object->process->only_waits)
			self->unknown++;
		else if (operation->waited)
			g_array_append_val(causes->early, node);
		return;
	}
	first = &g_array_index(causes->runs, struct run, 0);
	order(self, first->node, node, PP_PRECEDENCE_SEM, object);
	if (--first->n == 0)
		g_array_remove_index(causes->runs, 0);
}

/* Signals one waiter, or all, of those that have not been signalled before. */
static void signal_waiters(struct pp_precedence *self, struct pp_object *object,
			   const struct pp_operation *operation)
{
	GArray *signalled = causes_of(object)->signalled;
	const struct pp_waiter *oldest = NULL;

	for (guint i = 0; i < pp_object_n_waiters(object); i++) {
		const struct pp_waiter *waiter =
		    &g_array_index(object->waiters, struct pp_waiter, i);
		bool is_signalled = false;

		for (guint j = 0; j < signalled->len; j++)
			is_signalled |=
			    g_array_index(signalled, struct mark, j).thread == waiter->thread;
		if (is_signalled)
			continue;
		if (operation->op == ST_EVENT_cond_broadcast)
			set_mark(signalled, waiter->thread, node_of(self, operation));
		else if (!oldest || waiter->since_ns < oldest->since_ns)
			oldest = waiter;
	}
	if (oldest)
		set_mark(signalled, oldest->thread, node_of(self, operation));
}

static void wake_up(struct pp_precedence *self, struct pp_object *object,
		    const struct pp_operation *operation)
{
	uint32_t cause = take_mark(causes_of(object)->signalled, operation->thread);

	if (!operation->finished || operation->result != 0)
		return;
	self->unknown += cause == PP_LINK_NONE;
	order(self, cause, node_of(self, operation), PP_PRECEDENCE_COND, object);
}

static uint32_t barrier_node(struct pp_precedence *self, struct pp_object *object)
{
	return node_number(self, NULL, pp_object_refs_add(&self->refs, object));
}

static void arrive(struct pp_precedence *self, struct pp_object *object,
		   const struct pp_operation *operation)
{
	order(self, node_of(self, operation), barrier_node(self, object), PP_PRECEDENCE_BARRIER,
	      object);
}

static void leave(struct pp_precedence *self, struct pp_object *object,
		  const struct pp_operation *operation)
{
	order(self, barrier_node(self, object), node_of(self, operation), PP_PRECEDENCE_BARRIER,
	      object);
}

static void run_once(struct pp_precedence *self, struct pp_object *object,
		     const struct pp_operation *operation)
{
	struct causes *causes = causes_of(object);
	uint32_t node = node_of(self, operation);

	if (causes->last != PP_LINK_NONE) {
		order(self, causes->last, node, PP_PRECEDENCE_ONCE, object);
	} else if (operation->waited) {
		g_array_append_val(causes->early, node);
	} else {
		causes->last = node;
		serve_early(self, object, node, PP_PRECEDENCE_ONCE, UINT_MAX);
	}
}

/* --- listeners of the state machines -------------------------------------------------------- */

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	if (operation->op == ST_EVENT_barrier_wait)
		arrive(data, object, operation);
}

/* Handles a successful operation, with or without a wait. */
static void on_acquired(struct pp_precedence *self, struct pp_object *object,
			const struct pp_operation *operation)
{
	struct causes *causes = causes_of(object);

	if (pp_object_is_lock(object)) {
		acquire(self, object, operation);
	} else if (operation->op == ST_EVENT_barrier_wait) {
		if (operation->waited)
			leave(self, object, operation);
		else
			arrive(self, object, operation);
	} else if (operation->op == ST_EVENT_once) {
		run_once(self, object, operation);
	} else if (operation->op == ST_EVENT_thread_join) {
		self->unknown += causes->last == PP_LINK_NONE;
		order(self, causes->last, node_of(self, operation), PP_PRECEDENCE_JOIN, object);
	} else if (object->type == GM_SYNC_TYPE_sem) {
		use_post(self, object, operation);
	}
}

static void on_done(struct pp_precedence *self, struct pp_object *object,
		    const struct pp_operation *operation)
{
	struct causes *causes = causes_of(object);

	/* Otherwise on_released() handles it. */
	if (pp_sync_has(operation->op, PP_SYNC_RELEASES) && object->process->no_holds)
		release(self, object, operation->thread, node_of(self, operation), false);
	switch (operation->op) {
	case ST_EVENT_sem_init:
	case ST_EVENT_sem_open:
		if (!causes->runs->len)
			set_count(object, operation);
		break;
	case ST_EVENT_sem_post:
		post(self, object, operation);
		break;
	case ST_EVENT_cond_signal:
	case ST_EVENT_cond_broadcast:
		signal_waiters(self, object, operation);
		break;
	case ST_EVENT_thread_create:
		causes->created = node_of(self, operation);
		break;
	case ST_EVENT_thread_start:
		order(self, causes->created, node_of(self, operation), PP_PRECEDENCE_CREATE,
		      object);
		break;
	case ST_EVENT_thread_exit:
		causes->last = node_of(self, operation);
		break;
	default:
		break;
	}
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_precedence *self = data;

	if (object->type == GM_SYNC_TYPE_cond && pp_sync_has(operation->op, PP_SYNC_YIELDS))
		wake_up(self, object, operation);
	else if (acquired)
		on_acquired(self, object, operation);
	else if (operation->finished && operation->result == 0)
		on_done(self, object, operation);
}

/* Counts the nodes whose cause was never recorded. */
static void settle(struct pp_precedence *self, struct pp_object *object)
{
	struct causes *causes = object->data;

	if (!causes)
		return;
	self->unknown += causes->early->len;
	causes_free(g_steal_pointer(&object->data));
}

static bool on_end(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_precedence *self = data;

	(void)group;
	settle(self, object);
	return pp_object_refs_end(&self->refs, object);
}

static void *precedence_start(const struct pp_pass_context *context)
{
	struct pp_precedence *self = g_new0(struct pp_precedence, 1);

	self->context = context;
	self->thread_listener = pp_objects_feed(&self->objects);
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .waits = on_waits,
	    .operation = on_operation,
	    .released = on_released,
	    .fold = on_end,
	};
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	pp_object_refs_init(&self->refs);
	pp_call_sites_init(&self->sites);
	pp_links_init(&self->links);
	self->nodes = g_array_new(FALSE, FALSE, sizeof(struct pp_precedence_node));
	self->node_of = g_hash_table_new_full(pp_pair_hash, g_int64_equal, g_free, NULL);
	self->states = pp_thread_states_new(context, &self->thread_listener, NULL);
	return self;
}

static void precedence_event(void *state, const struct pp_event *event)
{
	pp_thread_states_event(((struct pp_precedence *)state)->states, event);
}

static void precedence_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct pp_precedence *self = state;
	struct pp_table *edges;

	pp_thread_states_finish(self->states, end_ns);
	for (guint i = 0; i < self->objects.all->len; i++)
		if (self->objects.all->pdata[i])
			settle(self, self->objects.all->pdata[i]);
	edges = pp_precedence_tables(self, tables);
	pp_links_note(&self->links, edges, "orders");
	if (self->unknown)
		pp_table_note(edges,
			      "left out: %" G_GUINT64_FORMAT
			      " times it is unknown after which operation a thread continued",
			      self->unknown);
}

static void precedence_free(void *state)
{
	struct pp_precedence *self = state;

	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, causes_free);
	pp_object_refs_done(&self->refs);
	pp_call_sites_done(&self->sites);
	pp_links_done(&self->links);
	g_array_unref(self->nodes);
	g_hash_table_unref(self->node_of);
	g_free(self);
}

const struct pp_pass pp_pass_precedence = {
    .name = "precedence",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_THREAD,
    .has_operations = true,
    .start = precedence_start,
    .event = precedence_event,
    .finish = precedence_finish,
    .free = precedence_free,
};
