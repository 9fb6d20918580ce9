/* SPDX-License-Identifier: MIT */
/* Numbers call sites in order of their first use, with a hash table from site to number. */
#include "analysis/graph/call_sites.h"

static guint site_hash(gconstpointer key)
{
	const struct pp_call_site *site = key;

	return g_direct_hash(site->process) ^ (guint)(site->site >> 32) ^ (guint)site->site * 31 ^
	       (guint)site->op;
}

static gboolean site_equal(gconstpointer a, gconstpointer b)
{
	const struct pp_call_site *x = a, *y = b;

	return x->process == y->process && x->site == y->site && x->op == y->op;
}

void pp_call_sites_init(struct pp_call_sites *sites)
{
	sites->all = g_array_new(FALSE, FALSE, sizeof(struct pp_call_site));
	sites->number_of = g_hash_table_new_full(site_hash, site_equal, g_free, NULL);
}

void pp_call_sites_done(struct pp_call_sites *sites)
{
	g_array_unref(sites->all);
	g_hash_table_unref(sites->number_of);
}

uint32_t pp_call_sites_number(struct pp_call_sites *sites, struct pp_call_site site)
{
	void *number = g_hash_table_lookup(sites->number_of, &site); /* + 1 */

	if (!number) {
		g_array_append_val(sites->all, site);
		number = GUINT_TO_POINTER(sites->all->len);
		g_hash_table_insert(sites->number_of, g_memdup2(&site, sizeof(site)), number);
	}
	return GPOINTER_TO_UINT(number) - 1;
}

struct pp_call_site pp_call_site_of(const struct pp_event *event)
{
	enum st_event op;

	if (PP_EVENT_MASK(event->kind) & PP_IO_KINDS)
		return (struct pp_call_site){event->thread->process, event->io.site,
					     pp_io_op(event->io.call)};
	op = pp_sync_completion(event->sync.op);
	return (struct pp_call_site){event->thread->process, event->sync.site,
				     op != ST_N_EVENTS ? op : event->sync.op};
}

char *pp_call_site_text(const struct pp_call_site *site, const struct pp_namer *namer)
{
	return site->site && namer && namer->site
		   ? namer->site(namer->data, site->process, site->site)
		   : NULL;
}

const char *pp_call_site_function(const struct pp_call_site *site)
{
	const char *function = pp_op_function(site->op);

	if (site->op == ST_N_EVENTS)
		return NULL;
	return function ? function : pp_sync_name(site->op);
}
