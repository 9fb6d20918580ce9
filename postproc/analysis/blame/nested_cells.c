/* SPDX-License-Identifier: MIT */
/*
 * The time that threads to blame were blocked on other objects, by what it is charged to there.
 *
 * Two causes have to be known: of the wait, and of the wait one step further.  Parts of a wait go
 * to the cells of its object when it ends, through each of the two instances that is not resolved
 * yet: first the hold to blame (`nested`), then the hold one step further (`cells`).
 *
 * Both objects may be folded before.  A cell refers to them by a struct that outlives them and
 * tells the group; cells that thus become equal are joined when the table has grown.
 */
#include "analysis/blame/internal.h"

/* Cells of an object that are never joined. */
#define N_CELLS_MIN 64u

/* --- objects -------------------------------------------------------------------------------- */

struct pp_blame_ref *pp_blame_ref_of(struct pp_blame_place *place)
{
	if (!place->ref) {
		place->ref = g_new0(struct pp_blame_ref, 1);
		place->ref->refs = 1;
		place->ref->place = place;
	}
	return place->ref;
}

static struct pp_blame_ref *ref_get(struct pp_blame_ref *ref)
{
	if (ref)
		ref->refs++;
	return ref;
}

static void ref_put(struct pp_blame_ref *ref)
{
	while (ref && !--ref->refs) {
		struct pp_blame_ref *to = ref->to;

		g_free(ref);
		ref = to;
	}
}

/* The object, or the one that stands for it. */
static struct pp_blame_ref *ref_now(struct pp_blame_ref *ref)
{
	while (ref && ref->to)
		ref = ref->to;
	return ref;
}

/* --- parts ---------------------------------------------------------------------------------- */

static struct pp_blame_part *part_at(const GArray *parts, guint i)
{
	return &g_array_index(parts, struct pp_blame_part, i);
}

static void part_clear(void *data)
{
	struct pp_blame_part *part = data;

	ref_put(part->object);
	g_clear_pointer(&part->instance, pp_blame_instance_unref);
}

static struct pp_blame_part *find_part(const GArray *parts, const struct pp_blame_part *like)
{
	for (guint i = 0; i < parts->len; i++) {
		struct pp_blame_part *part = part_at(parts, i);

		if (part->object == like->object && part->instance == like->instance &&
		    (part->instance || pp_blame_cause_equal(&part->cause, &like->cause)))
			return part;
	}
	return NULL;
}

/* Joins the parts of instances that have been resolved. */
static void join_resolved(GArray *parts)
{
	for (guint i = 0; i < parts->len;) {
		struct pp_blame_part *part = part_at(parts, i), *same;
		struct pp_blame_part now = *part;

		if (!part->instance || !part->instance->is_resolved) {
			i++;
			continue;
		}
		now.cause = part->instance->cause;
		now.instance = NULL;
		same = find_part(parts, &now);
		if (same) {
			same->ns += part->ns;
			g_array_remove_index_fast(parts, i);
			continue;
		}
		g_clear_pointer(&part->instance, pp_blame_instance_unref);
		part->cause = now.cause;
	}
}

static void add_part(GArray **parts, struct pp_blame_part *like)
{
	struct pp_blame_part *same;

	if (!*parts) {
		*parts = g_array_new(FALSE, FALSE, sizeof(*like));
		g_array_set_clear_func(*parts, part_clear);
	}
	if (like->instance && like->instance->is_resolved) {
		like->cause = like->instance->cause;
		like->instance = NULL;
	}
	same = find_part(*parts, like);
	if (same) {
		same->ns += like->ns;
		return;
	}
	join_resolved(*parts);
	ref_get(like->object);
	if (like->instance)
		like->instance->refs++;
	g_array_append_vals(*parts, like, 1);
}

void pp_blame_part_add(GArray **parts, struct pp_blame_place *place,
		       const struct pp_blame_cause *cause, struct pp_blame_instance *instance,
		       int64_t ns)
{
	struct pp_blame_part part = {
	    .object = place ? pp_blame_ref_of(place) : NULL, .instance = instance, .ns = ns};

	if (ns <= 0)
		return;
	if (!instance)
		part.cause = *cause;
	add_part(parts, &part);
}

void pp_blame_part_add_again(GArray **parts, const struct pp_blame_part *part, int64_t ns)
{
	struct pp_blame_part like = *part;

	like.ns = ns;
	if (ns > 0)
		add_part(parts, &like);
}

void pp_blame_parts_move(GArray **to, GArray **from)
{
	for (guint i = 0; *from && i < (*from)->len; i++) {
		struct pp_blame_part part = *part_at(*from, i);

		add_part(to, &part);
	}
	g_clear_pointer(from, g_array_unref);
}

void pp_blame_behind_clear(void *data)
{
	struct pp_blame_behind *behind = data;

	g_clear_pointer(&behind->hold, pp_blame_instance_unref);
	g_clear_pointer(&behind->parts, g_array_unref);
	g_clear_pointer(&behind->since, g_array_unref);
}

void pp_blame_behind_set_done(struct pp_blame_behind *behind, int64_t sync_ns)
{
	g_clear_pointer(&behind->since, g_array_unref);
	behind->done_ns = behind->called_ns = behind->seen_ns = sync_ns;
}

/* --- cells ---------------------------------------------------------------------------------- */

static guint cell_hash(const void *data)
{
	const struct pp_blame_nested *cell = data;
	const struct pp_blame_cause *cause = &cell->part.cause;
	uint64_t hash = (uintptr_t)cell->part.object ^ cause->why ^ (uint64_t)cause->kind << 8;

	hash = (hash ^ cause->call.site) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ (uintptr_t)cause->call.path) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ cell->blamed.call.site) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ (uintptr_t)cell->blamed.call.path) * UINT64_C(0x9e3779b97f4a7c15);
	return (guint)(hash >> 32);
}

static gboolean cell_equal(const void *a, const void *b)
{
	const struct pp_blame_nested *x = a, *y = b;

	return x->of == y->of && x->part.object == y->part.object &&
	       pp_blame_cause_equal(&x->part.cause, &y->part.cause) &&
	       pp_blame_cause_equal(&x->blamed, &y->blamed);
}

static void cell_clear(void *data)
{
	struct pp_blame_nested *cell = data;

	ref_put(cell->of);
	part_clear(&cell->part);
}

static void cell_free(void *data)
{
	cell_clear(data);
	g_free(data);
}

static GHashTable *cells_new(void)
{
	return g_hash_table_new_full(cell_hash, cell_equal, cell_free, NULL);
}

static void add_to_table(GHashTable *cells, const struct pp_blame_nested *cell)
{
	struct pp_blame_nested key = *cell, *same;

	key.part.object = ref_now(key.part.object);
	same = g_hash_table_lookup(cells, &key);
	if (same) {
		same->part.ns += cell->part.ns;
		return;
	}
	ref_get(key.part.object);
	g_hash_table_add(cells, g_memdup2(&key, sizeof(key)));
}

static void add_all(GHashTable *to, GHashTable *from)
{
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, from);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		add_to_table(to, key);
}

static void add_cell(struct pp_blame_place *place, const struct pp_blame_nested *cell)
{
	if (!place->nested) {
		place->nested = cells_new();
		place->nested_max = N_CELLS_MIN;
	}
	add_to_table(place->nested, cell);
	if (g_hash_table_size(place->nested) > place->nested_max) {
		GHashTable *all = g_steal_pointer(&place->nested);

		place->nested = cells_new();
		add_all(place->nested, all);
		g_hash_table_unref(all);
		place->nested_max = MAX(2 * g_hash_table_size(place->nested), N_CELLS_MIN);
	}
}

/* The cause one step further is known later. */
static void add_unresolved(struct pp_blame_instance *instance, struct pp_blame_place *place,
			   const struct pp_blame_cause *blamed, const struct pp_blame_part *part)
{
	struct pp_blame_nested cell = {.of = pp_blame_ref_of(place),
				       .blamed = *blamed,
				       .part = {.object = part->object, .ns = part->ns}};

	if (!instance->cells) {
		instance->cells = g_array_new(FALSE, FALSE, sizeof(cell));
		g_array_set_clear_func(instance->cells, cell_clear);
	}
	for (guint i = 0; i < instance->cells->len; i++) {
		struct pp_blame_nested *other =
		    &g_array_index(instance->cells, struct pp_blame_nested, i);

		if (cell_equal(other, &cell)) {
			other->part.ns += part->ns;
			return;
		}
	}
	ref_get(cell.of);
	ref_get(cell.part.object);
	g_array_append_val(instance->cells, cell);
}

void pp_blame_nested_add(struct pp_blame_place *place, const struct pp_blame_cause *blamed,
			 GArray **parts)
{
	for (guint i = 0; *parts && blamed->kind == PP_BLAME_HOLD && i < (*parts)->len; i++) {
		const struct pp_blame_part *part = part_at(*parts, i);
		struct pp_blame_instance *instance = part->instance;
		struct pp_blame_nested cell = {.blamed = *blamed,
					       .part = {.object = part->object, .ns = part->ns}};

		if (instance && !instance->is_resolved) {
			add_unresolved(instance, place, blamed, part);
			continue;
		}
		cell.part.cause = instance ? instance->cause : part->cause;
		add_cell(place, &cell);
	}
	g_clear_pointer(parts, g_array_unref);
}

void pp_blame_nested_resolved(struct pp_blame_instance *instance)
{
	GArray *nested = g_steal_pointer(&instance->nested);
	g_autoptr(GArray) cells = g_steal_pointer(&instance->cells);

	if (nested)
		pp_blame_nested_add(instance->place, &instance->cause, &nested);
	for (guint i = 0; cells && i < cells->len; i++) {
		const struct pp_blame_nested *known =
		    &g_array_index(cells, struct pp_blame_nested, i);
		struct pp_blame_nested cell = *known;

		cell.of = NULL;
		cell.part.cause = instance->cause;
		add_cell(ref_now(known->of)->place, &cell);
	}
}

void pp_blame_nested_fold(struct pp_blame_place *to, struct pp_blame_place *from)
{
	GHashTableIter iter;
	gpointer key;

	if (from->ref) {
		from->ref->to = ref_get(pp_blame_ref_of(to));
		from->ref->place = NULL;
		g_clear_pointer(&from->ref, ref_put);
	}
	if (!from->nested)
		return;
	g_hash_table_iter_init(&iter, from->nested);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		add_cell(to, key);
}

void pp_blame_nested_place_free(struct pp_blame_place *place)
{
	g_clear_pointer(&place->nested, g_hash_table_unref);
	if (place->ref)
		place->ref->place = NULL;
	g_clear_pointer(&place->ref, ref_put);
}

void pp_blame_walk_nested(const struct pp_blame *blame, pp_blame_take_nested *take, void *data)
{
	const GPtrArray *all = blame->objects.all;

	for (guint i = 0; i < all->len; i++) {
		const struct pp_object *object = all->pdata[i];
		const struct pp_blame_place *place = object ? object->data : NULL;
		GHashTableIter iter;
		gpointer key;

		if (!place || !place->nested)
			continue;
		g_hash_table_iter_init(&iter, place->nested);
		while (g_hash_table_iter_next(&iter, &key, NULL)) {
			const struct pp_blame_nested *cell = key;
			const struct pp_blame_ref *other = ref_now(cell->part.object);

			take(data, object, &cell->blamed, other ? other->place->object : NULL,
			     &cell->part.cause, cell->part.ns);
		}
	}
}
