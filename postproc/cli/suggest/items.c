/* SPDX-License-Identifier: MIT */
/* Figures first, then what they rest on, then the call sites with their source. */
#include "cli/suggest/items.h"

#include <inttypes.h>

#include "cli/suggest/excerpt.h"
#include "suggest/words.h"

static void item_free(void *data)
{
	struct pp_suggest_item *item = data;

	g_free(item->text);
	g_free(item);
}

/* Takes ownership of the text; NULL: there is nothing to tell. */
static struct pp_suggest_item *add(GPtrArray *items, const char *name, char *text)
{
	struct pp_suggest_item *item;

	if (!text)
		return NULL;
	item = g_new0(struct pp_suggest_item, 1);
	item->name = name;
	item->text = text;
	g_ptr_array_add(items, item);
	return item;
}

static char *gain_text(const struct pp_suggest_gain *gain)
{
	if (!gain->is_known)
		return g_strdup_printf("not known: %s", gain->why ?: "no run can be replayed");
	return g_strdup_printf("%+.1f %% of the run time, +-%.1f; the replay of the recorded run "
			       "is within %.1f %% of it",
			       gain->change_pct, gain->error_pct, gain->fidelity_pct);
}

static char *seen_text(const struct pp_suggest_runs *runs, const struct pp_suggest_lock *lock)
{
	return g_strdup_printf("%u of %u runs, up to %u threads", lock->n_runs, runs->facts.n_runs,
			       lock->n_threads);
}

static void add_site(GPtrArray *items, const struct pp_suggest_runs *runs,
		     const struct pp_suggestion *suggestion, uint32_t number)
{
	const struct pp_suggest_site *site = suggestion->lock->sites->pdata[number];
	g_autofree char *role = pp_suggest_role(suggestion, number);
	struct pp_suggest_item *source;
	const char *why;

	add(items, number ? "" : "sites",
	    g_strdup_printf("%s: %s, %" PRIu64 " sections", site->name, role, site->n));
	source = add(
	    items, "",
	    pp_suggest_excerpt(site, runs->sources, pp_suggest_is_long(suggestion, number), &why));
	if (source)
		source->is_source = true;
	else
		add(items, "", g_strdup_printf("  no source: %s", why));
}

char *pp_suggest_headline(const struct pp_suggestion *suggestion)
{
	g_autofree char *action = pp_suggest_action(suggestion);

	return g_strdup_printf("%s: %s", suggestion->lock->name, action);
}

GPtrArray *pp_suggest_items(const struct pp_suggest_runs *runs,
			    const struct pp_suggestion *suggestion)
{
	GPtrArray *items = g_ptr_array_new_with_free_func(item_free);

	add(items, "prediction", gain_text(&suggestion->gain));
	add(items, "", pp_suggest_basis(suggestion));
	add(items, "pattern", g_strdup(pp_suggest_patterns[suggestion->pattern]));
	add(items, "evidence", pp_suggest_evidence(suggestion));
	add(items, "", seen_text(runs, suggestion->lock));
	add(items, "conflicts in", pp_suggest_data(suggestion->lock));
	add(items, "not exercised", pp_suggest_not_exercised(suggestion, &runs->facts));
	for (uint32_t i = 0; i < suggestion->lock->sites->len; i++)
		add_site(items, runs, suggestion, i);
	return items;
}
