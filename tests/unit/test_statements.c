/* SPDX-License-Identifier: MIT */
/* The statements of C and C++ texts, by hand; and of texts that are cut or changed, without harm.
 */
#include "check.h"

#include "suggest/statements.h"

/* In `lines`: "2-3 5j": statements by their first and last lines; j: it jumps. */
static const struct {
	const char *text, *lines;
} cases[] = {
    {"a();\nb();\n\nc(1,\n  2);", "1 2 4-5"},
    {"for (int i = 0; i < n; i++)\n  a(i);\nb();", "1-2 3"},
    {"for (int i = 0;\n     i < n;\n     i++) {\n  a(i);\n}\nb();", "1-5 6"},
    {"if (a)\n  b();\nelse if (c)\n  d();\nelse\n  e();\nf();", "1-6 7"},
    {"if (a) {\n  b();\n} else {\n  c();\n}\nx();", "1-5 6"},
    {"if constexpr (a)\n  b();\nc();", "1-2 3"},
    {"while (a)\n  if (b)\n    c();\n  else\n    break;\nx();", "1-5 6"},
    {"do\n  a();\nwhile (b);\nc();", "1-3 4"},
    {"do {\n  continue;\n} while (b);\nc();", "1-3 4"},
    {"switch (a) {\ncase 1:\n  b();\n  break;\ndefault:\n  c();\n}\nx();", "1-7 8"},
    {"try {\n  a();\n} catch (const T &e) {\n  b();\n} catch (...) {\n}\nc();", "1-6 7"},
    {"{\n  a();\n  b();\n}\nc();", "1-4 5"},
    {"int a[] = {\n  1,\n  2,\n};\nb();", "1-4 5"},
    {"auto f = [&](int x) {\n  g(x);\n};\nb();", "1-3 4"},
    {"list_for_each (a, b)\n  c(a);\nx();", "1-2 3"},
    {"list_for_each (a, b) {\n  continue;\n}\nx();", "1-3 4"},
    {"a(); b(\n);\nc();", "1-2 3"},
    {"again:\n  a();\ngoto again;\nb();", "1 2 3j 4"},
    {"if (!p)\n  return;\nb();", "1-2j 3"},
    {"if (!p)\n  break;\nb();", "1-2j 3"},
    {"for (;;)\n  continue;\nif (a)\n  continue;", "1-2 3-4j"},
    {"throw a;", "1j"},
    {"a(\";\", ';', '\\'', \"\\\"\");\nb();", "1 2"},
    {"a(); // b(;\n/* c(\n; */ d();\ne();", "1 3 4"},
    {"a(R\"x(;\")\n)x\");\nb();", "1-2 3"},
    {"a(1'000'000);\nb('a');", "1 2"},
    {"#define A(x) \\\n  { x\na();\n#if B {\nb();\n#endif\nc();", "3 5 7"},
    {"std::a::b();\nc = d ? e : f;\nx::y z;", "1 2 3"},
    /* The lines begin in a block, which ends. */
    {"a();\n}\nb();\n}", "1 3"},
    {"a();\n} else {\n  b();\n}\nc();", "1 2-4 5"},
    /* In the middle of a call. */
    {"&lock);\na();", "1 2"},
    /* Without an end. */
    {"a();\nif (b", "1 2"},
    {"for (;;) {\n  a();", "1-2"},
    {"/* a", ""},
    {"", ""},
};

static char *words_of(const char *text, int from, int to)
{
	g_autoptr(GArray) all = pp_suggest_statements(text, from, to);
	GString *words = g_string_new(NULL);

	for (guint i = 0; i < all->len; i++) {
		const struct pp_suggest_statement *at =
		    &g_array_index(all, struct pp_suggest_statement, i);

		g_string_append_printf(words, "%s%d", i ? " " : "", at->first);
		if (at->last > at->first)
			g_string_append_printf(words, "-%d", at->last);
		g_string_append(words, at->jumps ? "j" : "");
	}
	return g_string_free(words, FALSE);
}

/* Statements are in order, and apart. */
static void check_order(const char *text)
{
	g_autoptr(GArray) all = pp_suggest_statements(text, 1, 1000);
	int last = 0;

	for (guint i = 0; i < all->len; i++) {
		const struct pp_suggest_statement *at =
		    &g_array_index(all, struct pp_suggest_statement, i);

		CHECK(at->first > last);
		CHECK(at->last >= at->first);
		last = at->last;
	}
}

/* Takes parts of all cases, which it joins in any order. */
static void test_random(GRand *rand)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (int n = g_rand_int_range(rand, 1, 8); n-- > 0;) {
		const char *from = cases[g_rand_int_range(rand, 0, G_N_ELEMENTS(cases))].text;
		int len = (int)strlen(from), begin = g_rand_int_range(rand, 0, len + 1);

		g_string_append_len(text, from + begin, g_rand_int_range(rand, 0, len - begin + 1));
	}
	check_order(text->str);
}

int main(void)
{
	GRand *rand = g_rand_new_with_seed(1);
	g_autofree char *some = words_of("a();\nb();\nc(\n);\nx();", 2, 3);
	g_autofree char *deep = g_strnfill(100000, '{'), *of_deep = words_of(deep, 1, 1);

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *lines = words_of(cases[i].text, 1, 1000);

		if (strcmp(lines, cases[i].lines) != 0) {
			fprintf(stderr, "expected %s, got %s of\n%s\n", cases[i].lines, lines,
				cases[i].text);
			return 1;
		}
	}
	CHECK_STR(some, "2 3-4");
	CHECK_STR(of_deep, "1");
	for (unsigned i = 0; i < 20000; i++)
		test_random(rand);
	g_rand_free(rand);
	return 0;
}
