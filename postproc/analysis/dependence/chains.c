/* SPDX-License-Identifier: MIT */
/*
 * Chains of waits.  A thread that waits for an object waits for the culprit's thread there; if that
 * waits too, for the culprit there, and so on.  The object at the end of such a chain is the one
 * whose clock runs.  `weight` counts, at each object on the chain, the threads behind it.
 *
 * A wait that would close a circle (a deadlock, or a contradictory recording) is detached: it is
 * charged to nobody, and its thread counts as one that does not wait.  So chains always end.
 */
#include "analysis/dependence/internal.h"

#include "analysis/select.h"

/* --- clocks --------------------------------------------------------------------------------- */

/* The time for which the thread has been on a CPU so far. */
static int64_t running_ns(struct pp_dependence *dependence, const struct pp_thread *thread)
{
	const struct pp_thread_state *state = pp_thread_state(dependence->states, thread);
	int64_t ns = pp_dep_thread(dependence, thread)->running_ns;

	if (state && state->begun && !state->over && state->mode == PP_MODE_RUNNING &&
	    state->since_ns < dependence->now_ns)
		ns += pp_selected_ns(dependence->context, state->since_ns, dependence->now_ns);
	return ns;
}

/* Runs the clock up to now. */
static void run(struct pp_dependence *dependence, struct pp_dep_place *place)
{
	struct pp_dep_node *culprit = place->culprit;
	int64_t ns = place->weight || place->n_detached
			 ? pp_selected_ns(dependence->context, place->until_ns, dependence->now_ns)
			 : 0;

	place->nobody.ns[PP_DEPENDENCE_WALL] +=
	    ns * (place->n_detached + (culprit ? 0 : place->weight));
	place->until_ns = dependence->now_ns;
	if (!culprit || !place->n_waits)
		return;
	if (!pp_dep_next_of(dependence, culprit))
		culprit->cost.ns[PP_DEPENDENCE_WALL] += ns * place->weight;
	if (culprit->is_held) {
		int64_t ran_ns = running_ns(dependence, culprit->thread);

		if (!pp_dep_next_of(dependence, culprit))
			culprit->cost.ns[PP_DEPENDENCE_RUNNING] +=
			    (ran_ns - place->ran_ns) * place->weight;
		place->ran_ns = ran_ns;
	}
}

/* --- chains --------------------------------------------------------------------------------- */

/*
 * Adds waiters to all objects of the chain, or takes them off.  The clocks before the end of the
 * chain charge nothing to their culprits, so their weights may change while they run.
 */
static void add_along(struct pp_dependence *dependence, struct pp_dep_place *place, int64_t weight)
{
	struct pp_dep_place *next;

	for (; place; place = next) {
		next = pp_dep_next_of(dependence, place->culprit);
		if (!next)
			run(dependence, place);
		place->weight += weight;
	}
}

/* The rest of the chain has waiters, and is united already. */
static void unite_first(struct pp_dependence *dependence, struct pp_dep_place *place)
{
	struct pp_dep_place *next = pp_dep_next_of(dependence, place->culprit);

	if (place->culprit)
		pp_dep_unite(&place->component, &place->culprit->component);
	if (next)
		pp_dep_unite(&place->component, &next->component);
}

/* Does the chain from the object lead to the thread, or come back to an object? */
static bool leads_to(struct pp_dependence *dependence, const struct pp_dep_place *place,
		     const struct pp_thread *thread, const struct pp_dep_place *back)
{
	for (; place; place = pp_dep_next_of(dependence, place->culprit)) {
		if (place == back || (thread && place->culprit && place->culprit->is_held &&
				      place->culprit->thread == thread))
			return true;
	}
	return false;
}

/* The culprit, or the fact that it holds the object, will change. */
static int64_t begin_change(struct pp_dependence *dependence, struct pp_dep_place *place)
{
	int64_t weight = place->weight;

	if (place->n_waits)
		add_along(dependence, place, -weight);
	return weight;
}

static void end_change(struct pp_dependence *dependence, struct pp_dep_place *place,
		       struct pp_dep_node *culprit, int64_t weight)
{
	place->culprit = culprit;
	if (!place->n_waits)
		return;
	if (leads_to(dependence, pp_dep_next_of(dependence, culprit), NULL, place))
		culprit = place->culprit = NULL;
	if (culprit)
		place->ran_ns = running_ns(dependence, culprit->thread);
	add_along(dependence, place, weight);
	unite_first(dependence, place);
	if (dependence->edges)
		pp_dep_aim(dependence, place);
}

/* --- conditionals --------------------------------------------------------------------------- */

/* The thread has executed n conditionals in the last ns. */
static void convert(struct pp_dependence *dependence, struct pp_dep_node *node, uint64_t n,
		    int64_t ns)
{
	int64_t *counted = &node->cost.ns[PP_DEPENDENCE_CONDITIONALS];
	int64_t wall_ns;

	if (node->place->culprit == node && node->place->n_waits)
		run(dependence, node->place);
	wall_ns = node->cost.ns[PP_DEPENDENCE_WALL] - node->counted_ns;
	node->counted_ns += wall_ns;
	if (wall_ns && ns > 0)
		*counted += (int64_t)((__int128)wall_ns * n / ns);
}

void pp_dep_count(struct pp_dependence *dependence, const struct pp_thread *thread, uint64_t count)
{
	struct pp_dep_thread *of = pp_dep_thread(dependence, thread);

	if (!of->count)
		of->count = of->first_count = count;
	/* A signal handler wrote it to an older stream of the thread. */
	if (count < of->count)
		return;
	for (guint i = 0; i < of->held->len; i++)
		convert(dependence, of->held->pdata[i], count - of->count,
			dependence->now_ns - of->count_ns);
	of->count = count;
	of->count_ns = dependence->now_ns;
}

/* --- waits ---------------------------------------------------------------------------------- */

/* The thread, and those that wait for what it holds. */
static int64_t weight_of(const struct pp_dep_thread *of)
{
	int64_t weight = 1;

	for (guint i = 0; i < of->held->len; i++) {
		const struct pp_dep_node *node = of->held->pdata[i];

		if (node->place->culprit == node)
			weight += node->place->weight;
	}
	return weight;
}

/* The thread begins or ceases to wait: so far, its clocks ran, or did not. */
static void run_held(struct pp_dependence *dependence, const struct pp_dep_thread *of)
{
	for (guint i = 0; i < of->held->len; i++) {
		struct pp_dep_node *node = of->held->pdata[i];

		if (node->place->culprit == node)
			run(dependence, node->place);
	}
}

/* The first waiter starts the clock. */
static void start(struct pp_dependence *dependence, struct pp_dep_place *place)
{
	if (place->n_waits++)
		return;
	place->until_ns = dependence->now_ns;
	if (place->culprit)
		place->ran_ns = running_ns(dependence, place->culprit->thread);
}

/*
 * Would the wait close a circle?  If the thread holds none of the objects that others wait for, the
 * chain cannot lead to it, and need not be followed.
 */
static bool closes_circle(struct pp_dependence *dependence, const struct pp_dep_place *place,
			  const struct pp_thread *thread)
{
	const struct pp_dep_thread *of = pp_dep_thread(dependence, thread);
	bool is_waited_for = place->culprit && place->culprit->thread == thread;

	for (guint i = 0; i < of->held->len && !is_waited_for; i++)
		is_waited_for = ((struct pp_dep_node *)of->held->pdata[i])->place->n_waits > 0;
	return is_waited_for && leads_to(dependence, place, thread, NULL);
}

void pp_dep_wait(struct pp_dependence *dependence, struct pp_dep_place *place,
		 const struct pp_thread *thread)
{
	struct pp_dep_thread *of = pp_dep_thread(dependence, thread);

	start(dependence, place);
	if (closes_circle(dependence, place, thread)) {
		run(dependence, place);
		place->n_detached++;
		of->wait = place;
		of->is_detached = true;
		if (dependence->edges)
			pp_dep_aim_begin(dependence, of);
		return;
	}
	run_held(dependence, of);
	add_along(dependence, place, weight_of(of));
	of->wait = place;
	unite_first(dependence, place);
	for (guint i = 0; i < of->held->len; i++) {
		struct pp_dep_node *node = of->held->pdata[i];

		/* Nested edges: from the culprit here to those who wait for this thread. */
		if (node->place->culprit == node && node->place->n_waits)
			pp_dep_unite(&place->component, &node->place->component);
	}
	if (dependence->edges)
		pp_dep_aim_begin(dependence, of);
}

/* Nobody waits any more: an instance that was left is not needed. */
static void stop(struct pp_dependence *dependence, struct pp_dep_place *place)
{
	struct pp_dep_node *culprit = place->culprit;

	if (--place->n_waits)
		return;
	if (culprit && !culprit->is_held) {
		place->culprit = NULL;
		pp_dep_node_settle(dependence, culprit);
	}
	pp_dep_component_unref(dependence, &place->component);
}

void pp_dep_wait_end(struct pp_dependence *dependence, struct pp_dep_thread *of)
{
	struct pp_dep_place *place = of->wait;

	if (of->is_detached) {
		run(dependence, place);
		place->n_detached--;
	} else {
		add_along(dependence, place, -weight_of(of));
		run_held(dependence, of);
	}
	of->wait = NULL;
	of->is_detached = false;
	if (dependence->edges)
		pp_dep_aim_end(dependence, of, place);
	stop(dependence, place);
}

/* --- instances ------------------------------------------------------------------------------ */

/* A lock has few holders, and most threads hold few locks; but some hold thousands. */
struct pp_dep_node *pp_dep_node_of(struct pp_dependence *dependence,
				   const struct pp_dep_place *place, const struct pp_thread *thread)
{
	const GPtrArray *held = pp_dep_thread(dependence, thread)->held, *nodes = place->nodes;
	const GPtrArray *fewer = nodes && nodes->len < held->len ? nodes : held;

	for (guint i = nodes ? fewer->len : 0; i-- > 0;) {
		struct pp_dep_node *node = fewer->pdata[i];

		if (node->place == place && node->thread == thread)
			return node;
	}
	return NULL;
}

static void add_held(GPtrArray *held, struct pp_dep_node *node)
{
	node->held_at = held->len;
	g_ptr_array_add(held, node);
}

static void remove_held(GPtrArray *held, const struct pp_dep_node *node)
{
	g_ptr_array_remove_index_fast(held, node->held_at);
	if (node->held_at < held->len)
		((struct pp_dep_node *)held->pdata[node->held_at])->held_at = node->held_at;
}

void pp_dep_enter(struct pp_dependence *dependence, struct pp_dep_place *place,
		  const struct pp_operation *operation, bool is_shared, struct pp_dep_waited waited)
{
	struct pp_dep_node *node = g_new0(struct pp_dep_node, 1), *former = place->culprit;

	node->place = place;
	node->thread = operation->thread;
	node->op = operation->op;
	node->site = operation->site;
	node->path = operation->path;
	node->since_ns = dependence->now_ns;
	node->is_held = true;
	node->exit_op = ST_N_EVENTS;
	node->component = waited.component;
	node->vertex = waited.vertex;
	if (!place->nodes)
		place->nodes = g_ptr_array_new();
	g_ptr_array_add(place->nodes, node);
	add_held(pp_dep_thread(dependence, operation->thread)->held, node);
	if (place->n_waits)
		pp_dep_unite(&place->component, &node->component);
	/* Several readers, or users of a semaphore: the first one stays the culprit. */
	if (is_shared && former && former->is_held)
		return;
	end_change(dependence, place, node, begin_change(dependence, place));
	if (former && !former->is_held)
		pp_dep_node_settle(dependence, former);
}

/* The one that obtained the object first. */
static struct pp_dep_node *first_of(const struct pp_dep_place *place)
{
	for (guint i = 0; place->nodes && i < place->nodes->len; i++) {
		struct pp_dep_node *node = place->nodes->pdata[i];
		const struct pp_hold *hold = pp_object_hold(place->object, node->thread);

		if (!hold || hold->superseded_ns == PP_TIME_UNKNOWN)
			return node;
	}
	return NULL;
}

void pp_dep_leave(struct pp_dependence *dependence, struct pp_dep_node *node, int64_t end_ns,
		  const struct pp_operation *operation)
{
	struct pp_dep_place *place = node->place;
	bool is_culprit = place->culprit == node;
	struct pp_dep_node *next;
	int64_t weight = is_culprit ? begin_change(dependence, place) : 0;

	node->is_held = false;
	node->end_ns = MAX(end_ns, node->since_ns);
	if (operation) {
		node->exit_op = operation->op;
		node->exit_site = operation->site;
	}
	g_ptr_array_remove(place->nodes, node);
	remove_held(pp_dep_thread(dependence, node->thread)->held, node);
	next = first_of(place);
	/* Its waiters wait for it until another thread obtains the lock. */
	if (is_culprit)
		end_change(dependence, place, next || !place->n_waits ? next : node, weight);
	if (place->culprit != node)
		pp_dep_node_settle(dependence, node);
}
