/* SPDX-License-Identifier: MIT */
/*
 * The history of each thread as a chain: its own activity since it was last woken, before that the
 * waker's own activity since the waker was woken, and so on to the start of the program.  Chains
 * share their common part, as a tree whose leaves are the threads' last stretches.  A stretch with
 * a single successor is joined with it, so the tree has fewer than two stretches per leaf,
 * regardless of the run time.
 *
 * A stretch has amounts under keys, which the caller defines, and the segments of its part of the
 * path, of which it keeps the longest.
 */
#ifndef PP_ANALYSIS_GRAPH_CHAIN_H
#define PP_ANALYSIS_GRAPH_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* The end of a chain, which is a leaf of the tree. */
struct pp_chain {
	GNode *leaf;
};

/* A new tree; its root holds no data. */
GNode *pp_chains_new(void);
void pp_chains_free(GNode *chains);

/* A new chain that begins at from_ns. */
struct pp_chain pp_chain_begin(GNode *chains, int64_t from_ns);

/* A second chain with the same history; both continue independently. */
struct pp_chain pp_chain_branch(struct pp_chain *chain);

/* Removes a chain that is neither continued nor queried any more. */
void pp_chain_drop(struct pp_chain *chain);

void pp_chain_add(const struct pp_chain *chain, uint64_t key, int64_t amount);

#define PP_CHAIN_MODES 7

struct pp_chain_blocked {
	guint place;
	int64_t ns; /* 0: none */
};

/* A segment: a stretch of the path in one thread, without interruption. */
struct pp_chain_segment {
	int64_t start_ns, end_ns;
	int64_t ns[PP_CHAIN_MODES]; /* the duration by mode */
	guint thread;
	guint place; /* of its begin; the caller's number */
	/* The place at which it was blocked longest, of those reported; the last of these. */
	struct pp_chain_blocked longest, last;
	guint object;	/* the object through which the path passes to another thread, if it does */
	guint to;	/* the thread of the next segment, plus 1; 0: none, or the same */
	bool is_passed; /* the previous segment belongs to another thread */
	guint about;	/* ... and ended through this object */
};

/* All segments are kept up to this number, then the longest. */
#define PP_CHAIN_SEGMENTS 500

/* Continues the chain in the thread, in the mode, from start_ns to end_ns. */
void pp_chain_go(const struct pp_chain *chain, guint thread, guint place, int64_t start_ns,
		 int64_t end_ns, unsigned mode);

/* For so long at the end of the chain, its thread was blocked in a call at that place. */
void pp_chain_block(const struct pp_chain *chain, guint place, int64_t ns);

/* The chain continues in another thread, because of an operation on the object. */
void pp_chain_pass(const struct pp_chain *chain, guint object);

/*
 * All segments of the chain in order, and the number of those left out.  The caller unrefs the
 * array.
 */
GArray *pp_chain_segments(const struct pp_chain *chain, uint64_t *ret_left_out);

struct pp_chain_entry {
	uint64_t key;
	int64_t amount;
};

/* How pp_chains_change() sees and changes what a tree refers to; each may be NULL. */
struct pp_chain_change {
	void *data;
	void (*entry)(void *data, struct pp_chain_entry *entry);
	void (*object)(void *data, guint *object); /* of a segment */
};

void pp_chains_change(GNode *chains, const struct pp_chain_change *change);

/* The amounts of the whole chain by key, of struct pp_chain_entry.  The caller unrefs the array. */
GArray *pp_chain_sum(const struct pp_chain *chain, int64_t *ret_from_ns);

#endif
