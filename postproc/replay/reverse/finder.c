/* SPDX-License-Identifier: MIT */
/* Listens to the pass that classifies pairs, and keeps samples of fixed number (reservoirs). */
#include "replay/reverse/finder.h"

#include <string.h>

#include "analysis/mix.h"
#include "analysis/state/object_name.h"
#include "pass/ulcp/ulcp.h"
#include "replay/reverse/section_ops.h"

#define SEED 1 /* the same capture has the same samples */

extern const struct pp_pass pp_pass_ulcp;

/* The pairs of two calls on a lock; `sites` is in order of addresses. */
struct entry {
	uint64_t lock; /* its number, in order of appearance */
	uint64_t sites[2];
	struct pp_reversal_sites *found;
};

struct pp_reversal_finder {
	const struct pp_pass_context *context;
	unsigned n_samples;
	void *pass;
	struct pp_ulcp_listener listener;
	struct pp_section_ops *ops;
	GHashTable *last;    /* lock -> struct pp_reversal_end of its last section */
	GHashTable *entries; /* a set of struct entry * */
	GHashTable *by_name; /* text -> struct pp_reversal_sites *: several entries may have one */
	GPtrArray *found;    /* of struct pp_reversal_sites * */
	GRand *random;
	uint64_t n_sections, n_unknown;
};

unsigned pp_reversal_kinds(void)
{
	return pp_pass_ulcp.kinds;
}

static guint entry_hash(const void *data)
{
	const struct entry *entry = data;

	return (guint)pp_mix(pp_mix(pp_mix(0, entry->lock), entry->sites[0]), entry->sites[1]);
}

static gboolean entry_equal(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->lock == y->lock && x->sites[0] == y->sites[0] && x->sites[1] == y->sites[1];
}

static void pair_free(void *data)
{
	struct pp_reversal_pair *pair = data;

	g_array_unref(pair->lines);
	g_free(pair);
}

static void sites_free(void *data)
{
	struct pp_reversal_sites *sites = data;

	g_ptr_array_unref(sites->samples);
	g_free(sites->lock);
	g_free(sites->names[0]);
	g_free(sites->names[1]);
	g_free(sites);
}

/* --- pairs of sites --------------------------------------------------------------------------- */

static char *site_name(const struct pp_reversal_finder *self,
		       const struct pp_access_instance *instance, uint64_t site)
{
	const struct pp_namer *namer = self->context->namer;

	return site ? namer->site(namer->data, instance->thread->process, site)
		    : g_strdup("an unknown call");
}

static struct pp_reversal_sites *sites_new(const struct pp_reversal_finder *self,
					   const struct pp_access_instance *instance,
					   const uint64_t *addresses)
{
	struct pp_reversal_sites *sites = g_new0(struct pp_reversal_sites, 1);

	sites->lock = pp_object_group(instance->object, self->context->namer);
	sites->type = instance->object->type;
	for (unsigned i = 0; i < 2; i++)
		sites->names[i] = site_name(self, instance, addresses[i]);
	if (strcmp(sites->names[0], sites->names[1]) > 0) {
		char *second = sites->names[0];

		sites->names[0] = sites->names[1];
		sites->names[1] = second;
	}
	sites->samples = g_ptr_array_new_with_free_func(pair_free);
	return sites;
}

/* Calls in inlined functions have several addresses, and one name; so have locks of an array. */
static struct pp_reversal_sites *find_named(struct pp_reversal_finder *self,
					    struct pp_reversal_sites *new)
{
	char *key = g_strdup_printf("%s\n%s\n%s", new->lock, new->names[0], new->names[1]);
	struct pp_reversal_sites *found = g_hash_table_lookup(self->by_name, key);

	if (found) {
		g_free(key);
		sites_free(new);
		return found;
	}
	g_hash_table_insert(self->by_name, key, new);
	g_ptr_array_add(self->found, new);
	return new;
}

static struct pp_reversal_sites *sites_of(struct pp_reversal_finder *self,
					  const struct pp_ulcp_conflicting *conflicting)
{
	const struct pp_access_instance *second = conflicting->second;
	uint64_t a = conflicting->first_site, b = second->site;
	const struct entry key = {second->object->order, {MIN(a, b), MAX(a, b)}, NULL};
	struct entry *entry = g_hash_table_lookup(self->entries, &key);

	if (!entry) {
		entry = g_memdup2(&key, sizeof(key));
		entry->found = find_named(self, sites_new(self, second, key.sites));
		g_hash_table_add(self->entries, entry);
	}
	return entry->found;
}

/* --- samples ---------------------------------------------------------------------------------- */

/*
 * Writes of both sections to the same bytes may still leave the same values, which only a replay
 * tells; a section that reads what the other one writes is of another kind.
 */
static bool is_candidate(const struct pp_ulcp_conflicting *conflicting)
{
	struct pp_ulcp_conflict others = conflicting->conflict;

	others.writes = false;
	return conflicting->conflict.contends && !conflicting->is_partly_freed &&
	       pp_ulcp_class_of_conflict(&others, conflicting->first_polls,
					 conflicting->second_polls) != PP_ULCP_TRUE;
}

/* The place of the n-th candidate among the samples: each has the same chance. -1: none. */
static int place_of(const struct pp_reversal_finder *self, const struct pp_reversal_sites *sites)
{
	guint32 place;

	if (sites->samples->len < self->n_samples)
		return (int)sites->samples->len;
	place = (guint32)(g_rand_double(self->random) * (double)sites->n_candidates);
	return place < self->n_samples ? (int)place : -1;
}

static void add_sample(struct pp_reversal_finder *self, struct pp_reversal_sites *sites,
		       const struct pp_ulcp_conflicting *conflicting,
		       const struct pp_reversal_end *first, const struct pp_reversal_end *second)
{
	int place = place_of(self, sites);
	struct pp_reversal_pair *pair;

	if (place < 0)
		return;
	pair = g_new0(struct pp_reversal_pair, 1);
	pair->first = *first;
	pair->second = *second;
	pair->lines = pp_reversal_lines(conflicting->first_set, conflicting->second->set,
					conflicting->second->thread->process, self->context->namer);
	if ((guint)place < sites->samples->len)
		pair_free(sites->samples->pdata[place]);
	else
		g_ptr_array_set_size(sites->samples, place + 1);
	sites->samples->pdata[place] = pair;
}

static void on_section(void *data, const struct pp_access_instance *instance,
		       const struct pp_ulcp_conflicting *conflicting)
{
	struct pp_reversal_finder *self = data;
	const struct pp_reversal_end *last = g_hash_table_lookup(self->last, instance->object);
	struct pp_reversal_end end = {
	    instance->thread->serial,
	    pp_section_ops_end(self->ops, instance->thread, instance->object->address)};

	self->n_sections++;
	self->n_unknown += instance->known != PP_ACCESSES_KNOWN || instance->left_out != 0;
	if (conflicting && conflicting->conflict.contends) {
		struct pp_reversal_sites *sites = sites_of(self, conflicting);

		sites->n_conflicts++;
		if (last && last->op != PP_SECTION_OP_NONE && end.op != PP_SECTION_OP_NONE &&
		    is_candidate(conflicting)) {
			sites->n_candidates++;
			add_sample(self, sites, conflicting, last, &end);
		}
	}
	g_hash_table_replace(self->last, instance->object, g_memdup2(&end, sizeof(end)));
}

/* --- the finder ------------------------------------------------------------------------------- */

struct pp_reversal_finder *pp_reversal_finder_new(const struct pp_pass_context *context,
						  unsigned n_samples)
{
	struct pp_reversal_finder *self = g_new0(struct pp_reversal_finder, 1);

	self->context = context;
	self->n_samples = n_samples;
	self->pass = pp_pass_ulcp.start(context);
	self->listener = (struct pp_ulcp_listener){self, on_section};
	pp_ulcp_listen(self->pass, &self->listener);
	self->ops = pp_section_ops_new();
	self->last = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	self->entries = g_hash_table_new_full(entry_hash, entry_equal, g_free, NULL);
	self->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	self->found = g_ptr_array_new_with_free_func(sites_free);
	self->random = g_rand_new_with_seed(SEED);
	return self;
}

void pp_reversal_finder_free(struct pp_reversal_finder *self)
{
	pp_pass_ulcp.free(self->pass);
	pp_section_ops_free(self->ops);
	g_hash_table_unref(self->last);
	g_hash_table_unref(self->entries);
	g_hash_table_unref(self->by_name);
	g_ptr_array_unref(self->found);
	g_rand_free(self->random);
	g_free(self);
}

void pp_reversal_finder_event(struct pp_reversal_finder *self, const struct pp_event *event,
			      uint64_t op)
{
	pp_pass_ulcp.event(self->pass, event);
	if (event->kind == PP_EVENT_SYNC && event->thread)
		pp_section_ops_event(self->ops, event, op);
}

static gint compare_sites(gconstpointer a, gconstpointer b)
{
	const struct pp_reversal_sites *x = *(struct pp_reversal_sites *const *)a;
	const struct pp_reversal_sites *y = *(struct pp_reversal_sites *const *)b;

	if (x->n_candidates != y->n_candidates)
		return x->n_candidates > y->n_candidates ? -1 : 1;
	return strcmp(x->names[0], y->names[0]) ?: strcmp(x->names[1], y->names[1]);
}

GPtrArray *pp_reversal_finder_finish(struct pp_reversal_finder *self)
{
	g_ptr_array_sort(self->found, compare_sites);
	return g_ptr_array_ref(self->found);
}

uint64_t pp_reversal_finder_sections(const struct pp_reversal_finder *self, uint64_t *ret_unknown)
{
	*ret_unknown = self->n_unknown;
	return self->n_sections;
}
