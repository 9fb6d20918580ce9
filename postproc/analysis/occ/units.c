/* SPDX-License-Identifier: MIT */
/* See units.h.  Sections are sets of units that can only be united. */
#include "analysis/occ/units.h"

struct pp_occ_units {
	const struct pp_pass_context *context;
	GArray *units;	   /* of struct pp_occ_unit */
	GHashTable *known; /* struct key * -> 1 + number */
};

struct key {
	const struct pp_process *process;
	uint64_t address, load_id; /* of a lock; or of a site, and 0 */
	bool is_static;
};

static guint key_hash(gconstpointer data)
{
	const struct key *key = data;
	uint64_t hash = key->address ^ key->load_id << 7 ^ (uint64_t)(uintptr_t)key->process << 13;

	return (guint)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
	const struct key *x = a, *y = b;

	return x->process == y->process && x->address == y->address && x->load_id == y->load_id &&
	       x->is_static == y->is_static;
}

struct pp_occ_units *pp_occ_units_new(const struct pp_pass_context *context)
{
	struct pp_occ_units *self = g_new0(struct pp_occ_units, 1);

	self->context = context;
	self->units = g_array_new(FALSE, FALSE, sizeof(struct pp_occ_unit));
	self->known = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
	return self;
}

void pp_occ_units_free(struct pp_occ_units *self)
{
	for (guint i = 0; i < self->units->len; i++) {
		GHashTable *sites = g_array_index(self->units, struct pp_occ_unit, i).sites;

		if (sites)
			g_hash_table_unref(sites);
	}
	g_array_unref(self->units);
	g_hash_table_unref(self->known);
	g_free(self);
}

guint pp_occ_units_n(const struct pp_occ_units *self)
{
	return self->units->len;
}

const struct pp_occ_unit *pp_occ_unit(const struct pp_occ_units *self, unsigned number)
{
	return &g_array_index(self->units, struct pp_occ_unit, number);
}

/* --- units ---------------------------------------------------------------------------------- */

static unsigned unit_of_key(struct pp_occ_units *self, const struct key *key,
			    const struct pp_object *object)
{
	const struct pp_occ_unit new = {
	    .lock = {.process = object->process,
		     .address = object->address,
		     .load_id = object->load_id,
		     .generation = 1,
		     .type = object->type,
		     .init_site = object->init_site,
		     .first_site = object->first_site},
	    .is_static = key->is_static,
	    .site = key->is_static ? 0 : key->address,
	    .sites = key->is_static
			 ? g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL)
			 : NULL,
	    .parent = self->units->len,
	};

	g_array_append_val(self->units, new);
	g_hash_table_insert(self->known, g_memdup2(key, sizeof(*key)),
			    GUINT_TO_POINTER(self->units->len));
	return self->units->len - 1;
}

static unsigned get_unit(struct pp_occ_units *self, const struct key *key,
			 const struct pp_object *object)
{
	unsigned known = GPOINTER_TO_UINT(g_hash_table_lookup(self->known, key));

	return known ? known - 1 : unit_of_key(self, key, object);
}

static bool is_static(const struct pp_occ_units *self, const struct pp_object *object)
{
	const struct pp_namer *namer = self->context->namer;
	g_autofree char *build_id = NULL, *place = NULL;

	if (!namer || !namer->place)
		return false;
	place = namer->place(namer->data, object->process,
			     object->address + GM_PLACE(object->load_id), &build_id);
	return place != NULL;
}

static void add_site(struct pp_occ_units *self, struct pp_occ_lock *lock, uint64_t site)
{
	GHashTable *sites = pp_occ_unit(self, lock->unit - 1)->sites;

	if (!site || site == lock->last_site)
		return;
	lock->last_site = site;
	if (!g_hash_table_contains(sites, &site))
		g_hash_table_add(sites, g_memdup2(&site, sizeof(site)));
}

static void unite(struct pp_occ_units *self, unsigned a, unsigned b)
{
	a = pp_occ_section_of(self, a);
	b = pp_occ_section_of(self, b);
	/* The first one stands for both, so that the order does not depend on the others. */
	g_array_index(self->units, struct pp_occ_unit, MAX(a, b)).parent = MIN(a, b);
}

unsigned pp_occ_unit_of(struct pp_occ_units *self, struct pp_occ_lock *lock,
			const struct pp_object *object, uint64_t site)
{
	struct key key = {.process = object->process};
	unsigned unit;

	if (!lock->unit)
		lock->is_static = is_static(self, object);
	if (lock->is_static) {
		key.is_static = true;
		key.address = object->address;
		key.load_id = object->load_id;
		if (!lock->unit)
			lock->unit = 1 + get_unit(self, &key, object);
		add_site(self, lock, site);
		return lock->unit - 1;
	}
	if (lock->last_unit && lock->last_site == site)
		return lock->last_unit - 1;
	key.address = site;
	unit = get_unit(self, &key, object);
	lock->last_site = site;
	lock->last_unit = 1 + unit;
	if (!lock->unit)
		lock->unit = 1 + unit;
	else if (lock->unit != 1 + unit)
		unite(self, lock->unit - 1, unit);
	return unit;
}

unsigned pp_occ_section_of(struct pp_occ_units *self, unsigned number)
{
	struct pp_occ_unit *units = &g_array_index(self->units, struct pp_occ_unit, 0);

	while (units[number].parent != number) {
		units[number].parent = units[units[number].parent].parent;
		number = units[number].parent;
	}
	return number;
}
