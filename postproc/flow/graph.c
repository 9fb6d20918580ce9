/* SPDX-License-Identifier: MIT */
/* Reachability, forwards and backwards, by a list of nodes to visit. */
#include "flow/graph.h"

/* Nodes by number. */
struct set {
	bool *has;
	GArray *todo; /* of uint32_t */
};

void pp_flow_init(struct pp_flow *flow)
{
	flow->nodes = g_array_new(FALSE, FALSE, sizeof(struct pp_flow_node));
}

void pp_flow_done(struct pp_flow *flow)
{
	g_clear_pointer(&flow->nodes, g_array_unref);
}

static struct set set_new(const struct pp_flow *flow)
{
	return (struct set){g_new0(bool, flow->nodes->len + 1),
			    g_array_new(FALSE, FALSE, sizeof(uint32_t))};
}

static void set_done(struct set *set)
{
	g_free(set->has);
	g_array_unref(set->todo);
}

static void add(struct set *set, uint32_t node)
{
	if (node == PP_FLOW_NONE || set->has[node])
		return;
	set->has[node] = true;
	g_array_append_val(set->todo, node);
}

/* Adds all nodes to which a path leads from those in the set; not through `without`. */
static void go_forwards(const struct pp_flow *flow, struct set *set, const bool *without)
{
	for (guint i = 0; i < set->todo->len; i++) {
		uint32_t node = g_array_index(set->todo, uint32_t, i);

		if (without && without[node])
			continue;
		add(set, pp_flow_at(flow, node)->next[0]);
		add(set, pp_flow_at(flow, node)->next[1]);
	}
}

/* The nodes before each one, as lists in one array: those of node n begin at `first[n]`. */
struct before {
	uint32_t *first, *nodes;
};

static struct before before_new(const struct pp_flow *flow)
{
	uint32_t n = flow->nodes->len;
	struct before before = {g_new0(uint32_t, n + 2), g_new(uint32_t, 2 * (size_t)n + 1)};
	g_autofree uint32_t *filled = g_new0(uint32_t, n + 1);

	for (uint32_t i = 0; i < n; i++)
		for (unsigned k = 0; k < 2; k++)
			if (pp_flow_at(flow, i)->next[k] != PP_FLOW_NONE)
				before.first[pp_flow_at(flow, i)->next[k] + 1]++;
	for (uint32_t i = 0; i < n; i++)
		before.first[i + 1] += before.first[i];
	for (uint32_t i = 0; i < n; i++)
		for (unsigned k = 0; k < 2; k++) {
			uint32_t next = pp_flow_at(flow, i)->next[k];

			if (next != PP_FLOW_NONE)
				before.nodes[before.first[next] + filled[next]++] = i;
		}
	return before;
}

static void before_done(struct before *before)
{
	g_free(before->first);
	g_free(before->nodes);
}

/* Adds all nodes from which a path leads to those in the set; not through `without`. */
static void go_backwards(const struct before *before, struct set *set, const bool *without)
{
	for (guint i = 0; i < set->todo->len; i++) {
		uint32_t node = g_array_index(set->todo, uint32_t, i);

		if (without && without[node])
			continue;
		for (uint32_t k = before->first[node]; k < before->first[node + 1]; k++)
			add(set, before->nodes[k]);
	}
}

static void add_exits(const struct pp_flow *flow, struct set *set)
{
	for (uint32_t i = 0; i < flow->nodes->len; i++)
		if (pp_flow_at(flow, i)->is_exit)
			add(set, i);
}

static void find_inside(struct pp_flow *flow, const struct before *before)
{
	struct set from_entry = set_new(flow), to_exit = set_new(flow);

	if (flow->nodes->len)
		add(&from_entry, 0);
	go_forwards(flow, &from_entry, NULL);
	add_exits(flow, &to_exit);
	go_backwards(before, &to_exit, NULL);
	for (uint32_t i = 0; i < flow->nodes->len; i++)
		pp_flow_at(flow, i)->is_inside = from_entry.has[i] && to_exit.has[i];
	set_done(&from_entry);
	set_done(&to_exit);
}

void pp_flow_classify(struct pp_flow *flow)
{
	struct before before = before_new(flow);
	struct set after_staying = set_new(flow), before_staying = set_new(flow);

	find_inside(flow, &before);
	for (uint32_t i = 0; i < flow->nodes->len; i++) {
		struct pp_flow_node *node = pp_flow_at(flow, i);

		if (!node->stays || !node->is_inside)
			continue;
		add(&after_staying, i);
		add(&before_staying, i);
	}
	go_forwards(flow, &after_staying, NULL);
	go_backwards(&before, &before_staying, NULL);
	for (uint32_t i = 0; i < flow->nodes->len; i++) {
		struct pp_flow_node *node = pp_flow_at(flow, i);

		node->goes_before = node->is_inside && !after_staying.has[i];
		node->goes_behind = node->is_inside && !before_staying.has[i];
	}
	set_done(&after_staying);
	set_done(&before_staying);
	before_done(&before);
}

/* ---------------------------------------------------------------------------------------------- */

/* Does the set lack a node that was executed, though all that were executed are inside? */
static bool lacks_seen(const struct pp_flow *flow, const struct set *set)
{
	for (uint32_t i = 0; i < flow->nodes->len; i++)
		if (pp_flow_at(flow, i)->is_inside && pp_flow_at(flow, i)->is_seen && !set->has[i])
			return true;
	return false;
}

bool pp_flow_was_executed(const struct pp_flow *flow, const bool *is_one)
{
	struct set from_entry = set_new(flow), to_exit = set_new(flow);
	struct before before = before_new(flow);
	bool was = false;

	for (uint32_t i = 0; i < flow->nodes->len; i++)
		was |= is_one[i] && pp_flow_at(flow, i)->is_inside && pp_flow_at(flow, i)->is_seen;
	/* Each path to a node that was executed, or from it to an exit, has one of these nodes. */
	if (!was && flow->nodes->len && !is_one[0]) {
		add(&from_entry, 0);
		go_forwards(flow, &from_entry, is_one);
		was = lacks_seen(flow, &from_entry);
	}
	if (!was) {
		add_exits(flow, &to_exit);
		go_backwards(&before, &to_exit, is_one);
		was = lacks_seen(flow, &to_exit);
	}
	set_done(&from_entry);
	set_done(&to_exit);
	before_done(&before);
	return was || (flow->nodes->len && is_one[0]);
}
