/* SPDX-License-Identifier: MIT */
/* Goes through both sets in order of addresses. */
#include "replay/reverse/lines.h"

#include <string.h>

struct adding {
	GArray *lines;
	const struct pp_process *process;
	const struct pp_namer *namer;
};

/* Names the place of a line in its module, if it has one. */
static struct pp_reversal_line locate(const struct adding *adding, uint64_t address)
{
	g_autofree char *build_id = NULL;
	g_autofree char *place =
	    adding->namer->place
		? adding->namer->place(adding->namer->data, adding->process, address, &build_id)
		: NULL;
	char *plus = place ? strrchr(place, '+') : NULL;
	struct pp_reversal_line line = {.offset = address};

	if (!plus)
		return line;
	line.offset = g_ascii_strtoull(plus + 1, NULL, 16);
	*plus = '\0';
	line.module = g_intern_string(place);
	return line;
}

static void add(const struct adding *adding, uint64_t address, uint64_t bytes,
		enum pp_reversal_owner owner)
{
	struct pp_reversal_line line;

	if (!bytes)
		return;
	line = locate(adding, address);
	line.bytes = bytes;
	line.owner = owner;
	g_array_append_val(adding->lines, line);
}

static void add_alone(const struct adding *adding, const struct pp_access_line *line,
		      enum pp_reversal_owner owner)
{
	add(adding, line->address, line->written, owner);
}

static void add_both(const struct adding *adding, const struct pp_access_line *first,
		     const struct pp_access_line *second)
{
	uint64_t both = pp_access_conflicting(first, second);

	add(adding, first->address, both, PP_REVERSAL_BOTH);
	add(adding, first->address, first->written & ~both, PP_REVERSAL_FIRST);
	add(adding, first->address, second->written & ~both, PP_REVERSAL_SECOND);
}

GArray *pp_reversal_lines(const struct pp_access_set *first, const struct pp_access_set *second,
			  const struct pp_process *process, const struct pp_namer *namer)
{
	const struct adding adding = {g_array_new(FALSE, FALSE, sizeof(struct pp_reversal_line)),
				      process, namer};
	unsigned i = 0, k = 0;

	while (i < first->n || k < second->n) {
		const struct pp_access_line *a = i < first->n ? &first->lines[i] : NULL;
		const struct pp_access_line *b = k < second->n ? &second->lines[k] : NULL;

		if (a && b && a->address == b->address)
			add_both(&adding, a, b);
		else if (!b || (a && a->address < b->address))
			add_alone(&adding, a, PP_REVERSAL_FIRST);
		else
			add_alone(&adding, b, PP_REVERSAL_SECOND);
		i += a && (!b || a->address <= b->address);
		k += b && (!a || b->address <= a->address);
	}
	return adding.lines;
}

/* --- comparison ------------------------------------------------------------------------------- */

static const struct pp_reversal_line *line_at(const GArray *lines, guint i)
{
	return &g_array_index(lines, struct pp_reversal_line, i);
}

static const struct pp_reversal_line *next_of(const GArray *lines, guint *i,
					      enum pp_reversal_owner owner)
{
	while (*i < lines->len)
		if (line_at(lines, (*i)++)->owner == owner)
			return line_at(lines, *i - 1);
	return NULL;
}

static bool is_same_place(const struct pp_reversal_line *a, const struct pp_reversal_line *b)
{
	return a->module == b->module && a->offset == b->offset;
}

bool pp_reversal_lines_equal(const GArray *a, const GArray *b, enum pp_reversal_owner owner)
{
	guint i = 0, k = 0;

	for (;;) {
		const struct pp_reversal_line *x = next_of(a, &i, owner);
		const struct pp_reversal_line *y = next_of(b, &k, owner);

		if (!x || !y)
			return !x && !y;
		if (!is_same_place(x, y) || x->bytes != y->bytes)
			return false;
	}
}

bool pp_reversal_lines_meet(const GArray *a, const GArray *b)
{
	const struct pp_reversal_line *x, *y;

	for (guint i = 0; (x = next_of(a, &i, PP_REVERSAL_BOTH));)
		for (guint k = 0; (y = next_of(b, &k, PP_REVERSAL_BOTH));)
			if (is_same_place(x, y) && (x->bytes & y->bytes))
				return true;
	return false;
}
