/* SPDX-License-Identifier: MIT */
/* An instance that is over adds its costs to all sums. */
#include "analysis/dependence/internal.h"

#include "analysis/select.h"

void pp_dep_node_settle(struct pp_dependence *dependence, struct pp_dep_node *node)
{
	struct pp_dep_place *place = node->place;

	if (node->vertex)
		pp_dep_vertex_settle(dependence, node->vertex, node);
	if (pp_dep_is_section(node)) {
		struct pp_section *section = pp_dep_section_of(dependence, node);

		section->n++;
		section->hold_ns +=
		    pp_selected_ns(dependence->context, node->since_ns, node->end_ns);
		pp_dependence_cost_add(&section->all_paths, &node->cost);
		pp_dep_place_add(place, section, &node->cost);
		if (node->component)
			pp_dep_component_add(node->component, section, &node->cost, node->thread,
					     node->end_ns);
	} else {
		place->nobody.ns[PP_DEPENDENCE_WALL] += node->cost.ns[PP_DEPENDENCE_WALL];
	}
	pp_dep_component_unref(dependence, &node->component);
	g_free(node);
}
