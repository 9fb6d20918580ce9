/* SPDX-License-Identifier: MIT */
/*
 * JUnit's XML.  Names are made printable first, since XML 1.0 has no way to write most control
 * characters, and then escaped.
 */
#include "budget/junit.h"

#include <stdbool.h>
#include <string.h>

#include "budget/results.h"
#include "core/text/printable.h"

/* The caller frees the text. */
static char *xml_text(const char *text)
{
	g_autofree char *printable = pp_printable(g_strdup(text));

	/* U+FFFE and U+FFFF are the only other characters that XML excludes. */
	for (char *at = printable; (at = strstr(at, "\xef\xbf"));) {
		bool is_excluded = at[2] == '\xbe' || at[2] == '\xbf';

		for (unsigned i = 0; i < 3; i++, at++)
			if (is_excluded)
				*at = '?';
	}
	return g_markup_escape_text(printable, -1);
}

/* Appends an attribute with a leading blank. */
static void append_attribute(GString *to, const char *name, const char *value)
{
	g_autofree char *escaped = xml_text(value);

	g_string_append_printf(to, " %s=\"%s\"", name, escaped);
}

static void append_counts(GString *to, const GArray *results)
{
	g_string_append_printf(to, " tests=\"%u\" failures=\"%u\" errors=\"%u\"", results->len,
			       pp_budget_count(results, PP_BUDGET_EXCEEDED),
			       pp_budget_count(results, PP_BUDGET_NOT_MEASURED));
}

static void append_case(GString *to, const struct pp_budget_result *result)
{
	g_autofree char *sentence = pp_budget_sentence(result);
	const char *element = result->verdict == PP_BUDGET_EXCEEDED	  ? "failure"
			      : result->verdict == PP_BUDGET_NOT_MEASURED ? "error"
									  : NULL;

	g_string_append(to, "    <testcase");
	append_attribute(to, "classname", "gprof-mt.budget");
	append_attribute(to, "name", result->budget->text);
	g_string_append(to, ">\n      <");
	if (element) {
		g_string_append(to, element);
		append_attribute(to, "type", pp_budget_verdicts[result->verdict]);
		append_attribute(to, "message", sentence);
		g_string_append(to, "/>\n");
	} else {
		g_autofree char *escaped = xml_text(sentence);

		g_string_append_printf(to, "system-out>%s: %s</system-out>\n",
				       pp_budget_verdicts[result->verdict], escaped);
	}
	g_string_append(to, "    </testcase>\n");
}

void pp_budget_append_junit(GString *to, const GArray *results)
{
	g_string_append(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
	append_counts(to, results);
	g_string_append(to, ">\n  <testsuite name=\"gprof-mt diff\"");
	append_counts(to, results);
	g_string_append(to, ">\n");
	for (guint i = 0; i < results->len; i++)
		append_case(to, &g_array_index(results, struct pp_budget_result, i));
	g_string_append(to, "  </testsuite>\n</testsuites>\n");
}
