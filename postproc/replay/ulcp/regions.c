/* SPDX-License-Identifier: MIT */
/* Pairs with the same call sites are added up first; there are few of these. */
#include "replay/ulcp/regions.h"

#include <stdlib.h>
#include <string.h>

#define MOST_FUSED 1000

/* --- regions ---------------------------------------------------------------------------------- */

/* Returns the length of the name up to the line, and the line; 0: it has none. */
static size_t divide(const char *name, unsigned *ret_line)
{
	const char *colon = strrchr(name, ':');
	char *end;

	*ret_line = 0;
	if (!colon || !g_ascii_isdigit(colon[1]))
		return 0;
	*ret_line = (unsigned)strtoul(colon + 1, &end, 10);
	return *ret_line != 0 && strcmp(end, ")") == 0 ? (size_t)(colon + 1 - name) : 0;
}

struct pp_ulcp_region pp_ulcp_region(const char *acquired, const char *released)
{
	unsigned from, to;
	size_t n = divide(acquired, &from), n_released = divide(released, &to);

	if (n == 0)
		return (struct pp_ulcp_region){.function = g_strdup(acquired)};
	if (n != n_released || strncmp(acquired, released, n) != 0)
		to = from;
	return (struct pp_ulcp_region){
	    .function = g_strndup(acquired, n), .from = MIN(from, to), .to = MAX(from, to)};
}

char *pp_ulcp_region_text(const struct pp_ulcp_region *region)
{
	if (region->from == 0)
		return g_strdup(region->function);
	if (region->from == region->to)
		return g_strdup_printf("%s%u)", region->function, region->from);
	return g_strdup_printf("%s%u-%u)", region->function, region->from, region->to);
}

bool pp_ulcp_regions_overlap(const struct pp_ulcp_region *a, const struct pp_ulcp_region *b)
{
	return strcmp(a->function, b->function) == 0 && a->from <= b->to && b->from <= a->to;
}

static void region_add(struct pp_ulcp_region *to, const struct pp_ulcp_region *from)
{
	to->from = MIN(to->from, from->from);
	to->to = MAX(to->to, from->to);
}

/* --- fusing ----------------------------------------------------------------------------------- */

static void fused_done(void *data)
{
	struct pp_ulcp_fused *fused = data;

	g_free(fused->regions[0].function);
	g_free(fused->regions[1].function);
}

static struct pp_ulcp_fused *fused_at(const GArray *fused, guint i)
{
	return &g_array_index(fused, struct pp_ulcp_fused, i);
}

/* Algorithm 2. Returns false if the pairs cannot be fused. */
static bool fuse_two(struct pp_ulcp_fused *a, const struct pp_ulcp_fused *b)
{
	unsigned k = 0;

	while (k < 2 && !(pp_ulcp_regions_overlap(&a->regions[0], &b->regions[k]) &&
			  pp_ulcp_regions_overlap(&a->regions[1], &b->regions[1 - k])))
		k++;
	if (k == 2)
		return false;
	region_add(&a->regions[0], &b->regions[k]);
	region_add(&a->regions[1], &b->regions[1 - k]);
	a->n += b->n;
	a->gain_ns += b->gain_ns;
	if (a->object != b->object)
		a->object = PP_ULCP_SEVERAL;
	return true;
}

/* A fused pair may overlap pairs that it did not before, so this is repeated. */
static void fuse_all(GArray *fused)
{
	for (guint i = 0; i < MIN(fused->len, MOST_FUSED); i++) {
		for (guint k = 0; k < MIN(fused->len, MOST_FUSED); k++) {
			if (k == i || !fuse_two(fused_at(fused, i), fused_at(fused, k)))
				continue;
			g_array_remove_index(fused, k);
			i -= k < i;
			k = UINT_MAX;
		}
	}
}

static int compare_gains(const void *a, const void *b)
{
	const struct pp_ulcp_fused *x = a, *y = b;
	int order;

	if (x->gain_ns != y->gain_ns)
		return x->gain_ns > y->gain_ns ? -1 : 1;
	order = strcmp(x->regions[0].function, y->regions[0].function);
	return order ? order
		     : (x->regions[0].from > y->regions[0].from) -
			   (x->regions[0].from < y->regions[0].from);
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* The call sites of two sections, in their order. */
struct sites {
	uint32_t sites[4];
};

static guint hash_sites(const void *data)
{
	const struct sites *sites = data;
	guint hash = 0;

	for (unsigned i = 0; i < 4; i++)
		hash = hash * 31 + sites->sites[i];
	return hash;
}

static gboolean equal_sites(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct sites)) == 0;
}

static uint32_t site_of(const struct pp_replay_model *model, uint32_t thread, uint32_t step)
{
	const struct pp_replay_thread *of = model->threads->pdata[thread];

	return g_array_index(of->steps, struct pp_replay_step, step).site;
}

static const char *site_name(const struct pp_replay_model *model, uint32_t site)
{
	return site == PP_REPLAY_NO_SITE ? "an unknown call site" : model->sites->pdata[site - 1];
}

static struct sites sites_of(const struct pp_replay_model *model, const struct pp_ulcp_section *a,
			     const struct pp_ulcp_section *b)
{
	return (struct sites){
	    {site_of(model, a->thread, a->first), site_of(model, a->thread, a->last),
	     site_of(model, b->thread, b->first), site_of(model, b->thread, b->last)}};
}

static void add_pair(GArray *fused, GHashTable *known, const struct pp_replay_model *model,
		     const GArray *sections, const struct pp_ulcp_pair *pair)
{
	const struct pp_ulcp_section *a = pp_ulcp_section_at(sections, pair->first);
	struct sites sites = sites_of(model, a, pp_ulcp_section_at(sections, pair->second));
	guint at = GPOINTER_TO_UINT(g_hash_table_lookup(known, &sites));
	struct pp_ulcp_fused *of, new = {.object = a->object};

	if (!at) {
		for (unsigned i = 0; i < 2; i++)
			new.regions[i] = pp_ulcp_region(site_name(model, sites.sites[2 * i]),
							site_name(model, sites.sites[2 * i + 1]));
		g_array_append_val(fused, new);
		at = fused->len;
		g_hash_table_insert(known, g_memdup2(&sites, sizeof(sites)), GUINT_TO_POINTER(at));
	}
	of = fused_at(fused, at - 1);
	of->n++;
	of->gain_ns += pair->gain_ns;
	if (of->object != a->object)
		of->object = PP_ULCP_SEVERAL;
}

GArray *pp_ulcp_fuse(const struct pp_replay_model *model, const GArray *sections,
		     const GArray *pairs, bool *ret_all)
{
	GArray *fused = g_array_new(FALSE, FALSE, sizeof(struct pp_ulcp_fused));
	g_autoptr(GHashTable) known = g_hash_table_new_full(hash_sites, equal_sites, g_free, NULL);

	g_array_set_clear_func(fused, fused_done);
	for (guint i = 0; i < pairs->len; i++)
		add_pair(fused, known, model, sections,
			 &g_array_index(pairs, struct pp_ulcp_pair, i));
	*ret_all = fused->len <= MOST_FUSED;
	g_array_sort(fused, compare_gains);
	fuse_all(fused);
	g_array_sort(fused, compare_gains);
	return fused;
}
