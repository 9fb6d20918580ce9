/* SPDX-License-Identifier: MIT */
/*
 * Prints statistics of samples, for test_statistics.sh.  A line of input is a command and numbers:
 *   spread VALUE...                        mean sigma least most
 *   student FREEDOM                        the 97.5 % quantile
 *   rank N VALUE...                        exact normal: the first N values are `after`
 *   amdahl|universal N:TIME...             T1 s k, the interval of each, error peak; or "none"
 *   curve-amdahl|curve-universal N:TIME... the time and its interval for 1, 2, 4, 8; or "none"
 */
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "statistics/rank_sum.h"
#include "statistics/scaling.h"
#include "statistics/spread.h"

static void print_rank(const double *values, size_t n)
{
	size_t n_after = (size_t)values[0];
	const double *after = values + 1, *before = after + n_after;
	size_t n_before = n - 1 - n_after;

	printf("%.17g %.17g\n", pp_rank_sum_exact(after, n_after, before, n_before),
	       pp_rank_sum_normal(after, n_after, before, n_before));
}

static void print_estimate(const struct pp_estimate *estimate)
{
	printf("%.17g %.17g %.17g ", estimate->value, estimate->low, estimate->high);
}

/* The caller frees it. */
static struct pp_scaling_run *read_runs(char **words, size_t n)
{
	struct pp_scaling_run *runs = g_new(struct pp_scaling_run, n + 1);

	for (size_t i = 0; i < n; i++) {
		char *colon;

		runs[i].n = g_ascii_strtod(words[i], &colon);
		runs[i].time = g_ascii_strtod(colon + 1, NULL);
	}
	return runs;
}

static void print_curve(enum pp_scaling_law law, char **words, size_t n)
{
	static const double numbers[] = {1, 2, 4, 8};
	g_autofree struct pp_scaling_run *runs = read_runs(words, n);
	struct pp_estimate times[G_N_ELEMENTS(numbers)];

	if (!pp_scaling_curve(law, runs, n, numbers, G_N_ELEMENTS(numbers), times)) {
		puts("none");
		return;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
		print_estimate(&times[i]);
	putchar('\n');
}

static void print_fit(enum pp_scaling_law law, char **words, size_t n)
{
	g_autofree struct pp_scaling_run *runs = read_runs(words, n);
	struct pp_scaling_fit fit;

	if (!pp_scaling_fit(law, runs, n, &fit)) {
		puts("none");
		return;
	}
	print_estimate(&fit.t1);
	print_estimate(&fit.serial);
	print_estimate(&fit.coherency);
	printf("%.17g %.17g\n", fit.error, pp_scaling_peak(&fit));
}

static void print_spread(const double *values, size_t n)
{
	struct pp_spread spread = pp_spread_of(values, n);

	printf("%.17g %.17g %.17g %.17g\n", spread.mean, spread.sigma, spread.least, spread.most);
}

int main(void)
{
	char line[65536];

	while (fgets(line, sizeof(line), stdin)) {
		g_auto(GStrv) words = g_strsplit(g_strstrip(line), " ", -1);
		size_t n = g_strv_length(words) - 1;
		g_autofree double *values = g_new0(double, n + 1);

		for (size_t i = 0; i < n; i++)
			values[i] = g_ascii_strtod(words[i + 1], NULL);
		if (strcmp(words[0], "spread") == 0)
			print_spread(values, n);
		else if (strcmp(words[0], "student") == 0)
			printf("%.17g\n", pp_student_975(values[0]));
		else if (strcmp(words[0], "rank") == 0)
			print_rank(values, n);
		else if (g_str_has_prefix(words[0], "curve-"))
			print_curve(strcmp(words[0], "curve-amdahl") == 0 ? PP_AMDAHL
									  : PP_UNIVERSAL,
				    words + 1, n);
		else
			print_fit(strcmp(words[0], "amdahl") == 0 ? PP_AMDAHL : PP_UNIVERSAL,
				  words + 1, n);
	}
	return 0;
}
