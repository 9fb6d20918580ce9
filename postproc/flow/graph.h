/* SPDX-License-Identifier: MIT */
/*
 * The control flow of a critical section: its instructions, from the one behind the call that takes
 * the lock to the calls that release it.
 *
 * Some instructions *stay*: those that access memory in which sections conflict.  An instruction
 * may be moved to before the section if none that stays can be executed before it, on any path, and
 * to behind the section if none can be executed after it.
 */
#ifndef PP_FLOW_GRAPH_H
#define PP_FLOW_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#define PP_FLOW_NONE UINT32_MAX

struct pp_flow_node {
	uint64_t address;
	uint64_t target;  /* of a call; 0: it is none, or the target is not known */
	uint32_t next[2]; /* numbers of nodes; PP_FLOW_NONE */
	uint8_t len_bytes;
	bool is_call;
	bool is_exit; /* the release: the section ends */
	bool stays;
	bool is_seen; /* it was executed in a recorded section */
	/* By pp_flow_classify(). */
	bool is_inside; /* on a path from the first node to an exit */
	bool goes_before, goes_behind;
};

struct pp_flow {
	GArray *nodes; /* of struct pp_flow_node; the first one is executed first */
};

void pp_flow_init(struct pp_flow *flow);
void pp_flow_done(struct pp_flow *flow);

static inline struct pp_flow_node *pp_flow_at(const struct pp_flow *flow, uint32_t node)
{
	return &g_array_index(flow->nodes, struct pp_flow_node, node);
}

/* Finds the nodes inside of the section, and where each may go. */
void pp_flow_classify(struct pp_flow *flow);

/*
 * Was one of these nodes executed in each recorded section that ended, or in one of which a node is
 * known to have been executed?  is_one: by number of the node.  To be called after
 * pp_flow_classify().
 */
bool pp_flow_was_executed(const struct pp_flow *flow, const bool *is_one);

#endif
