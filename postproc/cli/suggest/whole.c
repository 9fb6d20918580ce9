/* SPDX-License-Identifier: MIT */
/*
 * Machine code tells for each line where it may go, but an engineer moves statements: a loop or a
 * condition only with all that belongs to it.  A statement moves if all of its lines with code may
 * go to the same place, and neither leaves the section; and then only together with all statements
 * between it and the lock, or the unlock.
 */
#include "cli/suggest/whole.h"

#include "core/source_file.h"
#include "suggest/place.h"
#include "suggest/statements.h"

enum moves { STAYS, BEFORE, BEHIND, NO_CODE };

static struct pp_suggest_line *line_at(const GArray *lines, guint i)
{
	return &g_array_index(lines, struct pp_suggest_line, i);
}

static const struct pp_suggest_statement *statement_at(const GArray *statements, guint i)
{
	return &g_array_index(statements, struct pp_suggest_statement, i);
}

static bool has_exit(const struct pp_suggest_extent *extent,
		     const struct pp_suggest_statement *statement)
{
	for (int number = statement->first; number <= statement->last; number++)
		if (g_hash_table_contains(extent->exits, GINT_TO_POINTER(number)))
			return true;
	return false;
}

static enum moves moves_of(const struct pp_suggest_extent *extent,
			   const struct pp_suggest_statement *statement)
{
	static const enum moves of_place[] = {[PP_SUGGEST_STAYS] = STAYS,
					      [PP_SUGGEST_GOES_BEFORE] = BEFORE,
					      [PP_SUGGEST_GOES_BEHIND] = BEHIND};
	enum moves moves = NO_CODE;

	if (statement->jumps || has_exit(extent, statement))
		return STAYS;
	for (guint i = 0; i < extent->lines->len; i++) {
		const struct pp_suggest_line *line = line_at(extent->lines, i);
		enum moves of_line = of_place[line->place];

		if (line->number < statement->first || line->number > statement->last)
			continue;
		if (moves != NO_CODE && moves != of_line)
			return STAYS;
		moves = of_line;
	}
	return moves;
}

/* The number of statements at the begin that may go before the lock. */
static guint count_before(const struct pp_suggest_extent *extent, const GArray *statements)
{
	guint n = 0;

	for (guint i = 0; i < statements->len; i++) {
		enum moves moves = moves_of(extent, statement_at(statements, i));

		if (moves == BEFORE)
			n = i + 1;
		else if (moves != NO_CODE)
			break;
	}
	return n;
}

/* The number of the first of those at the end that may go behind the unlock. */
static guint first_behind(const struct pp_suggest_extent *extent, const GArray *statements,
			  guint end)
{
	guint first = end;

	for (guint i = end; i-- > 0;) {
		enum moves moves = moves_of(extent, statement_at(statements, i));

		if (moves == BEHIND)
			first = i;
		else if (moves != NO_CODE)
			break;
	}
	return first;
}

/* All lines of the statements, also those without code, as an `else`. */
static void add_lines(GArray *to, const struct pp_suggest_extent *extent, const GArray *statements,
		      guint from, guint end, enum pp_suggest_place place)
{
	for (guint i = from; i < end; i++)
		for (int number = statement_at(statements, i)->first;
		     number <= statement_at(statements, i)->last; number++) {
			struct pp_suggest_line line = {number, place, true};

			for (guint k = 0; k < extent->lines->len; k++)
				if (line_at(extent->lines, k)->number == number)
					line.is_seen = line_at(extent->lines, k)->is_seen;
			g_array_append_val(to, line);
		}
}

static bool has_line(const GArray *lines, int number)
{
	for (guint i = 0; i < lines->len; i++)
		if (line_at(lines, i)->number == number)
			return true;
	return false;
}

static int by_number(const void *x, const void *y)
{
	const struct pp_suggest_line *a = x, *b = y;

	return (a->number > b->number) - (a->number < b->number);
}

/* Statements of the section end with that of its last release. */
static guint count_inside(const struct pp_suggest_extent *extent, const GArray *statements)
{
	for (guint i = statements->len; i-- > 0;)
		if (has_exit(extent, statement_at(statements, i)))
			return i;
	return statements->len;
}

static void move_statements(struct pp_suggest_extent *extent, const GArray *statements)
{
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct pp_suggest_line));
	guint n = count_inside(extent, statements), n_before = count_before(extent, statements);

	n_before = MIN(n_before, n);
	add_lines(lines, extent, statements, 0, n_before, PP_SUGGEST_GOES_BEFORE);
	add_lines(lines, extent, statements, MAX(n_before, first_behind(extent, statements, n)), n,
		  PP_SUGGEST_GOES_BEHIND);
	for (guint i = 0; i < extent->lines->len; i++) {
		struct pp_suggest_line line = *line_at(extent->lines, i);

		line.place = PP_SUGGEST_STAYS;
		if (!has_line(lines, line.number))
			g_array_append_val(lines, line);
	}
	g_array_sort(lines, by_number);
	g_array_unref(extent->lines);
	extent->lines = lines;
}

static int last_line(const struct pp_suggest_extent *extent)
{
	GHashTableIter at;
	void *exit;
	int last = 0;

	g_hash_table_iter_init(&at, extent->exits);
	while (g_hash_table_iter_next(&at, &exit, NULL))
		last = MAX(last, GPOINTER_TO_INT(exit));
	for (guint i = 0; i < extent->lines->len; i++)
		last = MAX(last, line_at(extent->lines, i)->number);
	return last;
}

void pp_suggest_keep_whole(struct pp_suggest_site *site, GHashTable *sources)
{
	struct pp_suggest_extent *extent = &site->extent;
	const char *path = g_hash_table_lookup(sources, site->name);
	g_autoptr(GArray) statements = NULL;
	struct pp_suggest_code entry;
	g_autofree char *text = NULL;

	if (!extent->lines || !extent->exits)
		return;
	pp_suggest_code_read(site->name, &entry);
	if (path)
		text = pp_source_file_read(path, false, &extent->no_source);
	else
		extent->no_source = "debug information does not name its file";
	if (text) {
		statements = pp_suggest_statements(text, entry.line + 1, last_line(extent));
		move_statements(extent, statements);
	}
	pp_suggest_code_done(&entry);
}
