/* SPDX-License-Identifier: MIT */
/*
 * Builds the document that the page shows (page/FORMAT.md) from an index and the tables of passes,
 * so that its figures equal those of `report`, `graph` and `history`.
 *
 * Its size depends on the number of time bins, threads, objects, call sites and stacks, not on that
 * of events.  Each list has a limit; data beyond it is listed in `missing`.
 */
#ifndef PP_EXPORT_HTML_HTML_H
#define PP_EXPORT_HTML_HTML_H

#include "export/exporter.h"
#include "export/json_gzip.h"
#include "export/stacks/stacks.h"
#include "export/sums.h"
#include "index/index.h"

struct pp_blame;

#define PP_HTML_BINS	256 /* a power of two */
#define PP_HTML_HALVES	8
#define PP_HTML_OBJECTS 500
#define PP_HTML_WAITS	50000
#define PP_HTML_NONE	UINT32_MAX

enum pp_html_table {
	PP_HTML_OF_THREADS,
	PP_HTML_OF_OBJECTS,
	PP_HTML_OF_OPERATIONS,
	PP_HTML_OF_WAITS,
	PP_HTML_OF_SWITCHES,
	PP_HTML_OF_DISTRIBUTION,
	PP_HTML_FLAMES, /* flames, from here on */
	PP_HTML_CALLS = PP_HTML_FLAMES,
	PP_HTML_TIME,
	PP_HTML_SAMPLES,
	PP_HTML_OFF_CPU,
	PP_HTML_N_TABLES
};

/* A context switch from one of the program's threads to another. */
struct pp_html_switch {
	uint64_t time_ns;
	uint32_t from, to;
};

/* One of the waits that are listed individually. */
struct pp_html_wait {
	uint64_t ns;
	uint32_t operation;
};

/* Combinations of row keys, and which are kept. */
struct pp_html_choice {
	struct pp_sums combinations;
	guint n_kept;
};

struct pp_html {
	const struct pp_export *export;
	struct pp_export stacks_export; /* a copy without frames of threads */
	struct pp_index_builder *builder;
	struct pp_blame *blame;
	struct pp_index *index;
	struct pp_mapped_array switches; /* of struct pp_html_switch */
	struct pp_put put;
	int64_t from_ns, to_ns; /* the period shown, on the capture's clock */
	struct pp_sums tables[PP_HTML_N_TABLES];
	unsigned halved;  /* how often bins were joined */
	uint64_t n_bytes; /* approximate size of all tables */
	struct pp_html_choice choices[PP_HTML_N_TABLES];
	struct pp_html_choice pairs; /* waiter and thread waited for */
	uint64_t left_out;	     /* figures beyond the size limit */
	uint64_t dump[PP_SUMS_FIGURES];
	GArray *objects;       /* of uint32_t: the objects shown, by their numbers in the index */
	GHashTable *object_at; /* number in the index -> position in `objects` plus 1 */
	GArray *waits;	       /* of struct pp_html_wait */
	uint64_t n_waits, n_waits_ns;
	struct pp_stacks *stacks;
	bool is_choosing;   /* the current phase selects combinations to keep */
	GPtrArray *missing; /* of char *: subject, reason, subject, reason, ... */
	struct pp_html_names *names;
};

/* --- time and sums (sums.c) ------------------------------------------------------------------- */

void pp_html_sums_init(struct pp_html *html);
void pp_html_sums_done(struct pp_html *html);

/* Returns the current number of bins. */
static inline unsigned pp_html_bins(const struct pp_html *html)
{
	return PP_HTML_BINS >> html->halved;
}

/* Is this thread, or this instant, part of the selection? */
bool pp_html_has_thread(const struct pp_html *html, uint32_t thread);
bool pp_html_has_time(const struct pp_html *html, int64_t time_ns);

/*
 * Returns the figures of the key in the bin of time_ns, which must be in the period shown.  key[0]
 * is set to the bin.
 */
uint64_t *pp_html_at(struct pp_html *html, enum pp_html_table table, uint32_t *key,
		     int64_t time_ns);

/* Returns the figures of the key without a time. */
uint64_t *pp_html_at_no_time(struct pp_html *html, enum pp_html_table table, uint32_t *key);

/* Adds a duration to each bin that it overlaps. */
void pp_html_add_time(struct pp_html *html, enum pp_html_table table, uint32_t *key,
		      unsigned figure, int64_t from_ns, int64_t to_ns);

/* Returns the end of the bin of that time, at the finest resolution. */
int64_t pp_html_bin_end(const struct pp_html *html, int64_t time_ns);

void pp_html_sum_threads(struct pp_html *html);
void pp_html_sum_switches(struct pp_html *html);
void pp_html_put_sums(struct pp_html *html);

/* Returns the bin of that time, at the finest resolution. */
uint32_t pp_html_bin(const struct pp_html *html, int64_t time_ns);

/* --- rows to keep (choice.c) ------------------------------------------------------------------ */

void pp_html_choice_init(struct pp_html_choice *choice);
void pp_html_choice_done(struct pp_html_choice *choice);

/*
 * Notes that the combination has data in all these bins of the finest resolution.  key[0] is
 * ignored and must be 0.
 */
void pp_html_choice_note(struct pp_html_choice *choice, const uint32_t *key, uint32_t first_bin,
			 uint32_t last_bin, uint64_t cost);

/* Adds the cost of a row to the combination of its key. */
void pp_html_choice_add(struct pp_html_choice *choice, const struct pp_sums_row *row);

/* Call after all combinations are noted: keeps the costliest ones up to rows_max rows. */
void pp_html_choose(struct pp_html_choice *choice, uint64_t rows_max);

/* Also valid if nothing was noted. */
bool pp_html_is_chosen(const struct pp_html_choice *choice, const uint32_t *key);

/* --- operations (operations.c) ---------------------------------------------------------------- */

/* Chooses objects and waits, and fills the sums of operations. */
void pp_html_sum_operations(struct pp_html *html);
void pp_html_put_waits(struct pp_html *html);

/* --- stacks (stacks.c) ------------------------------------------------------------------------ */

int pp_html_sum_stacks(struct pp_html *html, struct pp_error *err);
void pp_html_put_stacks(struct pp_html *html);
/* Writes `stacks`: the tree without its root, so a stack is its number less 1. */
void pp_html_put_tree(struct pp_html *html, const struct pp_stacks *stacks);

/* --- other parts ------------------------------------------------------------------------------ */

void pp_html_put_lanes(struct pp_html *html); /* lanes.c, and `cells` */
void pp_html_put_idle(struct pp_html *html);
void pp_html_put_findings(struct pp_html *html); /* findings.c */
void pp_html_put_blame(struct pp_html *html);
void pp_html_put_path(struct pp_html *html); /* path.c; after all sites are known */
void pp_html_put_io(struct pp_html *html);   /* the same */

/* Names that other parts refer to (names.c); written after all names are known. */
void pp_html_names_init(struct pp_html *html);
void pp_html_names_done(struct pp_html *html);
uint32_t pp_html_function(struct pp_html *html, const char *name);
uint32_t pp_html_site(struct pp_html *html, uint32_t site); /* index's number of the site */
uint32_t pp_html_address_site(struct pp_html *html, const struct pp_process *process,
			      uint64_t address);
const char *pp_html_object_name(struct pp_html *html, uint32_t object); /* index's number of the
									 * object */
uint32_t pp_html_op(struct pp_html *html, enum st_event op);
void pp_html_put_names(struct pp_html *html); /* functions, ops, sites, files */

/* Returns the site with that text; PP_HTML_NONE: none. */
uint32_t pp_html_find_site(const struct pp_html *html, const char *text);

void pp_html_miss(struct pp_html *html, const char *what, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

#endif
