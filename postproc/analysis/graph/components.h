/* SPDX-License-Identifier: MIT */
/*
 * Finds the nodes of a graph that lie on cycles (Tarjan, Depth-First Search and Linear Graph
 * Algorithms, 1972).
 */
#ifndef PP_ANALYSIS_GRAPH_COMPONENTS_H
#define PP_ANALYSIS_GRAPH_COMPONENTS_H

#include <stdint.h>

#include <glib.h>

struct pp_component_arc {
	uint32_t from, to;
};

struct pp_components {
	uint32_t *of; /* node -> component 1, 2, ...; 0: on no cycle with other nodes */
	uint32_t n;
	uint32_t *finished; /* all nodes, targets of arcs before their sources */
};

/* arcs: of struct pp_component_arc. */
void pp_components_find(struct pp_components *components, uint32_t n_nodes, const GArray *arcs);
void pp_components_done(struct pp_components *components);

#endif
