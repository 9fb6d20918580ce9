/* SPDX-License-Identifier: MIT */
/* Connected components: union-find over what can still be connected to something. */
#include "analysis/dependence/internal.h"

static void add_to(GHashTable **costs, const struct pp_section *section,
		   const struct pp_dependence_cost *cost)
{
	struct pp_dependence_cost *sum;

	if (!*costs)
		*costs = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	sum = g_hash_table_lookup(*costs, section);
	if (!sum) {
		sum = g_new0(struct pp_dependence_cost, 1);
		g_hash_table_insert(*costs, (void *)section, sum);
	}
	pp_dependence_cost_add(sum, cost);
}

static void add_all(GHashTable **to, GHashTable *from)
{
	GHashTableIter iter;
	void *section, *cost;

	if (!from)
		return;
	g_hash_table_iter_init(&iter, from);
	while (g_hash_table_iter_next(&iter, &section, &cost))
		add_to(to, section, cost);
}

/* The costs of a component to which nothing can be connected any more. */
static void end(struct pp_dependence *dependence, struct pp_dep_component *root)
{
	GHashTable *costs = g_hash_table_lookup(dependence->ended, root->last);

	if (costs)
		add_all(&costs, root->costs);
	else
		g_hash_table_insert(dependence->ended, (void *)root->last,
				    g_steal_pointer(&root->costs));
}

/* dependence: NULL if the component has a parent that lives on. */
static void unref(struct pp_dependence *dependence, struct pp_dep_component *component)
{
	while (component && !--component->refs) {
		struct pp_dep_component *parent = component->parent;

		if (dependence && !parent && component->costs && component->last)
			end(dependence, component);
		g_clear_pointer(&component->costs, g_hash_table_unref);
		g_free(component);
		component = parent;
	}
}

/* The root.  Lets each component on the way refer to its parent's parent. */
static struct pp_dep_component *find(struct pp_dep_component *component)
{
	while (component->parent) {
		struct pp_dep_component *parent = component->parent;

		if (parent->parent) {
			component->parent = parent->parent;
			component->parent->refs++;
			unref(NULL, parent);
		}
		component = component->parent;
	}
	return component;
}

static void note_last(struct pp_dep_component *root, const struct pp_thread *thread, int64_t end_ns)
{
	if (thread && (!root->last || end_ns >= root->last_ns)) {
		root->last = thread;
		root->last_ns = end_ns;
	}
}

static guint n_costs(const struct pp_dep_component *root)
{
	return root->costs ? g_hash_table_size(root->costs) : 0;
}

static struct pp_dep_component *root_of(struct pp_dep_component **component)
{
	if (!*component) {
		*component = g_new0(struct pp_dep_component, 1);
		(*component)->refs = 1;
	}
	return find(*component);
}

struct pp_dep_component *pp_dep_component_ref(struct pp_dep_component *component)
{
	if (component)
		component->refs++;
	return component;
}

void pp_dep_unite(struct pp_dep_component **a, struct pp_dep_component **b)
{
	struct pp_dep_component *to = root_of(a), *from = root_of(b);

	if (to == from)
		return;
	if (n_costs(from) > n_costs(to)) {
		struct pp_dep_component *other = to;

		to = from;
		from = other;
	}
	add_all(&to->costs, from->costs);
	g_clear_pointer(&from->costs, g_hash_table_unref);
	note_last(to, from->last, from->last_ns);
	from->parent = to;
	to->refs++;
}

void pp_dep_component_add(struct pp_dep_component *component, const struct pp_section *section,
			  const struct pp_dependence_cost *cost, const struct pp_thread *thread,
			  int64_t end_ns)
{
	struct pp_dep_component *root = find(component);

	if (cost->ns[PP_DEPENDENCE_WALL])
		add_to(&root->costs, section, cost);
	note_last(root, thread, end_ns);
}

void pp_dep_component_unref(struct pp_dependence *dependence, struct pp_dep_component **component)
{
	unref(dependence, *component);
	*component = NULL;
}
