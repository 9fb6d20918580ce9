/* SPDX-License-Identifier: MIT */
/*
 * The inter-thread switch graph in the DOT language of Graphviz.
 *
 * What makes a graph of many threads unreadable can be left out or drawn together; the graph then
 * says so itself, in its caption.
 */
#ifndef PP_RENDER_DOT_H
#define PP_RENDER_DOT_H

#include "core/table.h"

struct pp_dot_options {
	uint64_t min_count; /* leave out thinner edges */
	bool grouped;	    /* one node for all threads of a group */
};

/* `nodes` and `edges` as the pass "switches" makes them. */
void pp_render_dot(GString *to, const struct pp_table *nodes, const struct pp_table *edges,
		   const struct pp_dot_options *options);

#endif
