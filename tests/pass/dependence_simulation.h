/* SPDX-License-Identifier: MIT */
/*
 * Random programs, and their synchronization dependence graph, made the slow way.
 *
 * Four threads lock three mutexes, one within the other, at random.  Each instance of a critical
 * section and each wait is a node.  At each step of time, each waiting thread finds the instance
 * for which it in fact waits, whose cost grows by the step, and edges join its node with those of
 * the chain.
 *
 * Thread t executes t + 1 conditionals in each ns (count_rate()).
 */
#ifndef PASS_DEPENDENCE_SIMULATION_H
#define PASS_DEPENDENCE_SIMULATION_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define N_THREADS 4
#define N_LOCKS	  3
#define N_STEPS	  120
#define MAX_STEPS 3600
#define N_NODES	  (4 * MAX_STEPS)
#define NONE	  (-1)

struct node {
	int thread, lock;     /* lock NONE: a wait that timed out */
	unsigned entry, exit; /* call sites */
	bool held;
	int64_t since_ns, end_ns; /* end_ns < 0: no instance, or not left */
	int64_t cost_ns;
	int64_t held_ns; /* the part while it was held */
	int component;
};

struct thread {
	int waits_for, waiter; /* a lock, and the wait's node; NONE */
	int first;	       /* the culprit when the wait began */
	bool timed;
	unsigned site;
	int holds[N_LOCKS]; /* nodes */
};

enum edge_kind { DIRECT, INDIRECT, NESTED };

struct edge {
	int from, to; /* nodes */
	enum edge_kind kind;
	int64_t cost_ns;
};

struct action {
	enum { ACQUIRES, OBTAINS, RELEASES } what;
	int node, lock;
	int64_t at_ns;
};

struct simulation {
	GRand *rand;
	GString *events;
	int64_t now_ns;
	struct thread threads[N_THREADS];
	int holder[N_LOCKS], culprit[N_LOCKS]; /* nodes */
	int64_t nobody_ns[N_LOCKS];
	struct node nodes[N_NODES];
	int n_nodes;
	bool no_timeouts;
	unsigned n_steps; /* up to MAX_STEPS; 0: N_STEPS */
	GArray *edges;	  /* of struct edge, a step of time each; from NONE: nobody */
	GArray *actions;  /* of struct action, in order */
};

static inline int64_t count_rate(int thread)
{
	return thread + 1;
}

void simulate(struct simulation *sim, unsigned run);
void simulation_done(struct simulation *sim);

#endif
