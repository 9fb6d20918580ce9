/* SPDX-License-Identifier: MIT */
/* Call sites are "function (file:line)"; lines of one file and function belong together. */
#include "cli/suggest/excerpt.h"

#include "core/source_file.h"
#include "suggest/place.h"

/* A longer section is cut in its middle. */
#define MAX_LINES 30

/* The last line: that of the release, if it is behind the acquisition in the same function. */
static int last_line(const struct pp_suggest_site *site, const struct pp_suggest_code *entry)
{
	struct pp_suggest_code leave;
	int line = entry->line + 1;

	if (pp_suggest_code_read(site->exit, &leave) && leave.line > entry->line &&
	    g_str_equal(leave.file, entry->file) && g_str_equal(leave.function, entry->function))
		line = leave.line;
	pp_suggest_code_done(&leave);
	return line;
}

static bool is_conflicting(const struct pp_suggest_site *site, const struct pp_suggest_code *entry,
			   int line)
{
	for (guint i = 0; i < site->conflicting->len; i++) {
		struct pp_suggest_code access;
		bool is_here = pp_suggest_code_read(site->conflicting->pdata[i], &access) &&
			       access.line == line && g_str_equal(access.file, entry->file);

		pp_suggest_code_done(&access);
		if (is_here)
			return true;
	}
	return false;
}

/* '^', 'v': the line may be moved before the lock, behind the unlock; ' ': it has to stay. */
static char mark_of_extent(const struct pp_suggest_site *site, int number)
{
	const GArray *lines = site->extent.lines;

	for (guint i = 0; lines && i < lines->len; i++) {
		const struct pp_suggest_line *line =
		    &g_array_index(lines, struct pp_suggest_line, i);

		if (line->number == number)
			return line->place == PP_SUGGEST_GOES_BEFORE   ? '^'
			       : line->place == PP_SUGGEST_GOES_BEHIND ? 'v'
								       : ' ';
	}
	return ' ';
}

static void append_lines(GString *to, const struct pp_suggest_site *site,
			 const struct pp_suggest_code *entry, char *const *lines, int n_lines,
			 bool has_moves)
{
	int last = last_line(site, entry), first = entry->line;
	bool is_known = site->exit && last > entry->line + 1;

	for (int i = MAX(first - 1, 1); i <= MIN(last + 1, n_lines); i++) {
		g_autofree char *line = pp_source_line(lines[i - 1]);
		char mark = i == first || (is_known && i == last) ? '>'
			    : is_conflicting(site, entry, i)	  ? '*'
			    : has_moves				  ? mark_of_extent(site, i)
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

char *pp_suggest_excerpt(const struct pp_suggest_site *site, GHashTable *sources, bool has_moves,
			 const char **ret_why)
{
	struct pp_suggest_code entry;
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	GString *excerpt;
	const char *path = g_hash_table_lookup(sources, site->name);
	bool has_line = pp_suggest_code_read(site->name, &entry);

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
		append_lines(excerpt, site, &entry, lines, (int)g_strv_length(lines), has_moves);
	pp_suggest_code_done(&entry);
	return excerpt ? g_string_free(excerpt, FALSE) : NULL;
}
