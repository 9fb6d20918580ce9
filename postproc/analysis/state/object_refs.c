/* SPDX-License-Identifier: MIT */
/* See object_refs.h.  Objects that exist are those of struct pp_objects; ended ones are copies. */
#include "analysis/state/object_refs.h"

#include "analysis/pass.h"
#include "analysis/state/object_fold.h"
#include "analysis/state/object_name.h"

struct ref {
	struct pp_object *object;
	bool is_ended; /* `object` is a copy */
	int64_t weight;
	uint32_t now; /* the number that replaces its own */
};

static void *key_of(uint32_t number)
{
	return GUINT_TO_POINTER(number);
}

static void ref_free(void *data)
{
	struct ref *ref = data;

	if (ref->is_ended)
		g_free(ref->object);
	g_free(ref);
}

void pp_object_refs_init(struct pp_object_refs *refs)
{
	refs->known = g_hash_table_new_full(NULL, NULL, NULL, ref_free);
	refs->ended = g_ptr_array_new();
	refs->groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void pp_object_refs_done(struct pp_object_refs *refs)
{
	g_clear_pointer(&refs->known, g_hash_table_unref);
	g_clear_pointer(&refs->ended, g_ptr_array_unref);
	g_clear_pointer(&refs->groups, g_hash_table_unref);
}

static struct ref *ref_of(const struct pp_object_refs *refs, uint32_t number)
{
	return g_hash_table_lookup(refs->known, key_of(number));
}

static struct ref *add(struct pp_object_refs *refs, struct pp_object *object, bool is_ended)
{
	struct ref *ref = g_new0(struct ref, 1);

	*ref = (struct ref){object, is_ended, 0, pp_object_number(object)};
	g_hash_table_insert(refs->known, key_of(ref->now), ref);
	return ref;
}

uint32_t pp_object_refs_add(struct pp_object_refs *refs, struct pp_object *object)
{
	if (!object->is_referred) {
		object->is_referred = true;
		add(refs, object, false);
	}
	return pp_object_number(object);
}

bool pp_object_refs_end(struct pp_object_refs *refs, const struct pp_object *object)
{
	struct ref *ref = object->is_referred ? ref_of(refs, pp_object_number(object)) : NULL;

	if (!ref)
		return false;
	ref->object = g_memdup2(object, sizeof(*object));
	ref->object->holds = ref->object->waiters = NULL;
	ref->object->data = NULL;
	ref->is_ended = true;
	g_ptr_array_add(refs->ended, ref);
	return true;
}

struct pp_object *pp_object_refs_at(const struct pp_object_refs *refs, uint32_t number)
{
	const struct ref *ref = ref_of(refs, number);

	return ref ? ref->object : NULL;
}

static gint compare_numbers(gconstpointer a, gconstpointer b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

GArray *pp_object_refs_numbers(const struct pp_object_refs *refs)
{
	GArray *numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	GHashTableIter iter;
	void *key;

	g_hash_table_iter_init(&iter, refs->known);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		uint32_t number = GPOINTER_TO_UINT(key);

		g_array_append_val(numbers, number);
	}
	g_array_sort(numbers, compare_numbers);
	return numbers;
}

/* --- folding -------------------------------------------------------------------------------- */

void pp_object_refs_begin(struct pp_object_refs *refs)
{
	for (guint i = 0; i < refs->ended->len; i++)
		((struct ref *)refs->ended->pdata[i])->weight = 0;
}

void pp_object_refs_weigh(struct pp_object_refs *refs, uint32_t number, int64_t weight)
{
	struct ref *ref = ref_of(refs, number);

	if (ref)
		ref->weight += weight;
}

static gint heaviest_first(gconstpointer a, gconstpointer b)
{
	const struct ref *x = *(struct ref *const *)a, *y = *(struct ref *const *)b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->now < y->now ? -1 : x->now > y->now;
}

static struct ref *group_of(struct pp_object_refs *refs, struct pp_objects *objects,
			    const struct pp_object *object)
{
	const struct pp_pass_context *context = objects->listener->context;
	struct pp_object model = pp_folded_model(object);
	g_autofree char *key = pp_folded_key(&model, context ? context->namer : NULL);
	struct ref *group = g_hash_table_lookup(refs->groups, key);

	if (group)
		return group;
	model.order = objects->n_ever++;
	model.is_referred = true;
	group = add(refs, g_memdup2(&model, sizeof(model)), true);
	g_hash_table_insert(refs->groups, g_steal_pointer(&key), group);
	return group;
}

void pp_object_refs_fold(struct pp_object_refs *refs, struct pp_objects *objects)
{
	g_ptr_array_sort(refs->ended, heaviest_first);
	for (guint i = PP_OBJECTS_KEPT; i < refs->ended->len; i++) {
		struct ref *ref = refs->ended->pdata[i];
		struct ref *group = group_of(refs, objects, ref->object);

		group->object->n_folded++;
		ref->now = group->now;
	}
}

uint32_t pp_object_refs_now(const struct pp_object_refs *refs, uint32_t number)
{
	const struct ref *ref = ref_of(refs, number);

	return ref ? ref->now : number;
}

void pp_object_refs_forget(struct pp_object_refs *refs)
{
	for (guint i = PP_OBJECTS_KEPT; i < refs->ended->len; i++)
		g_hash_table_remove(
		    refs->known,
		    key_of(pp_object_number(((struct ref *)refs->ended->pdata[i])->object)));
	g_ptr_array_set_size(refs->ended, (gint)MIN(refs->ended->len, PP_OBJECTS_KEPT));
}
