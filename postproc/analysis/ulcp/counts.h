/* SPDX-License-Identifier: MIT */
/*
 * Counts pairs of critical sections by class, for each lock and each pair of codes (a code is a
 * call that enters a section).
 *
 * Counted pairs are consecutive sections of one lock, in different threads (paper 003, section 2.1:
 * three sequential sections are two pairs).  The pairs *passed* by the search of rule 1 are counted
 * by lock, too: of a section and all later ones of another thread, up to the first that contends
 * with it.  There may be many of these for each section, so they are not enumerated: the sections
 * of a thread that precede a contending one are known by number and use.  They do not tell benign
 * pairs from those with disjoint writes.
 *
 * The use of a section is only known at the end (uses.h).  Until then, sections are records in a
 * temporary file, in order: memory does not grow with them.
 */
#ifndef PP_ANALYSIS_ULCP_COUNTS_H
#define PP_ANALYSIS_ULCP_COUNTS_H

#include <glib.h>

#include "analysis/ulcp/classify.h"
#include "core/error.h"

/* Why a pair is undecided. */
enum pp_ulcp_reason {
	PP_ULCP_UPDATE,	 /* both read and write the same bytes */
	PP_ULCP_FLAG,	 /* one polls what the other one sets */
	PP_ULCP_UNKNOWN, /* the accesses of one are not known, or not all */
	PP_ULCP_ORDER,	 /* the lock's numbers contradict the time stamps */
	PP_ULCP_N_REASONS
};

struct pp_ulcp_figures {
	uint64_t pairs[PP_ULCP_N_CLASSES];
	uint64_t undecided[PP_ULCP_N_REASONS]; /* ... of those of that class */
};

/* Consecutive sections of these codes, in either order. */
struct pp_ulcp_pair {
	uint32_t a, b; /* a <= b */
	struct pp_ulcp_figures figures;
};

struct pp_ulcp_sums {
	uint64_t n_sections, n_unknown;
	uint64_t n_same_thread; /* consecutive sections of one thread */
	uint64_t n_readers;	/* ... and of two readers, which do not exclude each other */
	struct pp_ulcp_figures figures;
	uint64_t passed[PP_ULCP_N_CLASSES]; /* see above; none is benign or true */
	uint64_t n_edges;		    /* pairs with the first contending section */
	GArray *pairs;			    /* of struct pp_ulcp_pair; NULL: none */
};

void pp_ulcp_figures_add(struct pp_ulcp_figures *to, const struct pp_ulcp_figures *figures);

/* The sum of all classes. */
uint64_t pp_ulcp_figures_n(const struct pp_ulcp_figures *figures);

/* ... and of those of unnecessary contention. */
uint64_t pp_ulcp_figures_n_unnecessary(const struct pp_ulcp_figures *figures);

/* All but `pairs`. */
void pp_ulcp_sums_add(struct pp_ulcp_sums *to, const struct pp_ulcp_sums *sums);

/* Sections of a thread of the same kind have these in common. */
struct pp_ulcp_kind {
	uint32_t use;		   /* number in uses.h, if is_known */
	enum pp_ulcp_use at_least; /* its use is at least that */
	bool is_known;
	bool is_reader;	  /* of a read-write lock */
	bool is_selected; /* it counts as one of the sections */
};

struct pp_ulcp_section {
	uint32_t lock; /* any number */
	uint32_t thread;
	uint32_t code;
	struct pp_ulcp_kind kind;
	/* It conflicts with the one before it on the lock: a class, and the reason if undecided. */
	bool conflicts;
	enum pp_ulcp_class class;
	enum pp_ulcp_reason reason;
};

struct pp_ulcp_counts;

struct pp_ulcp_counts *pp_ulcp_counts_new(void);
void pp_ulcp_counts_free(struct pp_ulcp_counts *counts);

/* The next section of its lock, in the order in which they had it. */
void pp_ulcp_counts_add(struct pp_ulcp_counts *counts, const struct pp_ulcp_section *section);

/*
 * The next section of this lock and thread is the first one of its thread that contends with n
 * earlier ones of that kind, in another thread.
 */
void pp_ulcp_counts_contended(struct pp_ulcp_counts *counts, uint32_t lock, uint32_t thread,
			      const struct pp_ulcp_kind *kind, uint64_t n);

/*
 * The lock has ended: its sums belong to the lock `into`, which has no sections, and its number may
 * be used for another one.
 */
void pp_ulcp_counts_end(struct pp_ulcp_counts *counts, uint32_t lock, uint32_t into);

/*
 * Counts.  use_of() returns the use of that number.  Returns 0, or -errno if the temporary file
 * failed: there are no sums then.
 */
int pp_ulcp_counts_finish(struct pp_ulcp_counts *counts,
			  enum pp_ulcp_use (*use_of)(void *data, uint32_t number), void *data,
			  struct pp_error *err);

/* After that; lent; NULL: it has no sections. */
const struct pp_ulcp_sums *pp_ulcp_counts_of(const struct pp_ulcp_counts *counts, uint32_t lock);

#endif
