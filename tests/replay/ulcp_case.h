/* SPDX-License-Identifier: MIT */
/*
 * A model with an order and the accesses of its sections, and what rule 1 of the transformation
 * gives for it by a direct search: each section is compared with all later ones of its lock.
 */
#ifndef TESTS_REPLAY_ULCP_CASE_H
#define TESTS_REPLAY_ULCP_CASE_H

#include "replay/ulcp/sections.h"
#include "replay/units.h"

struct ulcp_case {
	struct pp_replay_model *model;
	struct pp_access_sets *interned;
	GArray *sets;	  /* of struct pp_replay_set */
	GArray *sections; /* pp_ulcp_find_sections() */
	GArray *edges;	  /* of struct pp_ulcp_edge */
};

/* A random model: its order is that of a random run. */
struct ulcp_case ulcp_case_random(uint32_t seed, GRand *random);
void ulcp_case_done(struct ulcp_case *self);

/* Do the sections conflict? A section of which the accesses are not known does, with all. */
bool ulcp_case_conflict(const struct ulcp_case *self, const struct pp_ulcp_section *a,
			const struct pp_ulcp_section *b);

#endif
