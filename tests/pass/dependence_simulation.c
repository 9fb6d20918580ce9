/* SPDX-License-Identifier: MIT */
/* See dependence_simulation.h. */
#include "dependence_simulation.h"

#include <inttypes.h>
#include <string.h>

#define TIMED_OUT 110

static bool chance(struct simulation *sim, int one_in)
{
	return g_rand_int_range(sim->rand, 0, one_in) == 0;
}

static int add_node(struct simulation *sim, int thread)
{
	int n = sim->n_nodes++;

	sim->nodes[n] = (struct node){.thread = thread, .lock = NONE, .end_ns = -1, .component = n};
	return n;
}

static void join(struct simulation *sim, int a, int b)
{
	int from = sim->nodes[a].component, to = sim->nodes[b].component;

	for (int i = 0; i < sim->n_nodes; i++)
		if (sim->nodes[i].component == from)
			sim->nodes[i].component = to;
}

static int n_waiters(const struct simulation *sim, int lock)
{
	int n = 0;

	for (int i = 0; i < N_THREADS; i++)
		n += sim->threads[i].waits_for == lock;
	return n;
}

/* --- actions -------------------------------------------------------------------------------- */

static void print(struct simulation *sim, int t, const char *op, int lock, unsigned site)
{
	g_string_append_printf(
	    sim->events, "%" PRId64 " %s tid=%d object=0x%x site=0x%x conditionals=%" PRId64,
	    sim->now_ns, op, t + 1, 0x1000 * (lock + 1), site, count_rate(t) * (sim->now_ns + 1));
}

static void note(struct simulation *sim, int what, int node, int lock)
{
	const struct action action = {what, node, lock, sim->now_ns};

	g_array_append_val(sim->actions, action);
}

static void obtain(struct simulation *sim, int t, int lock, unsigned site, int n)
{
	struct node *node = &sim->nodes[n];

	node->lock = lock;
	node->entry = site;
	node->held = true;
	node->since_ns = sim->now_ns;
	sim->holder[lock] = sim->culprit[lock] = sim->threads[t].holds[lock] = n;
	note(sim, OBTAINS, n, lock);
	for (int i = 0; i < N_THREADS; i++)
		if (sim->threads[i].waits_for == lock)
			join(sim, n, sim->threads[i].waiter);
}

static void release(struct simulation *sim, int t, int lock)
{
	int n = sim->threads[t].holds[lock];
	struct node *node = &sim->nodes[n];

	node->exit = 0x500u + (unsigned)g_rand_int_range(sim->rand, 0, 2);
	node->held = false;
	node->end_ns = sim->now_ns;
	note(sim, RELEASES, n, lock);
	sim->holder[lock] = sim->threads[t].holds[lock] = NONE;
	if (!n_waiters(sim, lock))
		sim->culprit[lock] = NONE;
	print(sim, t, "mutex_unlock", lock, node->exit);
	g_string_append_c(sim->events, '\n');
}

/* Locks are taken in ascending order, so there are no deadlocks. */
static void lock(struct simulation *sim, int t)
{
	struct thread *thread = &sim->threads[t];
	int least = 0, lock;

	for (int i = 0; i < N_LOCKS; i++)
		if (thread->holds[i] != NONE)
			least = i + 1;
	if (least == N_LOCKS)
		return;
	lock = g_rand_int_range(sim->rand, least, N_LOCKS);
	thread->site = 0x400u + (unsigned)g_rand_int_range(sim->rand, 0, 3);
	if (sim->holder[lock] == NONE) {
		print(sim, t, "mutex_lock", lock, thread->site);
		g_string_append_c(sim->events, '\n');
		obtain(sim, t, lock, thread->site, add_node(sim, t));
		return;
	}
	thread->timed = chance(sim, 4) && !sim->no_timeouts;
	thread->waits_for = lock;
	thread->waiter = add_node(sim, t);
	thread->first = sim->culprit[lock];
	sim->nodes[thread->waiter].entry = thread->site;
	note(sim, ACQUIRES, thread->waiter, lock);
	print(sim, t, thread->timed ? "mutex_timedlock_begin" : "mutex_lock_begin", lock,
	      thread->site);
	g_string_append_printf(sim->events, " holder=%d\n",
			       sim->nodes[sim->holder[lock]].thread + 1);
}

/* The thread obtains the lock for which it waits, or gives up. */
static void end_wait(struct simulation *sim, int t)
{
	struct thread *thread = &sim->threads[t];
	int lock = thread->waits_for;
	bool fails = sim->holder[lock] != NONE;

	if (fails && !(thread->timed && chance(sim, 3)))
		return;
	thread->waits_for = NONE;
	print(sim, t, thread->timed ? "mutex_timedlock" : "mutex_lock", lock, thread->site);
	g_string_append_printf(sim->events, " result=%d\n", fails ? TIMED_OUT : 0);
	if (!fails)
		obtain(sim, t, lock, thread->site, thread->waiter);
}

static void act(struct simulation *sim)
{
	int t = g_rand_int_range(sim->rand, 0, N_THREADS);
	struct thread *thread = &sim->threads[t];
	int at = g_rand_int_range(sim->rand, 0, N_LOCKS);

	if (thread->waits_for != NONE)
		end_wait(sim, t);
	else if (thread->holds[at] != NONE)
		release(sim, t, at);
	else if (!chance(sim, 3))
		lock(sim, t);
}

/* --- the graph ------------------------------------------------------------------------------ */

static void add_edge(struct simulation *sim, int from, int t, int64_t ns)
{
	const struct thread *thread = &sim->threads[t];
	int culprit = sim->culprit[thread->waits_for];
	const struct edge edge = {from, thread->waiter,
				  from != culprit	     ? NESTED
				  : culprit != thread->first ? INDIRECT
							     : DIRECT,
				  ns};

	g_array_append_val(sim->edges, edge);
}

static void charge(struct simulation *sim, int t, int64_t ns)
{
	const struct thread *thread = &sim->threads[t];
	int lock = thread->waits_for, n;

	for (;;) {
		int other;

		n = sim->culprit[lock];
		if (n == NONE) {
			sim->nobody_ns[lock] += ns;
			add_edge(sim, NONE, t, ns);
			return;
		}
		join(sim, n, thread->waiter);
		other = sim->nodes[n].held ? sim->threads[sim->nodes[n].thread].waits_for : NONE;
		if (other == NONE)
			break;
		lock = other;
	}
	sim->nodes[n].cost_ns += ns;
	sim->nodes[n].held_ns += sim->nodes[n].held ? ns : 0;
	add_edge(sim, n, t, ns);
}

static void pass_time(struct simulation *sim)
{
	int64_t ns = g_rand_int_range(sim->rand, 1, 20);

	for (int t = 0; t < N_THREADS; t++)
		if (sim->threads[t].waits_for != NONE)
			charge(sim, t, ns);
	sim->now_ns += ns;
}

void simulate(struct simulation *sim, unsigned run)
{
	sim->rand = g_rand_new_with_seed(run);
	sim->events = g_string_new("source none\n");
	sim->edges = g_array_new(FALSE, FALSE, sizeof(struct edge));
	sim->actions = g_array_new(FALSE, FALSE, sizeof(struct action));
	for (int t = 0; t < N_THREADS; t++) {
		g_string_append_printf(sim->events, "thread %d start=0 end=%d\n", t + 1,
				       100000 + 100 * ((t * 3 + (int)run) % N_THREADS));
		sim->threads[t].waits_for = NONE;
		memset(sim->threads[t].holds, 0xff, sizeof(sim->threads[t].holds));
	}
	memset(sim->holder, 0xff, sizeof(sim->holder));
	memset(sim->culprit, 0xff, sizeof(sim->culprit));
	for (unsigned i = 0; i < (sim->n_steps ? sim->n_steps : N_STEPS); i++) {
		pass_time(sim);
		act(sim);
	}
	/* Then all is released. */
	for (bool goes_on = true; goes_on;) {
		goes_on = false;
		for (int t = 0; t < N_THREADS; t++) {
			if (sim->threads[t].waits_for != NONE) {
				pass_time(sim);
				end_wait(sim, t);
				goes_on = true;
				continue;
			}
			for (int i = 0; i < N_LOCKS; i++)
				if (sim->threads[t].holds[i] != NONE) {
					pass_time(sim);
					release(sim, t, i);
				}
		}
	}
}

void simulation_done(struct simulation *sim)
{
	g_string_free(sim->events, TRUE);
	g_array_unref(sim->edges);
	g_array_unref(sim->actions);
	g_rand_free(sim->rand);
}
