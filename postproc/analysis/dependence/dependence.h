/* SPDX-License-Identifier: MIT */
/*
 * The synchronization dependence graph of a capture, summed up by critical section (paper 000,
 * section 3.2; SyncProf).
 *
 * A critical section, as code, is the call that entered it, the call that left it, and the call
 * path of the first.  (The paper distinguishes control-flow paths between the two calls instead.)
 * Each time a thread executes it is an instance, a node of the graph.  An edge from an instance to
 * a waiter costs the time for which the waiter waits for it:
 * - direct and indirect edges: a waiter waits for the instance that holds the lock, and for the
 *   next one from the time on when that obtains the lock.  The time in between belongs to the
 *   former;
 * - nested edges: while the thread of an instance itself waits for a lock, those who wait for the
 *   instance in fact wait for the instance for which it waits, and so on;
 * - barriers: each arrival costs each earlier one the time between the two.  Since a waiter waits
 *   for all later arrivals at once, these costs add up to more than the time that was waited.
 *
 * Beyond the paper:
 * - a read-write lock with several readers: the waiter waits for the one that obtained it first;
 * - a semaphore is a lock for a thread that posts what it has acquired, from then to the post;
 * - waits for nobody that is known (no holder, or no begin, was recorded), or for their own thread,
 *   belong to no section; they are counted per object.
 *
 * The costs are integrals: a lock with waiters has a clock that runs as fast as there are waiters,
 * with those behind them.  An event costs time in proportion to the depth of nesting, not to the
 * number of waiters.  Memory is bounded by the number of sections, threads, and objects that exist;
 * no instance is kept.
 *
 * On request, the costs are also summed up by edge, from section to section.  Then each event that
 * changes for whom threads wait takes time in proportion to their number, and memory also depends
 * on the number of pairs of sections.
 */
#ifndef PP_ANALYSIS_DEPENDENCE_DEPENDENCE_H
#define PP_ANALYSIS_DEPENDENCE_DEPENDENCE_H

#include "analysis/state/object_state.h"

enum pp_dependence_clock {
	PP_DEPENDENCE_WALL,
	PP_DEPENDENCE_RUNNING, /* the time in which the thread waited for was on a CPU */
	/*
	 * The conditionals that the thread waited for has executed meanwhile, in sections of locks
	 * and semaphores.  Their number is known at its synch-events; in between, they are spread
	 * evenly over the time.
	 */
	PP_DEPENDENCE_CONDITIONALS,
	PP_N_DEPENDENCE_CLOCKS
};

/* In ns, but for PP_DEPENDENCE_CONDITIONALS. */
struct pp_dependence_cost {
	int64_t ns[PP_N_DEPENDENCE_CLOCKS];
};

static inline void pp_dependence_cost_add(struct pp_dependence_cost *sum,
					  const struct pp_dependence_cost *cost)
{
	for (unsigned i = 0; i < PP_N_DEPENDENCE_CLOCKS; i++)
		sum->ns[i] += cost->ns[i];
}

/* A critical section, as code. */
struct pp_section {
	const struct pp_process *process;
	enum st_event entry_op, exit_op; /* ST_N_EVENTS: not known */
	uint64_t entry_site, exit_site;	 /* 0: not known */
	const struct pp_path *path;	 /* up to the entry; NULL: not known */
	uint64_t n;			 /* instances */
	int64_t hold_ns;
	struct pp_dependence_cost all_paths;	 /* APWT: the cost of all edges from instances */
	struct pp_dependence_cost critical_path; /* CPWT: ... in components that end last */
};

enum pp_dependence_edge_kind {
	PP_DEPENDENCE_DIRECT,	/* waited for the instance that held the lock when it came */
	PP_DEPENDENCE_INDIRECT, /* ... for one that obtained the lock since then */
	PP_DEPENDENCE_NESTED,	/* ... for the instance for which these wait */
	PP_DEPENDENCE_BARRIER,
	PP_N_DEPENDENCE_EDGE_KINDS
};

/* An instance that waited, or for which others waited. */
struct pp_dependence_instance {
	const struct pp_section *section;
	const struct pp_thread *thread;
	char *lock;	  /* the object's name */
	unsigned type;	  /* GM_SYNC_TYPE_* */
	int64_t since_ns; /* when it was entered; PP_TIME_UNKNOWN: never */
};

/* An end of an edge. */
struct pp_dependence_end {
	const struct pp_section *section;	       /* NULL: nobody that is known */
	const struct pp_dependence_instance *instance; /* NULL: all of the section */
};

struct pp_dependence;

struct pp_dependence *pp_dependence_new(const struct pp_pass_context *context);

/*
 * Before the first event: also sums up the edges.  While at most max_instances instances have any
 * in the selected time, each is an end of its own.
 */
void pp_dependence_want_edges(struct pp_dependence *dependence, guint max_instances);

void pp_dependence_free(struct pp_dependence *dependence);
void pp_dependence_event(struct pp_dependence *dependence, const struct pp_event *event);
void pp_dependence_finish(struct pp_dependence *dependence, int64_t end_ns);

/*
 * After the end: calls take() for each section of each object, and once per object with section
 * NULL for what belongs to no section.  `cost` is the part of the object (APLT, as a sum over its
 * sections). Then unended_ns is the part of both that was charged to waits whose end was not
 * recorded, which have no length elsewhere: except for barriers, the sum of the costs less that is
 * the sum of waits.
 */
typedef void pp_dependence_take(void *data, const struct pp_object *object,
				const struct pp_section *section,
				const struct pp_dependence_cost *cost, int64_t unended_ns);
void pp_dependence_walk(const struct pp_dependence *dependence, pp_dependence_take *take,
			void *data);

/*
 * After the end: calls take() for each edge with a cost, in no order: `to` waited for `from`.
 * Waiters that did not obtain the object belong to a section that is entered at their call site and
 * never left.  The costs of edges from a section are its APWT.
 */
typedef void pp_dependence_take_edge(void *data, const struct pp_dependence_end *from,
				     const struct pp_dependence_end *to,
				     enum pp_dependence_edge_kind kind, uint64_t count,
				     int64_t cost_ns);
void pp_dependence_walk_edges(const struct pp_dependence *dependence, pp_dependence_take_edge *take,
			      void *data);

/*
 * Returns the instances (struct pp_dependence_instance *) in order of creation; NULL: there are too
 * many.
 */
const GPtrArray *pp_dependence_instances(const struct pp_dependence *dependence);

/* The thread whose components are the critical path; NULL: there are no waits. */
const struct pp_thread *pp_dependence_last(const struct pp_dependence *dependence);

/* Adds up the counts of all threads since their first ones.  Returns false if there are none. */
bool pp_dependence_conditionals(const struct pp_dependence *dependence, int64_t *ret_n);

const struct pp_thread_states *pp_dependence_states(const struct pp_dependence *dependence);

#endif
