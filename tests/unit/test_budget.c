/* SPDX-License-Identifier: MIT */
/*
 * Budgets by hand: bounds of each kind, lines that are wrong, verdicts of known samples; and of
 * random runs whose mean is the limit, at most 2.5 % are found to exceed it.
 */
#include <math.h>

#include "budget/junit.h"
#include "budget/results.h"
#include "check.h"

static struct pp_budget *parse(const char *text)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_budget *budget = pp_budget_parse(text, &err);
	g_autofree char *why = pp_error_text(&err);

	if (!budget)
		fprintf(stderr, "'%s': %s\n", text, why);
	CHECK(budget);
	pp_error_done(&err);
	return budget;
}

static void check_parsed(const char *text, const char *words, const char *name, bool is_change,
			 bool is_percentage, double bound)
{
	struct pp_budget *budget = parse(text);

	CHECK_STR(budget->quantity->words, words);
	CHECK(g_strcmp0(budget->name, name) == 0);
	CHECK(budget->is_change == is_change);
	CHECK(budget->is_percentage == is_percentage);
	CHECK(budget->bound == bound);
	pp_budget_free(budget);
}

static void test_good_lines(void)
{
	check_parsed("run time < +3 %", "run time", NULL, true, true, 3);
	check_parsed("  Run  Time<-0.5%\t", "run time", NULL, true, true, -0.5);
	check_parsed("cpu time <= 1.5 s", "CPU time", NULL, false, false, 1.5e9);
	check_parsed("waits < 2 %", "waits", NULL, false, true, 2);
	check_parsed("waits for lock_a < 10ms", "waits for", "lock_a", false, false, 1e7);
	check_parsed("waits for lock_a < +10 us", "waits for", "lock_a", true, false, 1e4);
	check_parsed("blame of a b < 5 %", "blame of", "a b", false, true, 5);
	check_parsed("calls of map<int, 5>::get(int) < 100", "calls of", "map<int, 5>::get(int)",
		     false, false, 100);
	check_parsed("calls of f < +0 %", "calls of", "f", true, true, 0);
	check_parsed("acquisitions of f < +10", "acquisitions of", "f", true, false, 10);
	check_parsed("contended acquisitions of f < 10%", "contended acquisitions of", "f", false,
		     true, 10);
	check_parsed("longest wait for l < 1 ms", "longest wait for", "l", false, false, 1e6);
	check_parsed("blocked of work* < 20 %", "blocked of", "work*", false, true, 20);
}

static void test_bad_lines(void)
{
	static const char *const lines[][2] = {
	    {"", "has no bound"},
	    {"run time", "has no bound"},
	    {"run time <", "invalid bound '' of a time"},
	    {"run time < 3", "invalid bound '3' of a time"},
	    {"run time < 3 hours", "invalid bound"},
	    {"run time < 3 %", "write +3 %"},
	    {"run time < + 3 %", "invalid bound"},
	    {"run time < +-3 %", "invalid bound"},
	    {"run time < 0x10 s", "invalid bound"},
	    {"run time < inf s", "invalid bound"},
	    {"run time < 1e3 s", "invalid bound"},
	    {"run time < 1.2.3 s", "invalid bound"},
	    {"run time < 99999999999999999999 s", "invalid bound"},
	    {"run time of main < 3 s", "no quantity 'run time of main'"},
	    {"runtime < 3 s", "no quantity 'runtime' (expected run time, CPU time, waits, "},
	    {"waits for < 3 s", "needs the name of the object"},
	    {"calls of < 3", "needs the name of the function"},
	    {"calls of f < 3 ms", "invalid bound '3 ms' of a count"},
	    {"calls of f < 3 %", "write +3 %"},
	    {"< 3 ms", "no quantity ''"},
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(lines); i++) {
		struct pp_error err = PP_ERROR_INIT;
		struct pp_budget *budget = pp_budget_parse(lines[i][0], &err);
		g_autofree char *why = pp_error_text(&err);

		if (budget || !strstr(why, lines[i][1]) || strchr(why, '\n'))
			fprintf(stderr, "'%s': expected '%s', got '%s'\n", lines[i][0], lines[i][1],
				budget ? "no error" : why);
		CHECK(!budget && strstr(why, lines[i][1]) && !strchr(why, '\n'));
		pp_error_done(&err);
	}
}

/* --- verdicts ------------------------------------------------------------------------------- */

#define MOST 10

/* A negative number: the capture lacks the name. */
static struct pp_budget_result judge(const struct pp_budget *budget, const double *a, guint n_a,
				     const double *b, guint n_b)
{
	static const char *const names[MOST] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"};
	struct pp_budget_value of_a[MOST] = {0}, of_b[MOST] = {0};
	struct pp_budget_result result;

	for (guint i = 0; i < MOST; i++) {
		of_a[i].value = i < n_a ? a[i] : 0;
		of_b[i].value = i < n_b ? b[i] : 0;
		of_a[i].known = of_a[i].value < 0 ? PP_BUDGET_ABSENT : PP_BUDGET_KNOWN;
		of_b[i].known = of_b[i].value < 0 ? PP_BUDGET_ABSENT : PP_BUDGET_KNOWN;
	}
	pp_budget_judge(budget, of_a, n_a, names, of_b, n_b, names, &result);
	return result;
}

static void check_verdict(const char *text, const double *a, guint n_a, const double *b, guint n_b,
			  enum pp_budget_verdict verdict, double limit)
{
	struct pp_budget *budget = parse(text);
	struct pp_budget_result result = judge(budget, a, n_a, b, n_b);

	CHECK_INT(result.verdict, verdict);
	CHECK(fabs(result.limit - limit) < 1e-9 * (1 + fabs(limit)));
	pp_budget_result_done(&result);
	pp_budget_free(budget);
}

static void test_verdicts(void)
{
	static const double one[] = {100}, more[] = {101}, none[] = {-1}, nothing[] = {0};
	static const double same[] = {100, 100, 100}, all_more[] = {101, 101, 101};
	static const double spread[] = {90, 110}, apart[] = {95, 115, -1};

	/* One capture: each excess counts. */
	check_verdict("calls of f < 100", one, 1, one, 1, PP_BUDGET_MET, 100);
	check_verdict("calls of f < 100", one, 1, more, 1, PP_BUDGET_EXCEEDED, 100);
	check_verdict("calls of f < +0 %", one, 1, one, 1, PP_BUDGET_MET, 100);
	check_verdict("calls of f < +0 %", one, 1, more, 1, PP_BUDGET_EXCEEDED, 100);
	check_verdict("calls of f < +1 %", one, 1, more, 1, PP_BUDGET_MET, 101);
	check_verdict("calls of f < -1 %", one, 1, one, 1, PP_BUDGET_EXCEEDED, 99);
	check_verdict("calls of f < +0", one, 1, more, 1, PP_BUDGET_EXCEEDED, 100);
	check_verdict("calls of f < +10 %", nothing, 1, nothing, 1, PP_BUDGET_MET, 0);
	check_verdict("calls of f < +10 %", nothing, 1, more, 1, PP_BUDGET_EXCEEDED, 0);
	/* Without a name there is no verdict, also if the number would be below the bound. */
	check_verdict("calls of f < 100", one, 1, none, 1, PP_BUDGET_NOT_MEASURED, 0);
	check_verdict("calls of f < +1 %", none, 1, one, 1, PP_BUDGET_NOT_MEASURED, 0);
	check_verdict("calls of f < 100", none, 1, one, 1, PP_BUDGET_MET, 100);
	/* Values that do not vary. */
	check_verdict("calls of f < +0 %", same, 3, same, 3, PP_BUDGET_MET, 100);
	check_verdict("calls of f < +0 %", same, 3, all_more, 3, PP_BUDGET_EXCEEDED, 100);
	/* Values that do, and a capture that lacks the name. */
	check_verdict("calls of f < 99", same, 3, spread, 2, PP_BUDGET_WITHIN_NOISE, 99);
	check_verdict("calls of f < 69", same, 3, apart, 3, PP_BUDGET_WITHIN_NOISE, 69);
	check_verdict("calls of f < 70", same, 3, apart, 3, PP_BUDGET_MET, 70);
}

/* Welch's margin of two samples with known variances, by hand. */
static void test_margin(void)
{
	static const double a[] = {10, 12, 14}, b[] = {20, 21, 22, 23};
	struct pp_budget *budget = parse("calls of f < +50 %");
	struct pp_budget_result result = judge(budget, a, 3, b, 4);
	/* Variances of the means: 1.5^2 * 4 / 3 = 3, and (5 / 3) / 4; 2.55 degrees of freedom. */
	double freedom = pow(3 + 5. / 12, 2) / (9. / 2 + pow(5. / 12, 2) / 3);

	CHECK(result.limit == 18 && result.over == 3.5);
	CHECK(result.has_margin);
	CHECK(fabs(result.margin - sqrt(3 + 5. / 12) * pp_student_975(freedom)) < 1e-9);
	CHECK_INT(result.verdict, PP_BUDGET_WITHIN_NOISE);
	pp_budget_result_done(&result);
	pp_budget_free(budget);
}

static double normal(GRand *rand)
{
	double sum = 0;

	for (unsigned i = 0; i < 12; i++)
		sum += g_rand_double(rand);
	return sum - 6;
}

/* The share of 4,000 comparisons that exceed +10 %; b_mean: in percent of A. */
static double exceeded_share(GRand *rand, guint n, double b_mean)
{
	struct pp_budget *budget = parse("calls of f < +10 %");
	unsigned n_exceeded = 0;

	for (unsigned round = 0; round < 4000; round++) {
		double a[MOST], b[MOST];
		struct pp_budget_result result;

		for (guint i = 0; i < n; i++) {
			a[i] = 1000 + 20 * normal(rand);
			b[i] = 10 * b_mean + 20 * normal(rand);
		}
		result = judge(budget, a, n, b, n);
		n_exceeded += result.verdict == PP_BUDGET_EXCEEDED;
		pp_budget_result_done(&result);
	}
	pp_budget_free(budget);
	return n_exceeded / 4000.;
}

static void test_noise(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(5);

	for (guint n = 3; n <= MOST; n++) {
		double at_limit = exceeded_share(rand, n, 110),
		       below = exceeded_share(rand, n, 105);
		double above = exceeded_share(rand, n, 125);

		printf("%u runs: %.4f at the limit, %.4f below, %.4f above\n", n, at_limit, below,
		       above);
		CHECK(at_limit > 0.005 && at_limit < 0.03);
		CHECK(below < 0.001);
		CHECK(above > 0.99);
	}
}

/* --- XML ------------------------------------------------------------------------------------ */

static void test_hostile_xml(void)
{
	static const double one[] = {1};
	struct pp_budget *budget = parse("calls of a\x01<b>\"&'\xef\xbf\xbf\xff]]> < 0");
	struct pp_budget_result result = judge(budget, one, 1, one, 1);
	g_autoptr(GArray) results = g_array_new(FALSE, FALSE, sizeof(struct pp_budget_result));
	g_autoptr(GString) xml = g_string_new(NULL);

	g_array_append_val(results, result);
	pp_budget_append_junit(xml, results);
	CHECK(g_utf8_validate(xml->str, (gssize)xml->len, NULL));
	CHECK(strstr(xml->str, "name=\"calls of a?&lt;b&gt;&quot;&amp;&apos;????]]&gt; &lt; 0\""));
	CHECK(strstr(xml->str, "failures=\"1\" errors=\"0\""));
	pp_budget_result_done(&result);
	pp_budget_free(budget);
}

int main(void)
{
	test_good_lines();
	test_bad_lines();
	test_verdicts();
	test_margin();
	test_noise();
	test_hostile_xml();
	return 0;
}
