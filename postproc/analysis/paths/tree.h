/* SPDX-License-Identifier: MIT */
/*
 * A tree of calls with the time in them, by kind.  Top-down, a node's children are the functions
 * that it calls; bottom-up, its callers.  The innermost node of a wait or blocking call is the
 * function that waited, that of a sample the function that was running.
 *
 * Functions that call themselves directly are one node; the longest and the shortest such run are
 * known.  Time without a call path is below the node PP_TREE_NO_PATH: top-down its children are the
 * call sites, bottom-up it is the caller of the call site.
 */
#ifndef PP_ANALYSIS_PATHS_TREE_H
#define PP_ANALYSIS_PATHS_TREE_H

#include "analysis/paths/sums.h"

#define PP_TREE_NO_PATH "[no call path]"

/* The kinds of time: enum gm_sync_type, and more. */
enum { PP_TREE_CPU = PP_N_SYNC_TYPES, PP_TREE_CALLS, PP_TREE_BLAME, PP_TREE_KINDS };

struct pp_tree_figures {
	uint64_t n[PP_TREE_KINDS]; /* waits, samples, blocking calls, or charges */
	int64_t ns[PP_TREE_KINDS];
	int64_t in_waits_ns; /* CPU time during waits and blocking calls */
};

struct pp_tree_node {
	struct pp_tree_node *parent; /* NULL: the root, which is no call */
	const char *name;
	unsigned level;	      /* of the root: 0 */
	unsigned least, most; /* direct calls of itself, in a run: 1: none */
	/* of struct pp_tree_node *, those with most blame, or else longest first; NULL: none */
	GPtrArray *children;
	struct pp_tree_figures self;  /* of paths that end here */
	struct pp_tree_figures total; /* with all nodes below */
};

struct pp_tree;

/* group: the nodes below the root are groups of similar threads; uses must have their threads. */
struct pp_tree *pp_tree_new(const struct pp_pass_context *context, const GPtrArray *uses,
			    bool bottom_up, bool group);
void pp_tree_free(struct pp_tree *tree);

const struct pp_tree_node *pp_tree_root(const struct pp_tree *tree);

int64_t pp_tree_wait_ns(const struct pp_tree_figures *figures);
/* Time in waits, in blocking calls, on a CPU and charged; what is both counts once. */
int64_t pp_tree_wall_ns(const struct pp_tree_figures *figures);
uint64_t pp_tree_waits(const struct pp_tree_figures *figures);

/*
 * Calls take() for each chain: a node and, as long as a node has one child and nothing of its own,
 * that child, up to `end`.  A chain comes before those below it, whose depth is one more; the first
 * depth is 0.
 */
void pp_tree_walk_chains(const struct pp_tree *tree,
			 void (*take)(void *data, const struct pp_tree_node *node,
				      const struct pp_tree_node *end, unsigned depth),
			 void *data);

/*
 * The functions of a chain: "f > g (3 times) > h", or bottom-up "h < g (2 to 5 times)".  The caller
 * frees it.
 */
char *pp_tree_chain_text(const struct pp_tree *tree, const struct pp_tree_node *node,
			 const struct pp_tree_node *end);

/* The functions from the root on: "f > g", or bottom-up "g < f".  The caller frees it. */
char *pp_tree_path_text(const struct pp_tree *tree, const struct pp_tree_node *node);

/* Calls take() for each node but the root: before its children, which are in their order. */
void pp_tree_walk(const struct pp_tree *tree,
		  void (*take)(void *data, const struct pp_tree_node *node), void *data);

#endif
