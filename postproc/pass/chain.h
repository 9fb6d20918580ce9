/* SPDX-License-Identifier: MIT */
/*
 * What led to where each thread is: its own time since it was last woken, before that the waker's
 * own since that was woken, and so on to the beginning.  Chains share what they have in common, as
 * a tree whose leaves are the threads' last stretches; a stretch that only one other follows is
 * joined with it, so the tree has less than two stretches for each leaf, whatever the time it took.
 *
 * A stretch is amounts under keys, whose meaning is the caller's.
 */
#ifndef PP_PASS_CHAIN_H
#define PP_PASS_CHAIN_H

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

struct pp_chain_entry {
	uint64_t key;
	int64_t amount;
};

/* All of it, by key; of struct pp_chain_entry.  The caller unrefs it. */
GArray *pp_chain_sum(const struct pp_chain *chain, int64_t *ret_from_ns);

#endif
