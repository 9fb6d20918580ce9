/* SPDX-License-Identifier: MIT */
/* The sums by critical section, and by object and section. */
#include "analysis/dependence/internal.h"
#include "analysis/mix.h"

/* --- sections ------------------------------------------------------------------------------- */

guint pp_dep_section_hash(const void *data)
{
	const struct pp_section *section = data;
	uint64_t hash = pp_mix((uintptr_t)section->process, section->entry_site);

	hash = pp_mix(hash, section->exit_site);
	hash = pp_mix(hash, (uintptr_t)section->path);
	return (guint)pp_mix(hash, (uint64_t)section->entry_op << 32 | section->exit_op);
}

gboolean pp_dep_section_equal(const void *a, const void *b)
{
	const struct pp_section *x = a, *y = b;

	return x->process == y->process && x->entry_op == y->entry_op && x->exit_op == y->exit_op &&
	       x->entry_site == y->entry_site && x->exit_site == y->exit_site && x->path == y->path;
}

struct pp_section *pp_dep_section_of(struct pp_dependence *dependence,
				     const struct pp_dep_node *node)
{
	const struct pp_section key = {
	    .process = node->place->object->process,
	    .entry_op = node->op,
	    .exit_op = node->exit_op,
	    .entry_site = node->site,
	    .exit_site = node->exit_site,
	    .path = node->path,
	};
	struct pp_section *section = g_hash_table_lookup(dependence->sections, &key);

	if (!section) {
		section = g_memdup2(&key, sizeof(key));
		g_hash_table_add(dependence->sections, section);
	}
	return section;
}

/* --- objects -------------------------------------------------------------------------------- */

struct pp_dep_place *pp_dep_place_of(struct pp_object *object)
{
	struct pp_dep_place *place = object->data;

	if (!place) {
		place = object->data = g_new0(struct pp_dep_place, 1);
		place->object = object;
	}
	return place;
}

void pp_dep_place_free(void *data)
{
	struct pp_dep_place *place = data;

	g_clear_pointer(&place->nodes, g_ptr_array_unref);
	g_clear_pointer(&place->parts, g_array_unref);
	g_clear_pointer(&place->part_numbers, g_hash_table_unref);
	g_clear_pointer(&place->waiters, g_ptr_array_unref);
	g_clear_pointer(&place->arrivals, g_ptr_array_unref);
	g_free(place);
}

/* Most objects have few sections, which are searched one by one. */
#define FEW_PARTS 16

static struct pp_dep_part *part_at(const struct pp_dep_place *place, guint i)
{
	return &g_array_index(place->parts, struct pp_dep_part, i);
}

static struct pp_dep_part *find_part(const struct pp_dep_place *place,
				     const struct pp_section *section)
{
	guint number = 0;

	if (place->part_numbers) {
		number = GPOINTER_TO_UINT(g_hash_table_lookup(place->part_numbers, section));
		return number ? part_at(place, number - 1) : NULL;
	}
	for (guint i = place->parts ? place->parts->len : 0; i-- > 0;)
		if (part_at(place, i)->section == section)
			return part_at(place, i);
	return NULL;
}

static void number_parts(struct pp_dep_place *place)
{
	guint first = place->parts->len - 1;

	if (!place->part_numbers) {
		place->part_numbers = g_hash_table_new(NULL, NULL);
		first = 0;
	}
	for (guint i = first; i < place->parts->len; i++)
		g_hash_table_insert(place->part_numbers, part_at(place, i)->section,
				    GUINT_TO_POINTER(i + 1));
}

void pp_dep_place_add(struct pp_dep_place *place, struct pp_section *section,
		      const struct pp_dependence_cost *cost)
{
	struct pp_dep_part new = {section, *cost}, *part = find_part(place, section);

	if (part) {
		pp_dependence_cost_add(&part->cost, cost);
		return;
	}
	if (!place->parts)
		place->parts = g_array_new(FALSE, FALSE, sizeof(struct pp_dep_part));
	g_array_append_val(place->parts, new);
	if (place->parts->len > FEW_PARTS)
		number_parts(place);
}

void pp_dep_place_fold(struct pp_dep_place *to, const struct pp_dep_place *from)
{
	pp_dependence_cost_add(&to->nobody, &from->nobody);
	to->unended_ns += from->unended_ns;
	for (guint i = 0; from->parts && i < from->parts->len; i++) {
		const struct pp_dep_part *part = &g_array_index(from->parts, struct pp_dep_part, i);

		pp_dep_place_add(to, part->section, &part->cost);
	}
}

/* --- instances ------------------------------------------------------------------------------ */

bool pp_dep_is_section(const struct pp_dep_node *node)
{
	return node->place->object->type != GM_SYNC_TYPE_sem || node->exit_op != ST_N_EVENTS;
}
