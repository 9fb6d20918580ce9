/* SPDX-License-Identifier: MIT */
/*
 * The document that the page shows (page/FORMAT.md), of an index and the tables of passes, so that
 * its figures are those of `report`, `graph` and `history`.
 *
 * What is written grows with the parts into which the time is divided, and with threads, objects,
 * sites and stacks, not with events: each list has a limit, and what is beyond it is told in
 * `missing`.
 */
#ifndef PP_EXPORT_HTML_HTML_H
#define PP_EXPORT_HTML_HTML_H

#include "export/exporter.h"
#include "export/put.h"
#include "export/stacks/stacks.h"
#include "export/sums.h"
#include "index/index.h"

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
	PP_HTML_FLAMES, /* from here on */
	PP_HTML_CALLS = PP_HTML_FLAMES,
	PP_HTML_TIME,
	PP_HTML_SAMPLES,
	PP_HTML_OFF_CPU,
	PP_HTML_N_TABLES
};

/* From one of our threads to another. */
struct pp_html_switch {
	uint64_t time_ns;
	uint32_t from, to;
};

/* One of those that are shown one by one. */
struct pp_html_wait {
	uint64_t ns;
	uint32_t operation;
};

/* Combinations of what rows are of, and which are kept. */
struct pp_html_choice {
	struct pp_sums combinations;
	guint n_kept;
};

struct pp_html {
	const struct pp_export *export;
	struct pp_export stacks_export; /* the same, without frames of threads */
	struct pp_index_builder *builder;
	struct pp_index *index;
	struct pp_mapped_array switches; /* of struct pp_html_switch */
	struct pp_put put;
	int64_t from_ns, to_ns; /* what is shown: instants of the capture's clock */
	struct pp_sums tables[PP_HTML_N_TABLES];
	unsigned halved;  /* times that bins were */
	uint64_t n_bytes; /* of all tables, about */
	struct pp_html_choice choices[PP_HTML_N_TABLES];
	struct pp_html_choice pairs; /* who waited for whom */
	uint64_t left_out;	     /* figures for which there was no room */
	uint64_t dump[PP_SUMS_FIGURES];
	GArray *objects;     /* of uint32_t: those shown, numbers of the index's */
	uint32_t *object_at; /* by number of the index: position in them; PP_HTML_NONE */
	GArray *waits;	     /* of struct pp_html_wait */
	uint64_t n_waits, n_waits_ns;
	struct pp_stacks *stacks;
	bool is_choosing;   /* which of them are worth their rows */
	GPtrArray *missing; /* of char *: what, reason, what, reason, ... */
	struct pp_html_names *names;
};

/* --- time and sums (sums.c) ------------------------------------------------------------------- */

void pp_html_sums_init(struct pp_html *html);
void pp_html_sums_done(struct pp_html *html);

/* How many there are by now. */
static inline unsigned pp_html_bins(const struct pp_html *html)
{
	return PP_HTML_BINS >> html->halved;
}

/* Is what happens then shown, what that thread does? */
bool pp_html_has_thread(const struct pp_html *html, uint32_t thread);
bool pp_html_has_time(const struct pp_html *html, int64_t time_ns);

/*
 * The figures of what that is of, in the bin of that time, which is shown.  key: the first is the
 * bin's, and is filled in.
 */
uint64_t *pp_html_at(struct pp_html *html, enum pp_html_table table, uint32_t *key,
		     int64_t time_ns);

/* The same where nobody knows when. */
uint64_t *pp_html_at_no_time(struct pp_html *html, enum pp_html_table table, uint32_t *key);

/* Adds the time to each bin that it is in. */
void pp_html_add_time(struct pp_html *html, enum pp_html_table table, uint32_t *key,
		      unsigned figure, int64_t from_ns, int64_t to_ns);

/* Where the bin of that time ends; of the finest ones. */
int64_t pp_html_bin_end(const struct pp_html *html, int64_t time_ns);

void pp_html_sum_threads(struct pp_html *html);
void pp_html_sum_switches(struct pp_html *html);
void pp_html_put_sums(struct pp_html *html);

/* The bin of that time, of the finest ones. */
uint32_t pp_html_bin(const struct pp_html *html, int64_t time_ns);

/* --- which rows are kept (choice.c) ----------------------------------------------------------- */

void pp_html_choice_init(struct pp_html_choice *choice);
void pp_html_choice_done(struct pp_html_choice *choice);

/* It has something in all these bins, of the finest ones.  key: the first is 0. */
void pp_html_choice_note(struct pp_html_choice *choice, const uint32_t *key, uint32_t first_bin,
			 uint32_t last_bin, uint64_t cost);

/* Adds what another one costs to that of its key. */
void pp_html_choice_add(struct pp_html_choice *choice, const struct pp_sums_row *row);

/* When all were noted: as many as have so many rows. */
void pp_html_choose(struct pp_html_choice *choice, uint64_t rows_max);

/* Also if nothing was ever noted. */
bool pp_html_is_chosen(const struct pp_html_choice *choice, const uint32_t *key);

/* --- operations (operations.c) ---------------------------------------------------------------- */

/* Chooses the objects, the waits, and fills the sums of all that operations tell. */
void pp_html_sum_operations(struct pp_html *html);
void pp_html_put_waits(struct pp_html *html);

/* When it began to wait. */
int64_t pp_html_begin_ns(const struct pp_index *index, const struct pp_index_operation *operation);

/* --- stacks (stacks.c) ------------------------------------------------------------------------ */

int pp_html_sum_stacks(struct pp_html *html, struct pp_error *err);
void pp_html_put_stacks(struct pp_html *html);

/* --- the rest --------------------------------------------------------------------------------- */

void pp_html_put_lanes(struct pp_html *html);	 /* lanes.c, and `cells` */
void pp_html_put_findings(struct pp_html *html); /* findings.c */

/* Names that others refer to (names.c); written when all are known. */
void pp_html_names_init(struct pp_html *html);
void pp_html_names_done(struct pp_html *html);
uint32_t pp_html_function(struct pp_html *html, const char *name);
uint32_t pp_html_site(struct pp_html *html, uint32_t site); /* of the index */
uint32_t pp_html_address_site(struct pp_html *html, const struct pp_process *process,
			      uint64_t address);
const char *pp_html_object_name(struct pp_html *html, uint32_t object); /* of the index */
uint32_t pp_html_op(struct pp_html *html, enum st_event op);
void pp_html_put_names(struct pp_html *html); /* functions, ops, sites, files */

/* The site with that text; PP_HTML_NONE: none. */
uint32_t pp_html_find_site(const struct pp_html *html, const char *text);

void pp_html_miss(struct pp_html *html, const char *what, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

#endif
