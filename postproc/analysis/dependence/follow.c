/* SPDX-License-Identifier: MIT */
/* See dependence.h.  Follows the operations on locks, semaphores and barriers. */
#include "analysis/dependence/internal.h"

#include "analysis/select.h"

static bool is_followed(const struct pp_object *object)
{
	return pp_object_is_lock(object) || object->type == GM_SYNC_TYPE_sem;
}

static void set_now(struct pp_dependence *dependence, int64_t now_ns)
{
	dependence->now_ns = MAX(dependence->now_ns, now_ns);
}

/* --- barriers ------------------------------------------------------------------------------- */

/* Selected time up to now. */
static int64_t selected_now(const struct pp_dependence *dependence)
{
	return pp_selected_ns(dependence->context, pp_model_origin(dependence->context->model),
			      dependence->now_ns);
}

/* The thread arrives: those that arrived earlier have waited for it. */
static void arrive(struct pp_dependence *dependence, struct pp_dep_place *place,
		   const struct pp_operation *operation)
{
	int64_t ns = selected_now(dependence);
	struct pp_dep_node *node = g_new0(struct pp_dep_node, 1);

	node->place = place;
	node->thread = operation->thread;
	node->op = node->exit_op = pp_sync_has(operation->op, PP_SYNC_BEGIN)
				       ? pp_sync_completion(operation->op)
				       : operation->op;
	node->site = node->exit_site = operation->site;
	node->since_ns = node->end_ns = dependence->now_ns;
	node->cost.ns[PP_DEPENDENCE_WALL] = place->n_arrived * ns - place->sum_ns;
	pp_dep_unite(&place->component, &node->component);
	if (dependence->edges)
		pp_dep_edges_arrive(dependence, node);
	pp_dep_node_settle(dependence, node);
	place->n_arrived++;
	place->sum_ns += ns;
}

/* All have arrived.  The next arrival is one of the next round. */
static void open_barrier(struct pp_dependence *dependence, struct pp_dep_place *place)
{
	place->round++;
	place->n_arrived = 0;
	place->sum_ns = 0;
	if (place->arrivals)
		g_ptr_array_set_size(place->arrivals, 0);
	pp_dep_component_unref(dependence, &place->component);
}

static void barrier_waits(struct pp_dependence *dependence, struct pp_dep_place *place,
			  const struct pp_operation *operation)
{
	arrive(dependence, place, operation);
	pp_dep_thread(dependence, operation->thread)->round = place->round + 1;
}

static void barrier_operation(struct pp_dependence *dependence, struct pp_dep_place *place,
			      const struct pp_operation *operation)
{
	struct pp_dep_thread *of = pp_dep_thread(dependence, operation->thread);

	if (!operation->waited) {
		arrive(dependence, place, operation);
		open_barrier(dependence, place);
	} else if (of->round == place->round + 1 && operation->finished) {
		open_barrier(dependence, place);
	}
}

/* --- operations ----------------------------------------------------------------------------- */

static void on_waits(void *data, struct pp_object *object, const struct pp_operation *operation)
{
	struct pp_dependence *dependence = data;
	struct pp_dep_place *place = pp_dep_place_of(object);
	struct pp_dep_thread *of = pp_dep_thread(dependence, operation->thread);
	struct pp_dep_node *node;

	set_now(dependence, operation->begin_ns);
	if (object->type == GM_SYNC_TYPE_barrier) {
		barrier_waits(dependence, place, operation);
		return;
	}
	/* A signal handler's wait within another one is charged to nobody at its end. */
	if (!is_followed(object) || of->began)
		return;
	node = pp_dep_node_of(dependence, place, operation->thread);
	/* It acquires the semaphore once more without a post: it does not use it as a lock. */
	if (node && object->type == GM_SYNC_TYPE_sem)
		pp_dep_leave(dependence, node, operation->begin_ns, NULL);
	pp_dep_wait(dependence, place, operation->thread);
	of->began = true;
	of->begin_ns = operation->begin_ns;
}

/* Ends the thread's wait.  Returns how much of it was charged to its object. */
static int64_t end_charged(struct pp_dependence *dependence, struct pp_dep_thread *of)
{
	int64_t end_ns = of->is_orphan ? of->orphan_ns : dependence->now_ns;

	if (of->wait)
		pp_dep_wait_end(dependence, of);
	of->began = of->is_orphan = false;
	return pp_selected_ns(dependence->context, of->begin_ns, end_ns);
}

/*
 * A wait whose object no longer exists ends as one for that object's successor.  One whose end is
 * not known has no length, but has been charged up to now.
 */
static struct pp_dep_waited end_wait(struct pp_dependence *dependence, struct pp_dep_place *place,
				     const struct pp_operation *operation)
{
	struct pp_dep_thread *of = pp_dep_thread(dependence, operation->thread);
	struct pp_dep_waited waited = {.component = pp_dep_component_ref(place->component)};
	int64_t ns = pp_selected_ns(dependence->context, operation->begin_ns,
				    MAX(operation->end_ns, operation->begin_ns));

	if (of->began && of->begin_ns == operation->begin_ns) {
		ns -= end_charged(dependence, of);
		waited.vertex = g_steal_pointer(&of->vertex);
	}
	if (ns > 0)
		place->nobody.ns[PP_DEPENDENCE_WALL] += ns;
	else
		place->unended_ns -= ns;
	if (ns > 0 && dependence->edges) {
		waited.vertex = waited.vertex ?: pp_dep_vertex_new();
		pp_dep_edges_charge(NULL, waited.vertex, PP_DEPENDENCE_DIRECT, ns);
	}
	return waited;
}

/* The wait led to no instance. */
static void drop_waited(struct pp_dependence *dependence, struct pp_dep_place *place,
			const struct pp_operation *operation, struct pp_dep_waited waited)
{
	const struct pp_dep_node node = {
	    .place = place,
	    .thread = operation->thread,
	    .op = operation->op,
	    .site = operation->site,
	    .path = operation->path,
	    .exit_op = ST_N_EVENTS,
	    .since_ns = PP_TIME_UNKNOWN,
	};

	pp_dep_component_unref(dependence, &waited.component);
	if (waited.vertex)
		pp_dep_vertex_settle(dependence, waited.vertex, &node);
}

static void lock_acquired(struct pp_dependence *dependence, struct pp_dep_place *place,
			  const struct pp_operation *operation, struct pp_dep_waited waited)
{
	const struct pp_hold *hold = pp_object_hold(place->object, operation->thread);
	struct pp_dep_node *node = pp_dep_node_of(dependence, place, operation->thread);

	if (node && hold && hold->depth > 1) {
		drop_waited(dependence, place, operation, waited);
		return;
	}
	if (node)
		pp_dep_leave(dependence, node, operation->end_ns, NULL);
	pp_dep_enter(dependence, place, operation, pp_sync_has(operation->op, PP_SYNC_SHARED),
		     waited);
}

static void sem_acquired(struct pp_dependence *dependence, struct pp_dep_place *place,
			 const struct pp_operation *operation, struct pp_dep_waited waited)
{
	struct pp_dep_node *node = pp_dep_node_of(dependence, place, operation->thread);

	if (node)
		pp_dep_leave(dependence, node, operation->end_ns, NULL);
	pp_dep_enter(dependence, place, operation, true, waited);
}

static void sem_posted(struct pp_dependence *dependence, struct pp_dep_place *place,
		       const struct pp_operation *operation)
{
	struct pp_dep_node *node = pp_dep_node_of(dependence, place, operation->thread);

	if (node)
		pp_dep_leave(dependence, node, operation->end_ns, operation);
}

static void on_operation(void *data, struct pp_object *object, const struct pp_operation *operation,
			 bool acquired)
{
	struct pp_dependence *dependence = data;
	/* The second call for a condition wait, for its mutex, which it did not wait for. */
	bool regained = object->type != pp_sync_type(operation->op);
	struct pp_dep_waited waited = {0};
	struct pp_dep_place *place;

	set_now(dependence, operation->end_ns);
	if (object->type == GM_SYNC_TYPE_barrier && pp_sync_has(operation->op, PP_SYNC_PASSES)) {
		barrier_operation(dependence, pp_dep_place_of(object), operation);
		return;
	}
	if (!is_followed(object))
		return;
	place = pp_dep_place_of(object);
	if (operation->waited && !regained)
		waited = end_wait(dependence, place, operation);
	if (acquired && object->type == GM_SYNC_TYPE_sem)
		sem_acquired(dependence, place, operation, waited);
	else if (acquired)
		lock_acquired(dependence, place, operation, waited);
	else
		drop_waited(dependence, place, operation, waited);
	if (operation->op == ST_EVENT_sem_post && operation->finished)
		sem_posted(dependence, place, operation);
}

static void on_released(void *data, struct pp_object *object, const struct pp_hold *hold,
			int64_t end_ns, const struct pp_operation *operation)
{
	struct pp_dependence *dependence = data;
	struct pp_dep_node *node =
	    pp_dep_node_of(dependence, pp_dep_place_of(object), hold->thread);

	set_now(dependence, end_ns);
	if (node)
		pp_dep_leave(dependence, node, end_ns, operation);
}

static void on_dropped(void *data, struct pp_object *object, const struct pp_thread *thread)
{
	struct pp_dependence *dependence = data;
	struct pp_dep_node *node = pp_dep_node_of(dependence, pp_dep_place_of(object), thread);

	if (node)
		pp_dep_leave(dependence, node, dependence->now_ns, NULL);
}

static void on_interval(void *data, const struct pp_interval *interval)
{
	struct pp_dependence *dependence = pp_objects_owner(data);

	if (interval->mode == PP_MODE_RUNNING)
		pp_dep_thread(dependence, interval->thread)->running_ns +=
		    pp_selected_ns(dependence->context, interval->start_ns, interval->end_ns);
}

static void count(struct pp_dependence *dependence, const struct pp_operation *operation,
		  int64_t now_ns)
{
	if (!operation->conditionals)
		return;
	set_now(dependence, now_ns);
	pp_dep_count(dependence, operation->thread, operation->conditionals);
}

/* Before the operation changes what is held. */
static void on_thread_begins(void *data, const struct pp_operation *operation)
{
	struct pp_dependence *dependence = pp_objects_owner(data);

	count(dependence, operation, operation->begin_ns);
	dependence->feed.begin(data, operation);
}

static void on_thread_operation(void *data, const struct pp_operation *operation)
{
	struct pp_dependence *dependence = pp_objects_owner(data);

	if (operation->finished)
		count(dependence, operation, operation->end_ns);
	dependence->feed.operation(data, operation);
}

/* --- objects that no longer exist ------------------------------------------------------------- */

static void end_waits(struct pp_dependence *dependence, const struct pp_dep_place *place)
{
	for (guint i = 0; place->n_waits && i < dependence->threads->len; i++) {
		struct pp_dep_thread *of = dependence->threads->pdata[i];

		if (!of || of->wait != place)
			continue;
		pp_dep_wait_end(dependence, of);
		of->is_orphan = true;
		of->orphan_ns = dependence->now_ns;
	}
}

static void close_place(struct pp_dependence *dependence, struct pp_dep_place *place)
{
	end_waits(dependence, place);
	while (place->nodes && place->nodes->len)
		pp_dep_leave(dependence, place->nodes->pdata[0], dependence->now_ns, NULL);
	pp_dep_component_unref(dependence, &place->component); /* of a barrier */
}

static bool on_fold(void *data, struct pp_object *object, struct pp_object *group)
{
	struct pp_dep_place *place = g_steal_pointer(&object->data);
	bool is_used;

	if (!place)
		return false;
	close_place(data, place);
	is_used = place->parts || place->nobody.ns[PP_DEPENDENCE_WALL];
	pp_dep_place_fold(pp_dep_place_of(group), place);
	pp_dep_place_free(place);
	return is_used;
}

static int64_t wait_of(const struct pp_object *object)
{
	const struct pp_dep_place *place = object->data;
	int64_t ns = place ? place->nobody.ns[PP_DEPENDENCE_WALL] : 0;

	for (guint i = 0; place && place->parts && i < place->parts->len; i++)
		ns +=
		    g_array_index(place->parts, struct pp_dep_part, i).cost.ns[PP_DEPENDENCE_WALL];
	return ns;
}

static int compare(const struct pp_object *a, const struct pp_object *b)
{
	return pp_object_compare(a, wait_of(a), b, wait_of(b));
}

/* -------------------------------------------------------------------------------------------- */

struct pp_dependence *pp_dependence_new(const struct pp_pass_context *context)
{
	struct pp_dependence *dependence = g_new0(struct pp_dependence, 1);

	dependence->context = context;
	dependence->now_ns = pp_model_origin(context->model);
	dependence->feed = pp_objects_feed(&dependence->objects);
	dependence->thread_listener = dependence->feed;
	dependence->thread_listener.interval = on_interval;
	dependence->thread_listener.begin = on_thread_begins;
	dependence->thread_listener.operation = on_thread_operation;
	dependence->object_listener = (struct pp_object_listener){
	    .data = dependence,
	    .waits = on_waits,
	    .operation = on_operation,
	    .released = on_released,
	    .dropped = on_dropped,
	    .fold = on_fold,
	    .compare = compare,
	    .context = context,
	};
	dependence->threads = g_ptr_array_new_with_free_func(pp_dep_thread_free);
	dependence->sections =
	    g_hash_table_new_full(pp_dep_section_hash, pp_dep_section_equal, g_free, NULL);
	dependence->ended =
	    g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_hash_table_unref);
	pp_objects_init(&dependence->objects, &dependence->object_listener, NULL);
	dependence->states = pp_thread_states_share(context, &dependence->thread_listener);
	return dependence;
}

static void close_all(struct pp_dependence *dependence)
{
	const GPtrArray *all = dependence->objects.all;

	for (guint i = 0; i < all->len; i++) {
		const struct pp_object *object = all->pdata[i];

		if (object && object->data)
			close_place(dependence, object->data);
	}
}

/* Drops the vertices of waits whose end was not reported. */
static void drop_vertices(struct pp_dependence *dependence)
{
	for (guint i = 0; dependence->edges && i < dependence->threads->len; i++) {
		struct pp_dep_thread *of = dependence->threads->pdata[i];

		if (of && of->vertex)
			pp_dep_vertex_drop(dependence, g_steal_pointer(&of->vertex));
	}
}

void pp_dependence_want_edges(struct pp_dependence *dependence, guint max_instances)
{
	dependence->edges = pp_dep_edges_new(max_instances);
}

void pp_dependence_free(struct pp_dependence *dependence)
{
	pp_thread_states_free(dependence->states);
	close_all(dependence);
	drop_vertices(dependence);
	pp_objects_done(&dependence->objects, pp_dep_place_free);
	g_ptr_array_unref(dependence->threads);
	g_hash_table_unref(dependence->ended);
	g_hash_table_unref(dependence->sections);
	g_clear_pointer(&dependence->edges, pp_dep_edges_free);
	g_free(dependence);
}

void pp_dependence_event(struct pp_dependence *dependence, const struct pp_event *event)
{
	pp_thread_states_event(dependence->states, event);
}

static const struct pp_thread *find_last(const struct pp_dependence *dependence)
{
	const struct pp_thread *last = NULL;
	int64_t last_ns = 0;
	GHashTableIter iter;
	void *thread;

	g_hash_table_iter_init(&iter, dependence->ended);
	while (g_hash_table_iter_next(&iter, &thread, NULL)) {
		const struct pp_thread_state *state = pp_thread_state(dependence->states, thread);
		int64_t end_ns = state && state->begun ? state->end_ns : 0;

		if (last &&
		    (end_ns < last_ns ||
		     (end_ns == last_ns && ((struct pp_thread *)thread)->serial > last->serial)))
			continue;
		last = thread;
		last_ns = end_ns;
	}
	return last;
}

void pp_dependence_finish(struct pp_dependence *dependence, int64_t end_ns)
{
	GHashTableIter iter;
	void *section, *cost;

	pp_thread_states_finish(dependence->states, end_ns);
	pp_objects_finish(&dependence->objects, end_ns);
	close_all(dependence);
	drop_vertices(dependence);
	dependence->last = find_last(dependence);
	if (!dependence->last)
		return;
	g_hash_table_iter_init(&iter, g_hash_table_lookup(dependence->ended, dependence->last));
	while (g_hash_table_iter_next(&iter, &section, &cost))
		((struct pp_section *)section)->critical_path = *(struct pp_dependence_cost *)cost;
}

void pp_dependence_walk(const struct pp_dependence *dependence, pp_dependence_take *take,
			void *data)
{
	const GPtrArray *all = dependence->objects.all;

	for (guint i = 0; i < all->len; i++) {
		static const struct pp_dep_place none;
		const struct pp_object *object = all->pdata[i];
		const struct pp_dep_place *place = object && object->data ? object->data : &none;

		if (!object)
			continue;
		for (guint j = 0; place->parts && j < place->parts->len; j++) {
			const struct pp_dep_part *part =
			    &g_array_index(place->parts, struct pp_dep_part, j);

			take(data, object, part->section, &part->cost, 0);
		}
		take(data, object, NULL, &place->nobody, place->unended_ns);
	}
}

const struct pp_thread *pp_dependence_last(const struct pp_dependence *dependence)
{
	return dependence->last;
}

bool pp_dependence_conditionals(const struct pp_dependence *dependence, int64_t *ret_n)
{
	uint64_t n = 0;
	bool is_counted = false;

	for (guint i = 0; i < dependence->threads->len; i++) {
		const struct pp_dep_thread *of = dependence->threads->pdata[i];

		if (!of || !of->count)
			continue;
		is_counted = true;
		n += of->count - of->first_count;
	}
	*ret_n = (int64_t)MIN(n, INT64_MAX);
	return is_counted;
}

const struct pp_thread_states *pp_dependence_states(const struct pp_dependence *dependence)
{
	return dependence->states;
}
