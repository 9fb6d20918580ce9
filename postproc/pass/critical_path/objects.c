/* SPDX-License-Identifier: MIT */
/*
 * Folds objects that no longer exist: in all chains, the figures of those with the least time are
 * added up per type and call site of initialization.
 */
#include "pass/critical_path/critical_path.h"

#include "analysis/state/object_fold.h"

static bool is_of_object(const struct pp_chain_entry *entry)
{
	enum pp_critical_amount amount = pp_critical_amount_of(entry);

	return amount == PP_CRITICAL_HELD || amount == PP_CRITICAL_CROSSINGS ||
	       amount == PP_CRITICAL_WAITED;
}

/* Crossings count as a nanosecond each. */
static void weigh(void *data, struct pp_chain_entry *entry)
{
	struct pp_critical *self = data;

	if (is_of_object(entry))
		pp_object_refs_weigh(&self->refs, pp_critical_id_of(entry), entry->amount);
}

static void renumber(void *data, guint *object)
{
	const struct pp_critical *self = data;

	*object = pp_object_refs_now(&self->refs, *object);
}

static void renumber_entry(void *data, struct pp_chain_entry *entry)
{
	guint object = pp_critical_id_of(entry);

	if (!is_of_object(entry))
		return;
	renumber(data, &object);
	entry->key = pp_critical_key(pp_critical_amount_of(entry), object, 0);
}

void pp_critical_fold_objects(struct pp_critical *self)
{
	const struct pp_chain_change weights = {.data = self, .entry = weigh};
	const struct pp_chain_change numbers = {
	    .data = self, .entry = renumber_entry, .object = renumber};

	if (self->refs.ended->len <= PP_OBJECTS_KEPT)
		return;
	pp_object_refs_begin(&self->refs);
	pp_chains_change(self->chains, &weights);
	pp_object_refs_fold(&self->refs, &self->objects);
	pp_chains_change(self->chains, &numbers);
	pp_object_refs_forget(&self->refs);
}
