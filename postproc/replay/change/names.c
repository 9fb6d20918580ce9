/* SPDX-License-Identifier: MIT */
/* A name that is not known is most often a misspelled one, so similar names are shown. */
#include "replay/change/names.h"

#include <errno.h>
#include <string.h>

/* Names are similar if one has the other as a part, or at most so many of its characters differ. */
#define MAX_DISTANCE 3
#define MAX_LENGTH   127

/* Levenshtein's distance. */
static size_t distance(const char *a, const char *b)
{
	size_t row[MAX_LENGTH + 1], n = strlen(b);

	if (n > MAX_LENGTH)
		return SIZE_MAX;
	for (size_t k = 0; k <= n; k++)
		row[k] = k;
	for (size_t i = 0; a[i]; i++) {
		size_t before = row[0]++;

		for (size_t k = 0; k < n; k++) {
			size_t changed = before + (a[i] != b[k]);

			before = row[k + 1];
			row[k + 1] = MIN(changed, MIN(row[k], row[k + 1]) + 1);
		}
	}
	return row[n];
}

static bool is_similar(const char *name, const char *pattern)
{
	return (strlen(pattern) > 2 && strstr(name, pattern)) ||
	       distance(name, pattern) <= MIN(MAX_DISTANCE, strlen(pattern) / 2);
}

/* "function (place)": the function and the place; without a place, it is "". */
static void split_site(const char *site, char **ret_function, char **ret_place)
{
	const char *open = g_strrstr(site, " (");
	size_t n = strlen(site);

	if (!open || site[n - 1] != ')') {
		*ret_function = g_strdup(site);
		*ret_place = g_strdup("");
		return;
	}
	*ret_function = g_strndup(site, (gsize)(open - site));
	*ret_place = g_strndup(open + 2, (gsize)(site + n - 1 - open - 2));
}

static bool matches(const char *name, const char *pattern)
{
	return strcmp(name, pattern) == 0 || g_pattern_match_simple(pattern, name);
}

static bool site_matches(const char *site, const char *pattern)
{
	g_autofree char *function = NULL, *place = NULL;

	split_site(site, &function, &place);
	return matches(site, pattern) || matches(function, pattern) || matches(place, pattern);
}

static bool is_lock(const struct pp_replay_model *model, guint number)
{
	return ((const struct pp_replay_object *)model->objects->pdata[number])->kind ==
	       PP_REPLAY_OBJECT_LOCK;
}

bool *pp_change_find_locks(const struct pp_replay_model *model, const char *pattern,
			   struct pp_error *err)
{
	g_autofree bool *found = g_new0(bool, model->objects->len + 1);
	const char *similar = NULL;
	bool is_found = false;

	for (guint i = 0; i < model->objects->len; i++) {
		const struct pp_replay_object *object = model->objects->pdata[i];

		found[i] = is_lock(model, i) && matches(object->name, pattern);
		is_found |= found[i];
		if (is_lock(model, i) && !similar && is_similar(object->name, pattern))
			similar = object->name;
	}
	if (is_found)
		return g_steal_pointer(&found);
	if (similar)
		pp_error_add(err, -ENOENT, "no lock is named '%s'; there is '%s'", pattern,
			     similar);
	else
		pp_error_add(err, -ENOENT, "no lock is named '%s': see gprof-mt report locks",
			     pattern);
	return NULL;
}

bool *pp_change_find_sites(const struct pp_replay_model *model, const char *pattern,
			   struct pp_error *err)
{
	g_autofree bool *found = g_new0(bool, model->sites->len + 1);
	const char *similar = NULL;
	bool is_found = false;

	for (guint i = 0; i < model->sites->len; i++) {
		const char *site = model->sites->pdata[i];
		g_autofree char *function = NULL, *place = NULL;

		found[i + 1] = site_matches(site, pattern);
		is_found |= found[i + 1];
		split_site(site, &function, &place);
		if (!similar && (is_similar(function, pattern) || is_similar(place, pattern)))
			similar = site;
	}
	if (is_found)
		return g_steal_pointer(&found);
	if (similar)
		pp_error_add(err, -ENOENT, "no call site is named '%s'; there is '%s'", pattern,
			     similar);
	else
		pp_error_add(err, -ENOENT,
			     "no call site is named '%s': see gprof-mt report locks --wide",
			     pattern);
	return NULL;
}

const char *pp_change_site_name(const struct pp_replay_model *model, uint32_t site)
{
	return site ? model->sites->pdata[site - 1] : "an unknown call site";
}
