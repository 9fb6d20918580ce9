/* SPDX-License-Identifier: MIT */
/* Call sites are "function (file:line)"; lines of one file and function belong together. */
#include "cli/suggest/excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "core/source_file.h"

/* A longer section is cut in its middle. */
#define MAX_LINES 30

struct place {
	char *function, *file;
	int line;
};

static void place_done(struct place *place)
{
	g_free(place->function);
	g_free(place->file);
}

/* Returns false if the name has no line. */
static bool read_place(const char *name, struct place *ret)
{
	const char *open = name ? strrchr(name, '(') : NULL;
	const char *colon = open ? strrchr(open, ':') : NULL;

	*ret = (struct place){0};
	if (!colon || open == name || !g_str_has_suffix(name, ")"))
		return false;
	ret->line = atoi(colon + 1);
	ret->function = g_strndup(name, (gsize)(open - name) - 1);
	ret->file = g_strndup(open + 1, (gsize)(colon - open) - 1);
	return ret->line > 0;
}

/* The last line: that of the release, if it is behind the acquisition in the same function. */
static int last_line(const struct pp_suggest_site *site, const struct place *entry)
{
	struct place leave;
	int line = entry->line + 1;

	if (read_place(site->exit, &leave) && leave.line > entry->line &&
	    g_str_equal(leave.file, entry->file) && g_str_equal(leave.function, entry->function))
		line = leave.line;
	place_done(&leave);
	return line;
}

static bool is_conflicting(const struct pp_suggest_site *site, const struct place *entry, int line)
{
	for (guint i = 0; i < site->conflicting->len; i++) {
		struct place access;
		bool is_here = read_place(site->conflicting->pdata[i], &access) &&
			       access.line == line && g_str_equal(access.file, entry->file);

		place_done(&access);
		if (is_here)
			return true;
	}
	return false;
}

static void append_lines(GString *to, const struct pp_suggest_site *site, const struct place *entry,
			 char *const *lines, int n_lines)
{
	int last = last_line(site, entry), first = entry->line;
	bool is_known = site->exit && last > entry->line + 1;

	for (int i = MAX(first - 1, 1); i <= MIN(last + 1, n_lines); i++) {
		g_autofree char *line = pp_source_line(lines[i - 1]);
		char mark = i == first || (is_known && i == last) ? '>'
			    : is_conflicting(site, entry, i)	  ? '*'
								  : ' ';

		if (last - first > MAX_LINES && i > first + MAX_LINES / 2 &&
		    i < last - MAX_LINES / 2 && mark != '*') {
			if (i == first + MAX_LINES / 2 + 1)
				g_string_append(to, "        ...\n");
			continue;
		}
		g_string_append_printf(to, "%c %6d  %s\n", mark, i, line);
	}
}

char *pp_suggest_excerpt(const struct pp_suggest_site *site, GHashTable *sources,
			 const char **ret_why)
{
	struct place entry;
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	GString *excerpt;
	const char *path = g_hash_table_lookup(sources, site->name);
	bool has_line = read_place(site->name, &entry);

	*ret_why = "its line is not known";
	if (has_line && path)
		text = pp_source_file_read(path, true, ret_why);
	lines = text ? g_strsplit(text, "\n", -1) : NULL;
	if (lines && (guint)entry.line > g_strv_length(lines)) {
		*ret_why = "the file has fewer lines: it has changed since the recording";
		g_clear_pointer(&lines, g_strfreev);
	}
	excerpt = lines ? g_string_new(NULL) : NULL;
	if (excerpt)
		append_lines(excerpt, site, &entry, lines, (int)g_strv_length(lines));
	place_done(&entry);
	return excerpt ? g_string_free(excerpt, FALSE) : NULL;
}
