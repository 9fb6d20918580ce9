/* SPDX-License-Identifier: MIT */
/*
 * Who waits for whom, on what: an edge from each thread that waited to the one it waited for.
 *
 * For a lock that is its owner when the wait began, as the object itself named it, or else as the
 * operations before tell.  Where there is no owner, or several, it is whoever ended the wait: woke
 * the thread, if wake-ups are recorded, or else released the object last before the wait was over.
 * Waiting for a thread's end is waiting for that thread.  Where none of this is known there is an
 * edge to no thread, "?".  Each wait is one of one edge, so their times sum up to those of `locks`.
 */
#include <errno.h>
#include <string.h>

#include "pass/select.h"
#include "pass/call_sites.h"
#include "pass/links.h"
#include "pass/object_row.h"
#include "pass/thread_nodes.h"
#include "pass/unrecorded.h"

enum {
	EDGE_COUNT = PP_EDGE_CELLS,
	EDGE_WAIT,
	EDGE_WAIT_MAX,
	EDGE_WAITS,
	N_EDGE_COLUMNS,
};

static const struct pp_column edge_columns[N_EDGE_COLUMNS] = {
    PP_EDGE_COLUMNS("tid of the thread that waited",
		    "tid of the thread that it waited for; none: not known"),
    [EDGE_COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "how often"},
    [EDGE_WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, 0, "how long in all"},
    [EDGE_WAIT_MAX] = {"wait_max_ns", "longest", PP_TYPE_TIME_NS, 0, "the longest wait"},
    [EDGE_WAITS] = {"waits", "waits", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY,
		    "on which object, and where in the code of the two"},
};

enum {
	WAIT_HOW = PP_OBJECT_CELLS,
	WAIT_FUNCTION,
	WAIT_SITE,
	WAIT_OTHER_FUNCTION,
	WAIT_OTHER_SITE,
	WAIT_COUNT,
	WAIT_WAIT,
	WAIT_WAIT_MAX,
	N_WAIT_COLUMNS,
};

#define HOWS "held, woke, released, ended; to no thread: timed out, never ended, not known"

static const struct pp_column wait_columns[N_WAIT_COLUMNS] = {
    PP_OBJECT_COLUMNS,
    [WAIT_HOW] = {"how", "how", PP_TYPE_TEXT, 0, HOWS},
    [WAIT_FUNCTION] = {"function", "function", PP_TYPE_TEXT, 0, "what the first thread called"},
    [WAIT_SITE] = {"site", "site", PP_TYPE_TEXT, 0, "where"},
    [WAIT_OTHER_FUNCTION] = {"other_function", "function", PP_TYPE_TEXT, 0,
			     "what the other called to take it, or to end the wait"},
    [WAIT_OTHER_SITE] = {"other_site", "site", PP_TYPE_TEXT, 0, "where"},
    [WAIT_COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "how often"},
    [WAIT_WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, 0, "how long in all"},
    [WAIT_WAIT_MAX] = {"wait_max_ns", "longest", PP_TYPE_TIME_NS, 0, "the longest wait"},
};

enum how { HELD, WOKE, RELEASED, ENDED, TIMED_OUT, ENDLESS, NOT_KNOWN };

static const char *const hows[] = {
    [HELD] = "held",	       [WOKE] = "woke",		  [RELEASED] = "released",
    [ENDED] = "ended",	       [TIMED_OUT] = "timed out", [ENDLESS] = "never ended",
    [NOT_KNOWN] = "not known",
};

/* Parts of a link; from and to are serials of threads. */
enum { PART_OBJECT, PART_SITE, PART_OTHER_SITE, PART_HOW };

/* Somebody, and the call with which he took the object, or ended the wait. */
struct other {
	const struct pp_thread *thread; /* NULL: not known */
	uint32_t site;			/* PP_LINK_NONE */
};

struct wait {
	const struct pp_object *object;
	enum st_event op;
	struct other owner, waker;
};

struct track {
	uint32_t last_site; /* of its last call; PP_LINK_NONE */
	GArray *waits;	    /* of struct wait, innermost last */
};

/* struct pp_object.data */
struct release {
	struct other by;
	int64_t at_ns;
};

struct waits {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	struct pp_call_sites sites;
	struct pp_links links;
	GPtrArray *tracks; /* by thread serial, of struct track *; NULL: not seen */
};

/* --- threads -------------------------------------------------------------------------------- */

static void track_free(void *data)
{
	struct track *track = data;

	if (track)
		g_array_unref(track->waits);
	g_free(track);
}

static struct track *track_of(struct waits *self, const struct pp_thread *thread)
{
	struct track *track;

	if (thread->serial >= self->tracks->len)
		g_ptr_array_set_size(self->tracks, (gint)thread->serial + 1);
	track = self->tracks->pdata[thread->serial];
	if (!track) {
		track = self->tracks->pdata[thread->serial] = g_new0(struct track, 1);
		track->last_site = PP_LINK_NONE;
		track->waits = g_array_new(FALSE, FALSE, sizeof(struct wait));
	}
	return track;
}

static uint32_t site_of(struct waits *self, const struct pp_thread *thread, enum st_event op,
			uint64_t site)
{
	return pp_call_sites_number(&self->sites, (struct pp_call_site){thread->process, site, op});
}

static void on_waking(struct waits *self, const struct pp_event *event)
{
	const struct pp_thread *waker = event->waking.by_interrupt ? NULL : event->waking.waker;
	struct track *track = event->thread ? track_of(self, event->thread) : NULL;
	struct wait *wait;

	if (!track || !track->waits->len)
		return;
	wait = &g_array_index(track->waits, struct wait, track->waits->len - 1);
	wait->waker =
	    (struct other){waker, waker ? track_of(self, waker)->last_site : PP_LINK_NONE};
}

/* --- whom a wait is for --------------------------------------------------------------------- */

static const struct pp_hold *live_hold(const struct pp_object *object,
				       const struct pp_thread *thread)
{
	for (guint i = 0; i < object->holds->len; i++) {
		const struct pp_hold *hold = &g_array_index(object->holds, struct pp_hold, i);

		if (hold->thread == thread && hold->superseded_ns == PP_TIME_UNKNOWN)
			return hold;
	}
	return NULL;
}

/* The only one that holds it; NULL: nobody, or several do. */
static const struct pp_hold *only_hold(const struct pp_object *object)
{
	const struct pp_hold *only = NULL;

	for (guint i = 0; i < object->holds->len; i++) {
		const struct pp_hold *hold = &g_array_index(object->holds, struct pp_hold, i);

		if (hold->superseded_ns != PP_TIME_UNKNOWN)
			continue;
		if (only)
			return NULL;
		only = hold;
	}
	return only;
}

static struct other owner_of(struct waits *self, const struct pp_object *object,
			     const struct pp_operation *operation)
{
	struct other owner = {NULL, PP_LINK_NONE};
	const struct pp_hold *hold;

	if (!pp_object_is_lock(object))
		return owner;
	if (operation->holder) {
		owner.thread = pp_model_thread_at(self->context->model, operation->holder,
						  operation->begin_ns);
		hold = owner.thread ? live_hold(object, owner.thread) : NULL;
	} else {
		hold = only_hold(object);
		owner.thread = hold ? hold->thread : NULL;
	}
	if (hold)
		owner.site = site_of(self, hold->thread, hold->op, hold->site);
	return owner;
}

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	struct waits *self = data;
	struct wait wait = {
	    .object = object,
	    .op = operation->op,
	    .owner = owner_of(self, object, operation),
	    .waker = {NULL, PP_LINK_NONE},
	};

	g_array_append_val(track_of(self, operation->thread)->waits, wait);
}

/* The wait that is over, and those that were given up within it. */
static struct wait take_wait(struct track *track, const struct pp_object *object, enum st_event op)
{
	struct wait none = {.object = object, .op = op};

	for (guint i = track->waits->len; i-- > 0;) {
		struct wait wait = g_array_index(track->waits, struct wait, i);

		if (wait.object != object || wait.op != op)
			continue;
		g_array_set_size(track->waits, i);
		return wait;
	}
	return none;
}

static enum how why_unknown(const struct pp_operation *operation)
{
	if (!operation->finished)
		return ENDLESS;
	return operation->result == ETIMEDOUT ? TIMED_OUT : NOT_KNOWN;
}

static enum how settle(struct waits *self, const struct wait *wait,
		       const struct pp_operation *operation, struct other *ret)
{
	const struct pp_object *object = wait->object;
	const struct release *release = object->data;
	enum how unknown = why_unknown(operation);

	*ret = (struct other){NULL, PP_LINK_NONE};
	if (operation->op == ST_EVENT_thread_join)
		ret->thread = object->subject ? object->subject
			      : operation->holder
				  ? pp_model_thread_at(self->context->model, operation->holder,
						       operation->begin_ns)
				  : NULL;
	if (ret->thread)
		return ENDED;
	*ret = wait->owner;
	if (ret->thread)
		return HELD;
	if (unknown != NOT_KNOWN)
		return unknown;
	*ret = wait->waker;
	if (ret->thread && ret->thread != operation->thread)
		return WOKE;
	if (release && release->by.thread != operation->thread &&
	    release->at_ns >= operation->begin_ns && release->at_ns <= operation->end_ns) {
		*ret = release->by;
		return RELEASED;
	}
	*ret = (struct other){NULL, PP_LINK_NONE};
	return NOT_KNOWN;
}

/* --- what the state machines tell ----------------------------------------------------------- */

static bool releases(const struct pp_operation *operation)
{
	switch (operation->op) {
	case ST_EVENT_mutex_unlock:
	case ST_EVENT_rwlock_unlock:
	case ST_EVENT_spin_unlock:
	case ST_EVENT_sem_post:
	case ST_EVENT_cond_signal:
	case ST_EVENT_cond_broadcast:
		return operation->finished && operation->result == 0;
	case ST_EVENT_barrier_wait: /* the last to arrive does not wait */
	case ST_EVENT_once:
		return operation->finished && !operation->waited;
	default:
		return false;
	}
}

static void note_release(struct waits *self, struct pp_object *object,
			 const struct pp_operation *operation, int64_t at_ns)
{
	struct release *release = object->data;

	if (!release)
		release = object->data = g_new0(struct release, 1);
	release->by.thread = operation->thread;
	release->by.site = site_of(self, operation->thread, operation->op, operation->site);
	release->at_ns = at_ns;
}

static void on_yielded(void *data, struct pp_object *mutex, const struct pp_operation *operation)
{
	note_release(data, mutex, operation, operation->begin_ns);
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct waits *self = data;
	struct pp_link link;
	struct wait wait;
	struct other other;

	(void)acquired;
	if (releases(operation))
		note_release(self, object, operation, operation->end_ns);
	/* A condition wait comes a second time, for its mutex: the wait was not for that. */
	if (!operation->waited || object->type != pp_sync_type(operation->op))
		return;
	wait = take_wait(track_of(self, operation->thread), object, operation->op);
	link = (struct pp_link){
	    .from = operation->thread->serial,
	    .parts[PART_OBJECT] = object->serial,
	    .parts[PART_SITE] = site_of(self, operation->thread, operation->op, operation->site),
	    .parts[PART_HOW] = settle(self, &wait, operation, &other),
	};
	link.to = other.thread ? other.thread->serial : PP_LINK_NONE;
	link.parts[PART_OTHER_SITE] = other.site;
	pp_links_add(&self->links, &link, operation->end_ns - operation->begin_ns);
}

static void *waits_start(const struct pp_pass_context *context)
{
	struct waits *self = g_new0(struct waits, 1);

	self->context = context;
	self->thread_listener = pp_objects_feed(&self->objects);
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .waits = on_waits,
	    .operation = on_operation,
	    .yielded = on_yielded,
	};
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	pp_call_sites_init(&self->sites);
	pp_links_init(&self->links);
	self->tracks = g_ptr_array_new_with_free_func(track_free);
	self->states = pp_thread_states_new(context, &self->thread_listener, NULL);
	return self;
}

static void waits_event(void *state, const struct pp_event *event)
{
	struct waits *self = state;

	if (event->kind == PP_EVENT_WAKING)
		on_waking(self, event);
	pp_thread_states_event(self->states, event);
	if (event->kind == PP_EVENT_SYNC && event->sync.op != ST_EVENT_site)
		track_of(self, event->thread)->last_site =
		    pp_call_sites_number(&self->sites, pp_call_site_of(event));
}

/* --- the tables ----------------------------------------------------------------------------- */

static void set_site(struct pp_cell *function, struct pp_cell *where, const struct waits *self,
		     uint32_t number)
{
	const struct pp_call_site *site;
	g_autofree char *text = NULL;

	if (number == PP_LINK_NONE)
		return;
	site = pp_call_sites_at(&self->sites, number);
	text = pp_call_site_text(site, self->context->namer);
	pp_cell_set_text(function, pp_call_site_function(site));
	pp_cell_set_text(where, text);
}

static void add_wait(struct pp_table *table, const struct waits *self, const struct pp_link *link)
{
	struct pp_cell *row = pp_table_add_row(table);

	pp_object_row(row, self->objects.all->pdata[link->parts[PART_OBJECT]],
		      self->context->namer);
	pp_cell_set_text(&row[WAIT_HOW], hows[link->parts[PART_HOW]]);
	set_site(&row[WAIT_FUNCTION], &row[WAIT_SITE], self, link->parts[PART_SITE]);
	set_site(&row[WAIT_OTHER_FUNCTION], &row[WAIT_OTHER_SITE], self,
		 link->parts[PART_OTHER_SITE]);
	pp_cell_set_count(&row[WAIT_COUNT], link->count);
	pp_cell_set_time(&row[WAIT_WAIT], link->sum_ns);
	pp_cell_set_time(&row[WAIT_WAIT_MAX], link->max_ns);
}

static gint compare_waits(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;

	if (x[WAIT_WAIT].time_ns != y[WAIT_WAIT].time_ns)
		return x[WAIT_WAIT].time_ns < y[WAIT_WAIT].time_ns ? 1 : -1;
	return (x[WAIT_COUNT].count < y[WAIT_COUNT].count) -
	       (x[WAIT_COUNT].count > y[WAIT_COUNT].count);
}

static gint compare_edges(gconstpointer a, gconstpointer b)
{
	const struct pp_cell *x = *(struct pp_cell *const *)a, *y = *(struct pp_cell *const *)b;

	if (x[EDGE_WAIT].time_ns != y[EDGE_WAIT].time_ns)
		return x[EDGE_WAIT].time_ns < y[EDGE_WAIT].time_ns ? 1 : -1;
	return (x[EDGE_COUNT].count < y[EDGE_COUNT].count) -
	       (x[EDGE_COUNT].count > y[EDGE_COUNT].count);
}

static const struct pp_thread *thread_at(const struct waits *self, uint32_t serial)
{
	return serial == PP_LINK_NONE ? NULL : self->context->model->threads->pdata[serial];
}

static struct pp_table *edges_table(const struct waits *self)
{
	struct pp_table *table = pp_table_new("edges", "Waits", edge_columns, N_EDGE_COLUMNS);
	g_autoptr(GPtrArray) links = pp_links_sorted(&self->links);
	const struct pp_link *before = NULL;
	struct pp_cell *row = NULL;

	for (guint i = 0; i < links->len; i++) {
		const struct pp_link *link = links->pdata[i];
		const struct pp_thread *from = thread_at(self, link->from);
		const struct pp_thread *to = thread_at(self, link->to);

		if (!pp_edge_is_shown(self->context, from, to))
			continue;
		if (!before || link->from != before->from || link->to != before->to) {
			row = pp_table_add_row(table);
			pp_edge_threads(row, from, to);
			pp_cell_set_count(&row[EDGE_COUNT], 0);
			pp_cell_set_time(&row[EDGE_WAIT], 0);
			pp_cell_set_time(&row[EDGE_WAIT_MAX], 0);
			pp_cell_set_table(
			    &row[EDGE_WAITS],
			    pp_table_new("waits", "Waits", wait_columns, N_WAIT_COLUMNS));
		}
		before = link;
		row[EDGE_COUNT].count += link->count;
		row[EDGE_WAIT].time_ns += link->sum_ns;
		row[EDGE_WAIT_MAX].time_ns = MAX(row[EDGE_WAIT_MAX].time_ns, link->max_ns);
		add_wait(row[EDGE_WAITS].table, self, link);
	}
	for (guint i = 0; i < table->rows->len; i++) {
		row = table->rows->pdata[i];
		g_ptr_array_sort(row[EDGE_WAITS].table->rows, compare_waits);
	}
	g_ptr_array_sort(table->rows, compare_edges);
	return table;
}

/* One more node, of no thread, if there is an edge to it. */
static void add_unknown_node(struct pp_table *nodes, const struct pp_table *edges)
{
	for (guint i = 0; i < edges->rows->len; i++) {
		const struct pp_cell *edge = edges->rows->pdata[i];

		if (!edge[PP_EDGE_TO].missing)
			continue;
		pp_cell_set_text(&pp_table_add_row(nodes)[PP_NODE_NAME], "?");
		return;
	}
}

static void waits_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct waits *self = state;
	struct pp_table *nodes, *edges;

	pp_thread_states_finish(self->states, end_ns);
	pp_objects_finish(&self->objects, end_ns);
	edges = edges_table(self);
	nodes = pp_thread_nodes(self->context, self->states, edges);
	add_unknown_node(nodes, edges);
	pp_unrecorded_note(edges, self->context->model);
	pp_links_note(&self->links, edges, "waits");
	g_ptr_array_add(tables, nodes);
	g_ptr_array_add(tables, edges);
}

static void waits_free(void *state)
{
	struct waits *self = state;

	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, g_free);
	pp_call_sites_done(&self->sites);
	pp_links_done(&self->links);
	g_ptr_array_unref(self->tracks);
	g_free(self);
}

const struct pp_pass pp_pass_waits = {
    .name = "wait",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_THREAD,
    .start = waits_start,
    .event = waits_event,
    .finish = waits_finish,
    .free = waits_free,
};
