/* SPDX-License-Identifier: MIT */
/* Which nodes of a graph lie on cycles: Tarjan's strongly connected components. */
#ifndef PP_ANALYSIS_GRAPH_COMPONENTS_H
#define PP_ANALYSIS_GRAPH_COMPONENTS_H

#include <stdint.h>

#include <glib.h>

struct pp_component_arc {
	uint32_t from, to;
};

struct pp_components {
	uint32_t *of; /* node -> 0: on no cycle with others; else 1, 2, ... */
	uint32_t n;
	uint32_t *finished; /* all nodes, those that others lead to first */
};

/* arcs: of struct pp_component_arc. */
void pp_components_find(struct pp_components *components, uint32_t n_nodes, const GArray *arcs);
void pp_components_done(struct pp_components *components);

#endif
