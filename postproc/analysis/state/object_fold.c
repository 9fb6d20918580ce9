/* SPDX-License-Identifier: MIT */
/*
 * See object_fold.h.  Ended objects are collected until they are twice as many as are kept; then
 * they are sorted, and the less important half is folded.  Most of those that end later are less
 * important than the last one kept, and are folded at once.
 */
#include "analysis/state/object_fold.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/select.h"
#include "analysis/site_set.h"
#include "analysis/state/object_name.h"

/* Without a comparison, all are folded, in batches. */
#define BATCH 64u

/* Objects that are no variables, by call site (op: type): their names need not be compared. */
struct by_site {
	struct pp_site_key key;
	const struct pp_process *process;
	struct pp_object *group;
};

struct pp_folded {
	GPtrArray *ended; /* of struct pp_object *; the first n_kept were checked */
	guint n_kept;
	const struct pp_object *least; /* of those kept by the last sort; NULL: none yet */
	GHashTable *groups;	       /* text -> struct pp_object * */
	struct pp_site_set by_site;    /* of struct by_site; as far as they are of one process */
	size_t n_addresses;	       /* entries of folded objects */
	GArray *serials;	       /* of unsigned, free */
};

struct pp_folded *pp_folded_new(void)
{
	struct pp_folded *folded = g_new0(struct pp_folded, 1);

	folded->ended = g_ptr_array_new();
	folded->groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	folded->serials = g_array_new(FALSE, FALSE, sizeof(unsigned));
	return folded;
}

void pp_folded_free(struct pp_folded *folded)
{
	if (!folded)
		return;
	g_ptr_array_unref(folded->ended);
	g_hash_table_unref(folded->groups);
	pp_site_set_done(&folded->by_site);
	g_array_unref(folded->serials);
	g_free(folded);
}

unsigned pp_folded_serial(struct pp_objects *objects)
{
	GArray *serials = objects->folded ? objects->folded->serials : NULL;
	unsigned serial;

	if (!serials || !serials->len) {
		g_ptr_array_add(objects->all, NULL);
		return objects->all->len - 1;
	}
	serial = g_array_index(serials, unsigned, serials->len - 1);
	g_array_set_size(serials, serials->len - 1);
	return serial;
}

/* --- generations of folded objects ---------------------------------------------------------- */

struct pp_object *pp_folded_group(const struct pp_objects *objects,
				  const struct pp_process *process, uint64_t address)
{
	const struct pp_object_entry *entry =
	    pp_object_table_find(&objects->live, process, address);

	return entry && entry->is_folded ? entry->object : NULL;
}

void pp_folded_replace(struct pp_objects *objects, struct pp_object *object)
{
	struct pp_object_entry *entry =
	    pp_object_table_get(&objects->live, object->process, object->address);

	if (entry->is_folded)
		objects->folded->n_addresses--;
	entry->is_folded = false;
	entry->object = object;
}

/* Forgets the addresses at which no ended object is kept: no row has their generations. */
static void forget(struct pp_objects *objects)
{
	struct pp_folded *folded = objects->folded;

	folded->n_addresses = 0;
	for (guint i = 0; i < folded->ended->len; i++) {
		const struct pp_object *object = folded->ended->pdata[i];
		struct pp_object_entry *entry =
		    pp_object_table_find(&objects->live, object->process, object->address);

		if (!entry || !entry->is_folded || entry->is_kept)
			continue;
		entry->is_kept = true;
		folded->n_addresses++;
	}
	pp_object_table_forget(&objects->live);
}

/* The object is folded: if it is the newest at its address, the group takes its place. */
static void note_folded(struct pp_objects *objects, const struct pp_object *object,
			struct pp_object *group)
{
	struct pp_object_entry *entry =
	    pp_object_table_find(&objects->live, object->process, object->address);

	if (!entry || entry->is_folded || entry->object != object)
		return;
	entry->is_folded = true;
	entry->object = group;
	entry->generation = object->generation;
	if (++objects->folded->n_addresses > PP_FOLDED_ADDRESSES)
		forget(objects);
}

/* --- groups --------------------------------------------------------------------------------- */

static const struct pp_wanted *wanted_at(const struct pp_objects *objects,
					 const struct pp_object *object)
{
	const struct pp_pass_context *context = objects->listener->context;

	if (!context || !pp_selects_by(context, PP_SELECT_OBJECT))
		return NULL;
	for (guint i = 0; i < context->selection->objects->len; i++) {
		const struct pp_wanted *wanted = context->selection->objects->pdata[i];

		if (wanted->number == object->address && object->address)
			return wanted;
	}
	return NULL;
}

static struct pp_object *group_new(struct pp_objects *objects, const struct pp_object *model)
{
	struct pp_object *group = g_memdup2(model, sizeof(*model));

	group->order = objects->n_ever++;
	group->serial = pp_folded_serial(objects);
	objects->all->pdata[group->serial] = group;
	return group;
}

struct pp_object pp_folded_model(const struct pp_object *object)
{
	return (struct pp_object){
	    .process = object->process,
	    .address = object->address,
	    .load_id = object->load_id,
	    .type = object->type,
	    .init_site = object->init_site,
	    .first_site = object->first_site,
	};
}

char *pp_folded_key(const struct pp_object *model, const struct pp_namer *namer)
{
	g_autofree char *name = pp_object_group(model, namer);

	return g_strdup_printf("%u %u %u %" PRIx64 " %s", model->process->pid,
			       model->process->image, model->type,
			       model->one_address ? model->address : 0, name);
}

static struct pp_object *group_by_name(struct pp_objects *objects, const struct pp_object *model)
{
	const struct pp_pass_context *context = objects->listener->context;
	g_autofree char *key = pp_folded_key(model, context ? context->namer : NULL);
	struct pp_object *group = g_hash_table_lookup(objects->folded->groups, key);

	if (!group) {
		group = group_new(objects, model);
		g_hash_table_insert(objects->folded->groups, g_steal_pointer(&key), group);
	}
	return group;
}

static bool is_variable(const struct pp_pass_context *context, const struct pp_object *object)
{
	const struct pp_namer *namer = context ? context->namer : NULL;
	g_autofree char *name = namer && namer->object
				    ? namer->object(namer->data, object->process,
						    object->address + GM_PLACE(object->load_id))
				    : NULL;

	return name;
}

static struct pp_object *group_of(struct pp_objects *objects, const struct pp_object *object)
{
	struct pp_object model = pp_folded_model(object);
	struct pp_site_key key = {model.init_site ?: model.first_site, model.type, 0};
	struct by_site *known;

	model.one_address = wanted_at(objects, object);
	if (model.one_address || is_variable(objects->listener->context, object))
		return group_by_name(objects, &model);
	known = pp_site_set_get(&objects->folded->by_site, sizeof(*known), &key);
	if (!known->group) {
		known->process = model.process;
		known->group = group_by_name(objects, &model);
	}
	return known->process == model.process ? known->group : group_by_name(objects, &model);
}

/* --- folding -------------------------------------------------------------------------------- */

static void fold(struct pp_objects *objects, struct pp_object *object)
{
	const struct pp_object_listener *listener = objects->listener;
	unsigned serial = object->serial;
	struct pp_object *group = listener->compare ? group_of(objects, object) : NULL;
	struct pp_object **recent = pp_objects_recent(objects, object->address);
	bool counts = listener->fold(listener->data, object, group);

	if (group)
		group->n_folded += counts;
	note_folded(objects, object, group);
	if (*recent == object)
		*recent = NULL;
	objects->all->pdata[serial] = NULL;
	g_array_append_val(objects->folded->serials, serial);
	g_clear_pointer(&object->waiters, g_array_unref);
	g_ptr_array_add(objects->spare, object);
}

void pp_folded_add(struct pp_objects *objects, struct pp_object *object)
{
	const struct pp_wanted *wanted = wanted_at(objects, object);

	/* A generation that is selected by its number has a row of its own. */
	if (object->type != GM_SYNC_TYPE_thread &&
	    !(wanted && wanted->generation == object->generation))
		g_ptr_array_add(objects->folded->ended, object);
}

static gint compare(gconstpointer a, gconstpointer b, gpointer listener)
{
	return ((const struct pp_object_listener *)listener)
	    ->compare(*(struct pp_object *const *)a, *(struct pp_object *const *)b);
}

static void fold_brief(struct pp_objects *objects)
{
	const struct pp_object_listener *listener = objects->listener;
	GPtrArray *ended = objects->folded->ended;
	guint n = 0;

	for (guint i = 0; listener->is_brief && i < ended->len; i++) {
		struct pp_object *object = ended->pdata[i];

		if (listener->is_brief(object))
			fold(objects, object);
		else
			ended->pdata[n++] = object;
	}
	if (listener->is_brief)
		g_ptr_array_set_size(ended, (gint)n);
}

/* Folds brief objects, sorts the other ended ones, and folds those after the first n_left. */
static void fold_least(struct pp_objects *objects, guint n_left)
{
	struct pp_folded *folded = objects->folded;

	fold_brief(objects);
	n_left = MIN(n_left, folded->ended->len);
	if (objects->listener->compare)
		g_qsort_with_data(folded->ended->pdata, (gint)folded->ended->len, sizeof(gpointer),
				  compare, (gpointer)objects->listener);
	for (guint i = n_left; i < folded->ended->len; i++)
		fold(objects, folded->ended->pdata[i]);
	g_ptr_array_set_size(folded->ended, (gint)n_left);
	folded->n_kept = n_left;
	folded->least = n_left ? folded->ended->pdata[n_left - 1] : NULL;
}

static guint n_wanted(const struct pp_objects *objects)
{
	return objects->listener->compare ? PP_OBJECTS_KEPT : 0;
}

void pp_folded_finish(struct pp_objects *objects)
{
	fold_least(objects, n_wanted(objects));
}

void pp_folded_run(struct pp_objects *objects)
{
	struct pp_folded *folded = objects->folded;

	while (folded->least && folded->n_kept < folded->ended->len) {
		struct pp_object *object = folded->ended->pdata[folded->n_kept];

		if (objects->listener->compare(object, folded->least) < 0) {
			folded->n_kept++;
			continue;
		}
		g_ptr_array_remove_index_fast(folded->ended, folded->n_kept);
		fold(objects, object);
	}
	if (folded->ended->len >= MAX(2 * n_wanted(objects), BATCH))
		fold_least(objects, n_wanted(objects));
}
