/* SPDX-License-Identifier: MIT */
/*
 * What led to where each thread is: its own time since it was last woken, before that the waker's
 * own since that was woken, and so on to the beginning.  Chains share what they have in common, as
 * a tree whose leaves are the threads' last stretches; a stretch that only one other follows is
 * joined with it, so the tree has less than two stretches for each leaf, whatever the time it took.
 *
 * A stretch is amounts under keys, whose meaning is the caller's, and segments of the way, of which
 * it keeps the longest.
 */
#ifndef PP_ANALYSIS_GRAPH_CHAIN_H
#define PP_ANALYSIS_GRAPH_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* The end of a chain: a leaf. */
struct pp_chain {
	GNode *leaf;
};

/* The tree; its first node holds nothing. */
GNode *pp_chains_new(void);
void pp_chains_free(GNode *chains);

/* A chain that begins then. */
struct pp_chain pp_chain_begin(GNode *chains, int64_t from_ns);

/* Another one that has the same behind it; both go on by themselves. */
struct pp_chain pp_chain_branch(struct pp_chain *chain);

/* Nobody will go on with it, or ask. */
void pp_chain_drop(struct pp_chain *chain);

void pp_chain_add(const struct pp_chain *chain, uint64_t key, int64_t amount);

#define PP_CHAIN_MODES 6

/* The chain was with that thread: as long as it is the same, it is one segment. */
struct pp_chain_segment {
	int64_t start_ns, end_ns;
	int64_t ns[PP_CHAIN_MODES]; /* of that, by mode */
	guint thread;
	guint place;	/* of its begin */
	guint object;	/* about which it passes to another, if it does */
	guint to;	/* the thread that has the next one, plus 1; 0: none, or the same */
	bool is_passed; /* another thread had the one before */
	guint about;	/* ... which ended about that object */
};

/* Of so many, the longest, all are kept. */
#define PP_CHAIN_SEGMENTS 500

/* Goes on with that thread, in a mode. */
void pp_chain_go(const struct pp_chain *chain, guint thread, guint place, int64_t start_ns,
		 int64_t end_ns, unsigned mode);

/* A branch goes on with another thread, since something happened to that object. */
void pp_chain_pass(const struct pp_chain *chain, guint object);

/* The segments of all of it, in order; and how many were left out.  The caller unrefs them. */
GArray *pp_chain_segments(const struct pp_chain *chain, uint64_t *ret_left_out);

struct pp_chain_entry {
	uint64_t key;
	int64_t amount;
};

/* All of it, by key; of struct pp_chain_entry.  The caller unrefs it. */
GArray *pp_chain_sum(const struct pp_chain *chain, int64_t *ret_from_ns);

#endif
