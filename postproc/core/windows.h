/* SPDX-License-Identifier: MIT */
/*
 * Parts of a capture's time that stand for all of it, where reading everything would take too long:
 * of equal length, one in each of n equal stretches.
 */
#ifndef PP_CORE_WINDOWS_H
#define PP_CORE_WINDOWS_H

#include <stdint.h>

struct pp_windows {
	int64_t *from_ns; /* ascending, len_ns apart at least */
	unsigned n;
	int64_t len_ns;
	int64_t begin_ns, span_ns; /* of the stretches together */
	unsigned
	    last_after; /* the last result of pp_windows_after(), since times mostly increase */
};

/* Places n windows in the time, at a different point of each stretch. */
void pp_windows_init(struct pp_windows *windows, unsigned n, int64_t from_ns, int64_t to_ns,
		     int64_t len_ns);
void pp_windows_done(struct pp_windows *windows);

/* The first window that ends after that time; n: none. */
unsigned pp_windows_after(struct pp_windows *windows, int64_t time_ns);

/* The part of the interval that is in this window, or in any, in ns. */
int64_t pp_window_part_ns(const struct pp_windows *windows, unsigned at, int64_t start_ns,
			  int64_t end_ns);
int64_t pp_windows_part_ns(struct pp_windows *windows, int64_t start_ns, int64_t end_ns);

/* Leaves out the windows, and the time, from then on. */
void pp_windows_cut(struct pp_windows *windows, int64_t from_ns, int64_t to_ns);

/* Factor from figures of the windows to those of the whole. */
double pp_windows_factor(const struct pp_windows *windows);

/* The longest time without a window: what lasts longer has a part in one. */
int64_t pp_windows_gap_ns(const struct pp_windows *windows);

/*
 * The error of a total that is estimated from a figure of each window, not all 0: of 100 such
 * estimates, 95 or more are off by less.
 */
double pp_windows_error(const struct pp_windows *windows, const int64_t *parts);

#endif
