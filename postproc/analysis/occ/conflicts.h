/* SPDX-License-Identifier: MIT */
/*
 * Computes how often the instances of a critical section would conflict if they were executed at
 * the same time (paper 001, section 2.3: p_c, and the size of the intersections).
 *
 * A trace is the set of bytes of one instance.  C(A, B) is 0.5 if B writes what A accesses: A sees
 * that unless it ends first, for which the paper assumes a probability of one half.  S(tr, t) are
 * the two traces of thread t that are nearest to trace tr in the order of entries: the one before
 * it, and the one after it.  p_tr is the mean of C(tr, x) over all x in S(tr, t), for all other
 * threads t, and p_c the mean of p_tr over all traces that have another one in any S.
 *
 * Traces are added in the order of entries.  A trace waits for those that follow it in a window of
 * PP_OCC_WINDOW traces of its thread.  If another thread does not enter the section in that time,
 * it has only its trace before.  So an instance costs a step for each other thread, and memory is
 * fixed for each thread.
 */
#ifndef PP_ANALYSIS_OCC_CONFLICTS_H
#define PP_ANALYSIS_OCC_CONFLICTS_H

#include "analysis/occ/sets.h"

#define PP_OCC_WINDOW 32u

/* By what two accesses conflict. */
enum pp_occ_grain { PP_OCC_LOCATIONS, PP_OCC_LINES, PP_OCC_GRAINS };

struct pp_occ_conflicts;

/* The memo is borrowed, and may be shared. */
struct pp_occ_conflicts *pp_occ_conflicts_new(struct pp_occ_memo *memo);
void pp_occ_conflicts_free(struct pp_occ_conflicts *conflicts);

/*
 * Adds the next trace.  thread: any number.  freed: all bytes of the blocks that it frees, which
 * earlier traces may access.  Keeps a reference to the set while it needs it.
 */
void pp_occ_conflicts_add(struct pp_occ_conflicts *conflicts, unsigned thread,
			  struct pp_access_set *set, struct pp_access_set *freed);

/* Sums over traces and pairs: those of several locks can be added up. */
struct pp_occ_sums {
	uint64_t n_traces;	    /* all */
	uint64_t n_compared;	    /* ... that have a trace of another thread next to them */
	double p_tr[PP_OCC_GRAINS]; /* over these */
	/* The pairs that conflict in locations; those that conflict in lines (also in these). */
	uint64_t n_conflicts[PP_OCC_GRAINS];
	/* In pairs that conflict in locations; and the lines of those that conflict in lines only.
	 */
	uint64_t n_common[PP_OCC_GRAINS], n_false_lines;
};

void pp_occ_sums_add(struct pp_occ_sums *to, const struct pp_occ_sums *sums);

/* p_c; 0 if no trace was compared. */
double pp_occ_sums_p_c(const struct pp_occ_sums *sums, enum pp_occ_grain grain);

/*
 * The mean size of an intersection, over the pairs that conflict in locations; if there are none,
 * over those that conflict in lines only; 0 if there are none either.
 */
double pp_occ_sums_common(const struct pp_occ_sums *sums, enum pp_occ_grain grain);

/* Ends the windows, and adds to the sums.  No trace may be added afterwards. */
void pp_occ_conflicts_finish(struct pp_occ_conflicts *conflicts, struct pp_occ_sums *sums);

#endif
