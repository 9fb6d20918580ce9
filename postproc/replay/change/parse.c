/* SPDX-License-Identifier: MIT */
/*
 * The text is split at its key words, from the right: a name may contain blanks, and so no name has
 * to be quoted.
 */
#include "replay/change/change.h"

#include <errno.h>
#include <string.h>

#define MAX_CPUS 1024

/* Splits the text at the last `word`, and removes blanks there. Returns the part behind, or NULL.
 */
static char *split_at(char *text, const char *word)
{
	char *found = g_strrstr(text, word);

	if (!found)
		return NULL;
	*found = '\0';
	g_strchomp(text);
	return g_strchug(found + strlen(word));
}

/* The patterns, separated by commas outside of the brackets of C++ names. */
static GPtrArray *take_sites(const char *text)
{
	GPtrArray *sites = g_ptr_array_new_with_free_func(g_free);
	const char *begin = text;
	int depth = 0;

	for (const char *at = text;; at++) {
		depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
		if (*at && (*at != ',' || depth > 0))
			continue;
		g_ptr_array_add(sites, g_strstrip(g_strndup(begin, (gsize)(at - begin))));
		if (!*at)
			return sites;
		begin = at + 1;
	}
}

static GPtrArray *take_groups(const char *text)
{
	GPtrArray *groups = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
	g_auto(GStrv) parts = g_strsplit(text, "/", -1);

	for (char **part = parts; *part; part++)
		g_ptr_array_add(groups, take_sites(*part));
	return groups;
}

static bool has_empty(const GPtrArray *groups)
{
	for (guint i = 0; i < groups->len; i++) {
		const GPtrArray *group = groups->pdata[i];

		for (guint k = 0; k < group->len; k++)
			if (!*(const char *)group->pdata[k])
				return true;
	}
	return false;
}

static bool take_number(const char *text, uint32_t max, uint32_t *ret)
{
	guint64 n;

	if (!g_ascii_string_to_unsigned(text, 10, 1, max, &n, NULL))
		return false;
	*ret = (uint32_t)n;
	return true;
}

/* "30 %", "30%" or "30" */
static bool take_share(char *text, double *ret)
{
	size_t n = strlen(text);
	char *end;

	if (n > 0 && text[n - 1] == '%')
		text[n - 1] = '\0';
	g_strchomp(text);
	if (!g_ascii_isdigit(*text))
		return false;
	*ret = g_ascii_strtod(text, &end) / 100;
	return !*end && *ret >= 0 && *ret <= 1;
}

/* --- the kinds -------------------------------------------------------------------------------- */

static bool take_subject(struct pp_change *change, char *rest)
{
	change->subject = g_strdup(rest);
	return *rest != '\0';
}

static const struct {
	const char *word;
	enum pp_change_split_by by;
} split_words[] = {
    {"site", PP_CHANGE_BY_SITE},
    {"object", PP_CHANGE_BY_OBJECT},
    {"thread", PP_CHANGE_BY_THREAD},
};

static bool take_split(struct pp_change *change, char *rest)
{
	char *by = split_at(rest, " by "), *into = by ? NULL : split_at(rest, " into ");

	if ((!by && !into) || !take_subject(change, rest))
		return false;
	if (into) {
		change->by = PP_CHANGE_AT_RANDOM;
		return take_number(into, PP_CHANGE_MAX_LOCKS, &change->n) && change->n > 1;
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(split_words); i++) {
		change->by = split_words[i].by;
		if (strcmp(by, split_words[i].word) == 0)
			return true;
	}
	change->by = PP_CHANGE_BY_GROUP;
	change->groups = take_groups(by);
	return !has_empty(change->groups);
}

static bool take_rwlock(struct pp_change *change, char *rest)
{
	char *readers = split_at(rest, " readers=");

	if (!take_subject(change, rest))
		return false;
	if (!readers)
		return true;
	change->groups = take_groups(readers);
	return !has_empty(change->groups);
}

static bool take_shrink(struct pp_change *change, char *rest)
{
	char *to = split_at(rest, " to ");

	change->to_conflicts = to && strcmp(to, "conflicts") == 0;
	return to && (change->to_conflicts || take_share(to, &change->share)) &&
	       take_subject(change, rest);
}

static bool take_faster(struct pp_change *change, char *rest)
{
	char *by = split_at(rest, " by ");

	return by && take_share(by, &change->share) && take_subject(change, rest);
}

static bool take_threads(struct pp_change *change, char *rest)
{
	char *of = split_at(rest, " of ");

	return take_number(rest, PP_CHANGE_MAX_THREADS, &change->n) &&
	       (!of || take_subject(change, of));
}

static bool take_cpus(struct pp_change *change, char *rest)
{
	return take_number(rest, MAX_CPUS, &change->n);
}

static const struct {
	const char *word;
	bool (*take)(struct pp_change *change, char *rest);
	const char *form;
} kinds[PP_N_CHANGES] = {
    [PP_CHANGE_DROP] = {"drop", take_subject, "drop LOCK"},
    [PP_CHANGE_SPIN] = {"spin", take_subject, "spin LOCK"},
    [PP_CHANGE_SPLIT] = {"split", take_split,
			 "split LOCK by site, by object, by thread, by SITES/SITES, or into N"},
    [PP_CHANGE_RWLOCK] = {"rwlock", take_rwlock, "rwlock LOCK, or rwlock LOCK readers=SITE,..."},
    [PP_CHANGE_SHRINK] = {"shrink", take_shrink,
			  "shrink SITE to F %, with F from 0 to 100, or to conflicts"},
    [PP_CHANGE_FASTER] = {"faster", take_faster, "faster FUNCTION by F %, with F from 0 to 100"},
    [PP_CHANGE_THREADS] = {"threads", take_threads, "threads N of NAME, with N from 1 to 1024"},
    [PP_CHANGE_CPUS] = {"cpus", take_cpus, "cpus P, with P from 1 to 1024"},
};

struct pp_change *pp_change_parse(const char *text, struct pp_error *err)
{
	g_autofree char *copy = g_strstrip(g_strdup(text));
	size_t n = strcspn(copy, " ");
	char *rest = g_strchug(copy + n);
	struct pp_change *change;

	for (enum pp_change_kind kind = 0; kind < PP_N_CHANGES; kind++) {
		if (strlen(kinds[kind].word) != n || strncmp(copy, kinds[kind].word, n) != 0)
			continue;
		change = g_new0(struct pp_change, 1);
		change->kind = kind;
		change->text = g_strdup(text);
		if (kinds[kind].take(change, rest))
			return change;
		pp_change_free(change);
		pp_error_add(err, -EINVAL, "'%s' (expected %s)", text, kinds[kind].form);
		return NULL;
	}
	pp_error_add(err, -EINVAL,
		     "'%s' (expected drop, spin, split, rwlock, shrink, faster, threads or cpus)",
		     text);
	return NULL;
}

bool pp_change_needs_accesses(const struct pp_change *change)
{
	return change->by == PP_CHANGE_BY_OBJECT ||
	       (change->kind == PP_CHANGE_RWLOCK && !change->groups) ||
	       pp_change_needs_spans(change);
}

bool pp_change_needs_spans(const struct pp_change *change)
{
	return change->to_conflicts;
}

void pp_change_free(struct pp_change *change)
{
	if (!change)
		return;
	g_clear_pointer(&change->groups, g_ptr_array_unref);
	g_free(change->subject);
	g_free(change->text);
	g_free(change);
}
