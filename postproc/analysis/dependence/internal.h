/* SPDX-License-Identifier: MIT */
/* Shared by the files of this folder. */
#ifndef PP_ANALYSIS_DEPENDENCE_INTERNAL_H
#define PP_ANALYSIS_DEPENDENCE_INTERNAL_H

#include "analysis/dependence/dependence.h"

struct pp_dep_place;

/* --- components of the graph: components.c ---------------------------------------------------- */

/*
 * A connected component, as a tree of sets that were united.  Instances and objects with waiters
 * refer to it; when none is left, nothing can be connected to it any more.
 */
struct pp_dep_component {
	unsigned refs;
	struct pp_dep_component *parent; /* NULL: a root, which has all that follows */
	GHashTable *costs;		 /* struct pp_section -> struct pp_dependence_cost; NULL */
	const struct pp_thread *last;	 /* the thread of the last instance; NULL: none ended */
	int64_t last_ns;
};

/* Another reference to the component; NULL: none. */
struct pp_dep_component *pp_dep_component_ref(struct pp_dep_component *component);
/* Unites the two; each may refer to NULL, a new component. */
void pp_dep_unite(struct pp_dep_component **a, struct pp_dep_component **b);
/* Adds a cost to the component.  An instance of the section ended at end_ns. */
void pp_dep_component_add(struct pp_dep_component *component, const struct pp_section *section,
			  const struct pp_dependence_cost *cost, const struct pp_thread *thread,
			  int64_t end_ns);
/* If it was the last reference, adds the costs to those of the component's last thread. */
void pp_dep_component_unref(struct pp_dependence *dependence, struct pp_dep_component **component);

/* --- instances and sections: sections.c ------------------------------------------------------- */

struct pp_dep_node {
	struct pp_dep_place *place;
	const struct pp_thread *thread;
	enum st_event op;
	uint64_t site;
	const struct pp_path *path;
	int64_t since_ns;
	bool is_held;
	guint held_at; /* its position in the thread's `held` */
	/* When it is left: */
	int64_t end_ns;
	enum st_event exit_op;
	uint64_t exit_site;
	struct pp_dependence_cost cost;
	int64_t counted_ns;		    /* wall-time cost up to the thread's last count */
	struct pp_dep_component *component; /* NULL: nobody waited for it, nor did it wait */
	struct pp_dep_vertex *vertex;	    /* NULL: it has no edges so far */
};

/* The part of a section's costs that belongs to an object. */
struct pp_dep_part {
	struct pp_section *section;
	struct pp_dependence_cost cost;
};

/* struct pp_object.data */
struct pp_dep_place {
	struct pp_object *object;
	GPtrArray *nodes;	     /* of struct pp_dep_node *: held, in order; NULL: none yet */
	struct pp_dep_node *culprit; /* its waiters wait for that; NULL: for nobody */
	unsigned n_waits;
	/* The clock: */
	int64_t weight;	    /* threads that wait for the culprit, here or behind those who do */
	int64_t n_detached; /* waits that are charged to nobody */
	int64_t until_ns;   /* it has run up to then */
	int64_t ran_ns;	    /* the culprit's thread had been running for that long */
	struct pp_dependence_cost nobody;
	int64_t unended_ns;
	struct pp_dep_component *component; /* of the waits; NULL: none */
	GArray *parts;			    /* of struct pp_dep_part; NULL: none yet */
	GHashTable *part_numbers;	    /* section -> 1 + position in parts; NULL: few parts */
	/* A barrier: the arrivals since it opened last. */
	uint64_t round;
	int64_t n_arrived, sum_ns;
	/* Only if edges are wanted: */
	GPtrArray *waiters;  /* of struct pp_dep_thread * with wait == this; NULL: none yet */
	GPtrArray *arrivals; /* at a barrier, by section: struct pp_dep_arrival *; NULL: none yet */
};

struct pp_dep_place *pp_dep_place_of(struct pp_object *object);
void pp_dep_place_free(void *place);
/* Adds the sums of `from` to `to`. */
void pp_dep_place_fold(struct pp_dep_place *to, const struct pp_dep_place *from);

/* Adds to the section's part of the object. */
void pp_dep_place_add(struct pp_dep_place *place, struct pp_section *section,
		      const struct pp_dependence_cost *cost);

/* The section of an instance that was left. */
struct pp_section *pp_dep_section_of(struct pp_dependence *dependence,
				     const struct pp_dep_node *node);
/* A semaphore that the thread acquired and did not post is no lock. */
bool pp_dep_is_section(const struct pp_dep_node *node);

guint pp_dep_section_hash(const void *section);
gboolean pp_dep_section_equal(const void *a, const void *b);

/* --- chains of waits: chains.c ------------------------------------------------------------- */

struct pp_dep_thread {
	GPtrArray *held;	   /* of struct pp_dep_node *, in no order */
	struct pp_dep_place *wait; /* it waits for that; NULL: for none */
	bool began;		   /* a wait that is followed, which has not ended yet: */
	int64_t begin_ns;
	bool is_detached; /* it waits for nobody, as far as is known */
	bool is_orphan;	  /* the object of its wait no longer exists, since then: */
	int64_t orphan_ns;
	uint64_t round;	    /* at a barrier */
	int64_t running_ns; /* in intervals that have ended */
	/* The conditionals that it had executed at its first and last event with their number. */
	uint64_t first_count, count; /* count 0: no such event */
	int64_t count_ns;
	/* Only if edges are wanted, from the begin of a wait until its end is known: */
	struct pp_dep_vertex *vertex; /* of the instance that it wants to enter; NULL: none */
	struct pp_dep_node *first;    /* the culprit when it came; only to compare */
	bool is_handed_on;	      /* ... which is the culprit no more */
	struct pp_dep_node *source;   /* it waits for that, as an edge of this kind, since then: */
	enum pp_dependence_edge_kind kind;
	int64_t charged_ns;
};

struct pp_dependence {
	const struct pp_pass_context *context;
	struct pp_thread_listener thread_listener, feed; /* feed: that of `objects` */
	struct pp_object_listener object_listener;
	struct pp_thread_states *states;
	struct pp_objects objects;
	GPtrArray *threads;   /* of struct pp_dep_thread *, by serial; NULL: none yet */
	GHashTable *sections; /* a set of struct pp_section * */
	/* thread -> (section -> cost), of components that have ended with the thread */
	GHashTable *ended;
	const struct pp_thread *last;
	int64_t now_ns;
	struct pp_dep_edges *edges; /* NULL: not wanted */
};

struct pp_dep_thread *pp_dep_thread(struct pp_dependence *dependence,
				    const struct pp_thread *thread);
void pp_dep_thread_free(void *thread);

/* The thread has now executed so many conditionals. */
void pp_dep_count(struct pp_dependence *dependence, const struct pp_thread *thread, uint64_t count);

/* The thread begins to wait, and ends to. */
void pp_dep_wait(struct pp_dependence *dependence, struct pp_dep_place *place,
		 const struct pp_thread *thread);
void pp_dep_wait_end(struct pp_dependence *dependence, struct pp_dep_thread *of);

/* A wait that is over. */
struct pp_dep_waited {
	struct pp_dep_component *component; /* NULL: none */
	struct pp_dep_vertex *vertex;	    /* NULL: no edges */
};

/* The thread enters a section after that wait. */
void pp_dep_enter(struct pp_dependence *dependence, struct pp_dep_place *place,
		  const struct pp_operation *operation, bool is_shared,
		  struct pp_dep_waited waited);
/* It leaves the section.  `operation`: NULL if the call is not known. */
void pp_dep_leave(struct pp_dependence *dependence, struct pp_dep_node *node, int64_t end_ns,
		  const struct pp_operation *operation);
/* The thread's instance; NULL: none. */
struct pp_dep_node *pp_dep_node_of(struct pp_dependence *dependence,
				   const struct pp_dep_place *place,
				   const struct pp_thread *thread);

/* The object for which the thread of a held instance waits; NULL: it does not. */
struct pp_dep_place *pp_dep_next_of(struct pp_dependence *dependence,
				    const struct pp_dep_node *culprit);

/* --- edges: edges.c and aims.c; only if they are wanted ----------------------------------------
 */

struct pp_dep_edges *pp_dep_edges_new(guint max_instances);
void pp_dep_edges_free(struct pp_dep_edges *edges);

/* Adds to the edge from an instance, or from nobody if that is NULL, to the waiter's vertex. */
void pp_dep_edges_charge(struct pp_dep_node *from, struct pp_dep_vertex *to,
			 enum pp_dependence_edge_kind kind, int64_t cost_ns);
struct pp_dep_vertex *pp_dep_vertex_new(void);
/* Its instance has been left, or never was entered; it has no further edges.  Frees it. */
void pp_dep_vertex_settle(struct pp_dependence *dependence, struct pp_dep_vertex *vertex,
			  const struct pp_dep_node *node);
/* It belongs to nothing that is known. */
void pp_dep_vertex_drop(struct pp_dependence *dependence, struct pp_dep_vertex *vertex);
/* An arrival at a barrier, by the edges to the earlier ones. */
void pp_dep_edges_arrive(struct pp_dependence *dependence, const struct pp_dep_node *node);

/* The thread begins to wait for the object, and ends to; after these facts have been noted. */
void pp_dep_aim_begin(struct pp_dependence *dependence, struct pp_dep_thread *of);
void pp_dep_aim_end(struct pp_dependence *dependence, struct pp_dep_thread *of,
		    struct pp_dep_place *place);
/* The object has another culprit, or that no longer holds it. */
void pp_dep_aim(struct pp_dependence *dependence, struct pp_dep_place *place);

/* --- settle.c --------------------------------------------------------------------------------- */

/* The instance has been left, and nobody waits for it: adds its costs to the sums; frees it. */
void pp_dep_node_settle(struct pp_dependence *dependence, struct pp_dep_node *node);

#endif
