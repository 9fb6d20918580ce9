/* SPDX-License-Identifier: MIT */
/*
 * The wait graph: an edge from each waiting thread to the thread that it waited for, as wait_end.h
 * determines it, by object.  If that thread is not known, the edge leads to the node "?".  Each
 * wait belongs to one edge, so the times add up to those of `locks`.
 *
 * Blocking calls have edges, too, if another thread of the capture ended them (io_wake.h): a read
 * of a pipe waits for the writer, in whichever process that is.  The others wait for something
 * outside, and a note counts them.
 */
#include "analysis/select.h"
#include "analysis/graph/call_sites.h"
#include "analysis/graph/links.h"
#include "analysis/state/io_wake.h"
#include "analysis/state/object_refs.h"
#include "analysis/state/object_row.h"
#include "analysis/graph/thread_nodes.h"
#include "analysis/state/wait_end.h"

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
    [WAIT_HOW] = {"how", "how", PP_TYPE_TEXT, PP_COLUMN_KEY, HOWS},
    [WAIT_FUNCTION] = {"function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY,
		       "function called by the first thread"},
    [WAIT_SITE] = {"site", "site", PP_TYPE_TEXT, PP_COLUMN_KEY, "where"},
    [WAIT_OTHER_FUNCTION] =
	{"other_function", "function", PP_TYPE_TEXT, PP_COLUMN_KEY,
	 "function that the other thread called to acquire it, or to end the wait"},
    [WAIT_OTHER_SITE] = {"other_site", "site", PP_TYPE_TEXT, PP_COLUMN_KEY, "where"},
    [WAIT_COUNT] = {"count", "count", PP_TYPE_COUNT, 0, "how often"},
    [WAIT_WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "total wait time"},
    [WAIT_WAIT_MAX] = {"wait_max_ns", "longest", PP_TYPE_TIME_NS, PP_COLUMN_MAX,
		       "the longest wait"},
};

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
    [EDGE_WAIT] = {"wait_ns", "wait", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "total wait time"},
    [EDGE_WAIT_MAX] = {"wait_max_ns", "longest", PP_TYPE_TIME_NS, PP_COLUMN_MAX,
		       "the longest wait"},
    [EDGE_WAITS] = {"waits", "waits", PP_TYPE_TABLE, PP_COLUMN_JSON_ONLY,
		    "object and call sites of both threads", wait_columns, N_WAIT_COLUMNS},
};

/* Parts of a link; `from` and `to` are serials of threads. */
enum { PART_OBJECT, PART_SITE, PART_OTHER_SITE, PART_HOW };

struct waits {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener;
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	struct pp_object_refs refs;
	struct pp_call_sites sites;
	struct pp_links links;
	struct pp_wait_ends ends;
	struct pp_io_wakes io_wakes;
	struct pp_io_end_sums io_ends;
};

static uint32_t site_of(struct waits *self, const struct pp_thread *thread, enum st_event op,
			uint64_t site)
{
	return pp_call_sites_number(&self->sites, (struct pp_call_site){thread->process, site, op});
}

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	struct waits *self = data;
	const struct pp_hold *hold;
	struct pp_wait_other owner = {
	    .thread = pp_wait_owner(&self->ends, object, operation, &hold),
	    .mark = hold ? site_of(self, hold->thread, hold->op, hold->site) : PP_MARK_NONE,
	};

	pp_wait_ends_begin(&self->ends, object, operation, owner);
}

static void note_release(struct waits *self, const struct pp_object *object,
			 const struct pp_operation *operation, int64_t at_ns)
{
	pp_wait_ends_release(&self->ends, object, operation->thread,
			     site_of(self, operation->thread, operation->op, operation->site),
			     at_ns);
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
	struct pp_wait_other other;

	(void)acquired;
	if (pp_operation_releases(operation))
		note_release(self, object, operation, operation->end_ns);
	/* The second call for a condition wait, for its mutex, which it did not wait for. */
	if (!operation->waited || object->type != pp_sync_type(operation->op))
		return;
	link = (struct pp_link){
	    .from = operation->thread->serial,
	    .parts[PART_OBJECT] = pp_object_number(object),
	    .parts[PART_SITE] = site_of(self, operation->thread, operation->op, operation->site),
	    .parts[PART_HOW] = pp_wait_ends_settle(&self->ends, object, operation, &other),
	};
	link.to = other.thread ? other.thread->serial : PP_LINK_NONE;
	link.parts[PART_OTHER_SITE] = other.mark;
	if (pp_links_add(&self->links, &link, operation->end_ns - operation->begin_ns))
		pp_object_refs_add(&self->refs, object);
}

static void on_io(void *data, const struct pp_io *io)
{
	struct waits *self = pp_objects_owner(data);
	struct pp_wait_other waker;
	enum pp_io_end end = pp_io_wakes_end(&self->io_wakes, io, &waker);
	int64_t ns = io->end_ns - io->begin_ns;
	struct pp_link link = {
	    .from = io->thread->serial,
	    .parts = {[PART_OBJECT] = PP_LINK_NONE,
		      [PART_SITE] = site_of(self, io->thread, pp_io_op(io->call), io->site),
		      [PART_HOW] = PP_WAIT_WOKE},
	};

	self->io_ends.n[end]++;
	self->io_ends.ns[end] += ns;
	if (end != PP_IO_END_WOKEN)
		return;
	link.to = waker.thread->serial;
	link.parts[PART_OTHER_SITE] = waker.mark;
	pp_links_add(&self->links, &link, ns);
}

static bool on_end(void *data, struct pp_object *object, struct pp_object *group)
{
	struct waits *self = data;

	(void)group;
	pp_wait_ends_forget(&self->ends, object);
	return pp_object_refs_end(&self->refs, object);
}

static void *waits_start(const struct pp_pass_context *context)
{
	struct waits *self = g_new0(struct waits, 1);

	self->context = context;
	self->thread_listener = pp_objects_feed(&self->objects);
	self->thread_listener.io = on_io;
	self->object_listener = (struct pp_object_listener){
	    .data = self,
	    .waits = on_waits,
	    .operation = on_operation,
	    .yielded = on_yielded,
	    .fold = on_end,
	};
	pp_objects_init(&self->objects, &self->object_listener, NULL);
	pp_object_refs_init(&self->refs);
	pp_call_sites_init(&self->sites);
	pp_links_init(&self->links);
	pp_wait_ends_init(&self->ends, context->model);
	pp_io_wakes_init(&self->io_wakes);
	self->states = pp_thread_states_new(context, &self->thread_listener, NULL);
	return self;
}

static void on_waking(struct waits *self, const struct pp_event *event)
{
	const struct pp_thread *waker = event->waking.waker;
	const struct pp_thread_state *state = waker ? pp_thread_state(self->states, waker) : NULL;
	const struct pp_io *io = state ? pp_thread_io(state) : NULL;

	pp_wait_ends_waking(&self->ends, event);
	pp_io_wakes_waking(&self->io_wakes, event,
			   event->thread ? pp_thread_state(self->states, event->thread) : NULL,
			   io ? site_of(self, waker, pp_io_op(io->call), io->site) : PP_MARK_NONE);
}

static void waits_event(void *state, const struct pp_event *event)
{
	struct waits *self = state;

	if (event->kind == PP_EVENT_WAKING)
		on_waking(self, event);
	pp_thread_states_event(self->states, event);
	if (event->kind == PP_EVENT_SYNC && !pp_sync_has(event->sync.op, PP_SYNC_DEFINES))
		pp_wait_ends_call(&self->ends, event->thread,
				  pp_call_sites_number(&self->sites, pp_call_site_of(event)));
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

/* A blocking call has no object, but a kind. */
static void set_call(struct pp_cell *row, const struct pp_call_site *site)
{
	pp_cell_set_count(&row[PP_OBJECT_PID], site->process->pid);
	pp_cell_set_count(&row[PP_OBJECT_IMAGE], site->process->image);
	pp_cell_set_text(&row[PP_OBJECT_TYPE], "call");
	pp_cell_set_text(&row[PP_OBJECT_NAME], pp_io_kind_name(pp_io_kind(pp_op_io(site->op))));
}

static void add_wait(struct pp_table *table, const struct waits *self, const struct pp_link *link)
{
	struct pp_cell *row = pp_table_add_row(table);
	const struct pp_call_site *site = pp_call_sites_at(&self->sites, link->parts[PART_SITE]);

	if (pp_op_is_io(site->op))
		set_call(row, site);
	else
		pp_object_row(row, pp_object_refs_at(&self->refs, link->parts[PART_OBJECT]),
			      self->context->namer);
	pp_cell_set_text(&row[WAIT_HOW], pp_wait_how_text(link->parts[PART_HOW]));
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
			pp_cell_set_table(&row[EDGE_WAITS],
					  pp_table_new_nested(&edge_columns[EDGE_WAITS]));
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

/* Adds a node for the unknown thread if there is an edge to it. */
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

/* Notes the blocking calls without an edge. */
static void note_calls(const struct waits *self, struct pp_table *edges)
{
	g_autofree char *others = pp_io_end_sums_text(&self->io_ends);

	if (!others)
		return;
	if (!self->context->has_wakings)
		pp_table_note(edges, "blocking calls have no arrows: the kernel's wake-ups were "
				     "not recorded");
	else
		pp_table_note(edges, "blocking calls without an arrow: %s", others);
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
	pp_links_note(&self->links, edges, "waits");
	note_calls(self, edges);
	g_ptr_array_add(tables, nodes);
	g_ptr_array_add(tables, edges);
}

static void waits_free(void *state)
{
	struct waits *self = state;

	pp_thread_states_free(self->states);
	pp_objects_done(&self->objects, NULL);
	pp_object_refs_done(&self->refs);
	pp_call_sites_done(&self->sites);
	pp_links_done(&self->links);
	pp_wait_ends_done(&self->ends);
	pp_io_wakes_done(&self->io_wakes);
	g_free(self);
}

const struct pp_pass pp_pass_waits = {
    .name = "wait",
    .kinds = PP_THREAD_STATE_KINDS,
    .selects = PP_SELECT_THREAD,
    .has_operations = true,
    .start = waits_start,
    .event = waits_event,
    .finish = waits_finish,
    .free = waits_free,
};
