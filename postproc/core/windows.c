/* SPDX-License-Identifier: MIT */
/* Windows are at irregular distances, so that a periodic program is not seen in one phase only. */
#include "core/windows.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>

/* The golden ratio: multiples of it, without their integer parts, are spread evenly in [0, 1). */
#define SPREAD 0.61803398874989485

void pp_windows_init(struct pp_windows *windows, unsigned n, int64_t from_ns, int64_t to_ns,
		     int64_t len_ns)
{
	double stretch_ns = (double)(to_ns - from_ns) / n;
	double room_ns = MAX(stretch_ns - (double)len_ns, 0);

	*windows = (struct pp_windows){
	    .from_ns = g_new(int64_t, n),
	    .n = n,
	    .len_ns = len_ns,
	    .begin_ns = from_ns,
	    .span_ns = to_ns - from_ns,
	};
	for (unsigned i = 0; i < n; i++) {
		double at = (i + 0.5) * SPREAD;

		at -= (double)(int64_t)at;
		windows->from_ns[i] = from_ns + (int64_t)(i * stretch_ns + at * room_ns);
	}
}

void pp_windows_done(struct pp_windows *windows)
{
	g_free(windows->from_ns);
	*windows = (struct pp_windows){0};
}

static bool ends_after(const struct pp_windows *windows, unsigned at, int64_t time_ns)
{
	return at == windows->n || windows->from_ns[at] + windows->len_ns > time_ns;
}

unsigned pp_windows_after(struct pp_windows *windows, int64_t time_ns)
{
	unsigned first = 0, end = windows->n, last = windows->last_after;

	if (last <= end && ends_after(windows, last, time_ns) &&
	    (!last || !ends_after(windows, last - 1, time_ns)))
		return last;
	while (first < end) {
		unsigned middle = first + (end - first) / 2;

		if (ends_after(windows, middle, time_ns))
			end = middle;
		else
			first = middle + 1;
	}
	windows->last_after = first;
	return first;
}

int64_t pp_window_part_ns(const struct pp_windows *windows, unsigned at, int64_t start_ns,
			  int64_t end_ns)
{
	int64_t from_ns = MAX(start_ns, windows->from_ns[at]);
	int64_t to_ns = MIN(end_ns, windows->from_ns[at] + windows->len_ns);

	return MAX(to_ns - from_ns, 0);
}

int64_t pp_windows_part_ns(struct pp_windows *windows, int64_t start_ns, int64_t end_ns)
{
	int64_t sum_ns = 0;

	for (unsigned i = pp_windows_after(windows, start_ns);
	     i < windows->n && windows->from_ns[i] < end_ns; i++)
		sum_ns += pp_window_part_ns(windows, i, start_ns, end_ns);
	return sum_ns;
}

void pp_windows_cut(struct pp_windows *windows, int64_t from_ns, int64_t to_ns)
{
	while (windows->n && windows->from_ns[windows->n - 1] + windows->len_ns > to_ns)
		windows->n--;
	windows->begin_ns = from_ns;
	windows->span_ns = to_ns - from_ns;
}

double pp_windows_factor(const struct pp_windows *windows)
{
	return windows->n ? (double)windows->span_ns / ((double)windows->len_ns * windows->n) : 0;
}

int64_t pp_windows_gap_ns(const struct pp_windows *windows)
{
	int64_t last_ns = windows->begin_ns, gap_ns = 0;

	for (unsigned i = 0; i < windows->n; i++) {
		gap_ns = MAX(gap_ns, windows->from_ns[i] - last_ns);
		last_ns = windows->from_ns[i] + windows->len_ns;
	}
	return MAX(gap_ns, windows->begin_ns + windows->span_ns - last_ns);
}

/*
 * How far a count may be below the mean of its Poisson distribution, in standard deviations (the
 * square root of the count): its upper limit at 99 %, by Wilson's and Hilferty's approximation.
 */
static double poisson_deviations(double count)
{
	double next = count + 1;
	double limit = next * pow(1 - 1 / (9 * next) + 2.326 / (3 * sqrt(next)), 3);

	return (limit - count) / sqrt(count);
}

/*
 * Few windows with large figures say less than the standard error, which is made from the same
 * figures: if most long waits fell between the windows, both are too small. As many windows with
 * equal figures would have the same relation of the squares; their number is that of a rare event.
 */
double pp_windows_error(const struct pp_windows *windows, const int64_t *parts)
{
	double n = windows->n, factor = pp_windows_factor(windows);
	double sum = 0, squares = 0, deviations, variance;

	for (unsigned i = 0; i < windows->n; i++) {
		sum += (double)parts[i];
		squares += (double)parts[i] * (double)parts[i];
	}
	if (windows->n < 2 || squares == 0)
		return 0;
	deviations = poisson_deviations(MAX(sum * sum / squares - 0.5, 0.5));
	variance = (squares - sum * sum / n) / (n - 1) * MAX(1 - 1 / factor, 0);
	return factor * sqrt(n * MAX(variance, 0)) * deviations;
}
