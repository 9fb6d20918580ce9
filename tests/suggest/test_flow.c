/* SPDX-License-Identifier: MIT */
/*
 * The places of instructions in random flows are those of a direct search: a table of which node
 * leads to which, made anew for each question.
 */
#include "check.h"
#include "flow/graph.h"

#include <string.h>

#define N_CASES 20000
#define MOST	12u

static bool leads[MOST][MOST]; /* over at least one edge */

/* Without the paths over `without`. */
static void find_paths(const struct pp_flow *flow, const bool *without)
{
	uint32_t n = flow->nodes->len;

	memset(leads, 0, sizeof(leads));
	for (uint32_t i = 0; i < n; i++)
		for (unsigned k = 0; k < 2; k++)
			if (pp_flow_at(flow, i)->next[k] != PP_FLOW_NONE && !without[i] &&
			    !without[pp_flow_at(flow, i)->next[k]])
				leads[i][pp_flow_at(flow, i)->next[k]] = true;
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				leads[i][j] |= leads[i][k] && leads[k][j];
}

static bool leads_to(uint32_t from, uint32_t to)
{
	return from == to || leads[from][to];
}

static bool leads_to_exit(const struct pp_flow *flow, uint32_t from, const bool *without)
{
	for (uint32_t i = 0; i < flow->nodes->len; i++)
		if (pp_flow_at(flow, i)->is_exit && !without[i] && !without[from] &&
		    leads_to(from, i))
			return true;
	return false;
}

static void random_flow(struct pp_flow *flow, GRand *random)
{
	uint32_t n = (uint32_t)g_rand_int_range(random, 1, MOST + 1);

	pp_flow_init(flow);
	for (uint32_t i = 0; i < n; i++) {
		struct pp_flow_node node = {
		    .address = i,
		    .next = {PP_FLOW_NONE, PP_FLOW_NONE},
		    .is_exit = g_rand_int_range(random, 0, 6) == 0,
		    .stays = g_rand_int_range(random, 0, 4) == 0,
		};

		node.is_seen = node.is_exit || g_rand_int_range(random, 0, 3) == 0;
		for (int k = 0; k < g_rand_int_range(random, 0, 3) && !node.is_exit; k++)
			node.next[k] = g_rand_int_range(random, 0, 3) && i + 1 < n
					   ? i + 1
					   : (uint32_t)g_rand_int_range(random, 0, (int)n);
		g_array_append_val(flow->nodes, node);
	}
}

static void check_places(const struct pp_flow *flow)
{
	const bool none[MOST] = {0};

	find_paths(flow, none);
	for (uint32_t i = 0; i < flow->nodes->len; i++) {
		const struct pp_flow_node *node = pp_flow_at(flow, i);
		bool is_inside = leads_to(0, i) && leads_to_exit(flow, i, none);
		bool is_before = is_inside, is_behind = is_inside;

		for (uint32_t k = 0; k < flow->nodes->len; k++) {
			const struct pp_flow_node *other = pp_flow_at(flow, k);

			if (!other->stays || !leads_to(0, k) || !leads_to_exit(flow, k, none))
				continue;
			is_before &= !leads_to(k, i);
			is_behind &= !leads_to(i, k);
		}
		CHECK(node->is_inside == is_inside);
		CHECK(node->goes_before == is_before);
		CHECK(node->goes_behind == is_behind);
	}
}

/* Is there no way to avoid these nodes, given the nodes that were executed? */
static bool direct_executed(const struct pp_flow *flow, const bool *is_one)
{
	bool was = is_one[0];

	find_paths(flow, is_one);
	for (uint32_t i = 0; i < flow->nodes->len; i++) {
		const struct pp_flow_node *node = pp_flow_at(flow, i);

		if (!node->is_inside || !node->is_seen)
			continue;
		was |=
		    is_one[i] || (!is_one[0] && !leads_to(0, i)) || !leads_to_exit(flow, i, is_one);
	}
	return was;
}

/* Returns whether a set of nodes was executed that has none that is known to be. */
static bool check_executed(const struct pp_flow *flow, GRand *random)
{
	bool is_one[MOST] = {0}, has_seen = false, was;

	for (uint32_t i = 0; i < flow->nodes->len; i++) {
		is_one[i] = g_rand_int_range(random, 0, 5) == 0;
		has_seen |= is_one[i] && pp_flow_at(flow, i)->is_seen;
	}
	was = pp_flow_was_executed(flow, is_one);
	CHECK(was == direct_executed(flow, is_one));
	return was && !has_seen && !is_one[0];
}

int main(void)
{
	unsigned n_moved = 0, n_stay = 0, n_derived = 0;

	for (uint32_t seed = 0; seed < N_CASES; seed++) {
		g_autoptr(GRand) random = g_rand_new_with_seed(seed);
		struct pp_flow flow;

		random_flow(&flow, random);
		pp_flow_classify(&flow);
		check_places(&flow);
		for (uint32_t i = 0; i < flow.nodes->len; i++) {
			const struct pp_flow_node *node = pp_flow_at(&flow, i);

			n_moved += node->goes_before || node->goes_behind;
			n_stay += node->is_inside && !node->goes_before && !node->goes_behind;
		}
		n_derived += check_executed(&flow, random);
		pp_flow_done(&flow);
	}
	printf("moved: %u, stay: %u, executed for other reasons: %u\n", n_moved, n_stay, n_derived);
	CHECK(n_moved > 0 && n_stay > 0 && n_derived > 0);
	return 0;
}
