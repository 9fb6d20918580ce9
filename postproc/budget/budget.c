/* SPDX-License-Identifier: MIT */
/* Parses budgets: the quantity is the one with the longest words that the text begins with. */
#include "budget/budget.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/text/duration.h"

/* A file of budgets is a few lines; a larger one is a mistake. */
#define MAX_FILE_BYTES (1 << 20)

void pp_budget_free(void *data)
{
	struct pp_budget *budget = data;

	if (!budget)
		return;
	g_free(budget->text);
	g_free(budget->name);
	g_free(budget);
}

/* --- the quantity and its name -------------------------------------------------------------- */

/*
 * The text behind the words; NULL: it does not begin with them.  Letters may be in either case, and
 * there may be any number of blanks.
 */
static const char *behind_words(const char *text, const char *words)
{
	for (; *words; words++) {
		if (*words == ' ') {
			if (!g_ascii_isspace(*text))
				return NULL;
			while (g_ascii_isspace(*text))
				text++;
		} else if (g_ascii_tolower(*text++) != g_ascii_tolower(*words)) {
			return NULL;
		}
	}
	if (*text && !g_ascii_isspace(*text))
		return NULL;
	while (g_ascii_isspace(*text))
		text++;
	return text;
}

static char *list_of_quantities(void)
{
	const struct pp_budget_quantity *quantity = pp_budget_quantities;
	GString *list = g_string_new(NULL);

	for (; quantity->words; quantity++) {
		if (list->len)
			g_string_append(list, quantity[1].words ? ", " : " or ");
		g_string_append(list, quantity->words);
		if (quantity->name)
			g_string_append_printf(list, " %s",
					       quantity->name == PP_BUDGET_OBJECT     ? "LOCK"
					       : quantity->name == PP_BUDGET_FUNCTION ? "FUNCTION"
										      : "THREAD");
	}
	return g_string_free(list, FALSE);
}

/* The quantity with the longest words that the text begins with; NULL: none.  *ret_rest: the text
 * behind them. */
static const struct pp_budget_quantity *find_quantity(const char *text, const char **ret_rest)
{
	const struct pp_budget_quantity *found = NULL;

	for (const struct pp_budget_quantity *one = pp_budget_quantities; one->words; one++) {
		const char *behind = behind_words(text, one->words);

		if (behind && (!found || strlen(one->words) > strlen(found->words))) {
			found = one;
			*ret_rest = behind;
		}
	}
	return found;
}

/* Returns the quantity; NULL after an error. */
static const struct pp_budget_quantity *parse_quantity(struct pp_budget *budget, const char *left,
						       struct pp_error *err)
{
	const char *rest = NULL;
	const struct pp_budget_quantity *quantity = find_quantity(left, &rest);
	g_autofree char *list = NULL;

	if (!quantity || (!quantity->name && *rest)) {
		list = list_of_quantities();
		pp_error_add(err, -EINVAL, "no quantity '%s' (expected %s)", left, list);
		return NULL;
	}
	if (quantity->name && !*rest) {
		pp_error_add(err, -EINVAL, "'%s' needs the name of the %s", left,
			     pp_budget_name_kind(quantity->name));
		return NULL;
	}
	if (quantity->name)
		budget->name = g_strdup(rest);
	return quantity;
}

/* --- the bound ------------------------------------------------------------------------------ */

/* A number without sign, and the text behind it.  Returns false if there is none. */
static bool read_number(const char *text, double *ret, const char **ret_rest)
{
	char *end;

	/* strtod() also accepts signs, hexadecimal, "inf" and leading blanks; refuse these. */
	*ret = g_ascii_strtod(text, &end);
	if (end == text || strspn(text, "0123456789.") != (size_t)(end - text) || !isfinite(*ret))
		return false;
	while (g_ascii_isspace(*end))
		end++;
	*ret_rest = end;
	return true;
}

static int bad_bound(const struct pp_budget *budget, const char *bound, struct pp_error *err)
{
	bool has_share = budget->quantity->whole && !budget->is_change;

	if (budget->quantity->unit == PP_BUDGET_COUNT)
		return pp_error_add(err, -EINVAL,
				    "invalid bound '%s' of a count (expected 100%s, +2 %% or +10)",
				    bound, has_share ? ", 5 %" : "");
	return pp_error_add(err, -EINVAL,
			    "invalid bound '%s' of a time (expected 10 ms%s, +2 %% or +10 ms)",
			    bound, has_share ? ", 5 %" : "");
}

static int parse_bound(struct pp_budget *budget, const char *bound, struct pp_error *err)
{
	const char *number = bound, *rest;
	double value, sign = *bound == '-' ? -1 : 1;
	int64_t ns;

	budget->is_change = *bound == '+' || *bound == '-';
	number += budget->is_change;
	if (!read_number(number, &value, &rest))
		return bad_bound(budget, bound, err);
	budget->is_percentage = g_str_equal(rest, "%");
	if (budget->is_percentage && !budget->is_change && !budget->quantity->whole)
		return pp_error_add(err, -EINVAL,
				    "'%s' is a share of nothing: write +%s for the change from A "
				    "to B",
				    bound, bound);
	if (!budget->is_percentage && budget->quantity->unit == PP_BUDGET_NS) {
		g_autofree char *joined =
		    g_strdup_printf("%.*s%s", (int)strspn(number, "0123456789."), number, rest);

		if (!pp_duration_read(joined, NULL, &ns))
			return bad_bound(budget, bound, err);
		value = (double)ns;
	} else if (!budget->is_percentage && *rest) {
		return bad_bound(budget, bound, err);
	}
	budget->bound = sign * value;
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

struct pp_budget *pp_budget_parse(const char *text, struct pp_error *err)
{
	struct pp_budget *budget = g_new0(struct pp_budget, 1);
	const char *less;
	g_autofree char *left = NULL, *bound = NULL;

	budget->text = g_strstrip(g_strdup(text));
	less = strrchr(budget->text, '<');
	if (!less) {
		pp_error_add(err, -EINVAL, "'%s' has no bound (expected QUANTITY < BOUND)",
			     budget->text);
		pp_budget_free(budget);
		return NULL;
	}
	left = g_strstrip(g_strndup(budget->text, (gsize)(less - budget->text)));
	bound = g_strstrip(g_strdup(less[1] == '=' ? less + 2 : less + 1));
	budget->quantity = parse_quantity(budget, left, err);
	if (!budget->quantity || parse_bound(budget, bound, err)) {
		pp_budget_free(budget);
		return NULL;
	}
	return budget;
}

int pp_budget_read_file(const char *path, GPtrArray *budgets, GPtrArray *errors,
			struct pp_error *err)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	GError *error = NULL;
	gsize n_bytes;

	if (!g_file_get_contents(path, &text, &n_bytes, &error)) {
		pp_error_add(err, -EIO, "%s", error->message);
		g_error_free(error);
		return -EIO;
	}
	if (n_bytes > MAX_FILE_BYTES || memchr(text, '\0', n_bytes))
		return pp_error_add(err, -EINVAL, "%s: not a file of budgets, one per line", path);
	lines = g_strsplit(text, "\n", -1);
	for (guint i = 0; lines[i]; i++) {
		struct pp_error line_err = PP_ERROR_INIT;
		struct pp_budget *budget;
		char *line = g_strstrip(lines[i]);

		if (!*line || *line == '#')
			continue;
		budget = pp_budget_parse(line, &line_err);
		if (budget) {
			g_ptr_array_add(budgets, budget);
		} else {
			g_autofree char *why = pp_error_text(&line_err);

			g_ptr_array_add(errors, g_strdup_printf("%s:%u: %s", path, i + 1, why));
		}
		pp_error_done(&line_err);
	}
	return 0;
}
