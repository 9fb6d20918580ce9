/* SPDX-License-Identifier: MIT */
/* Cells and texts shared by passes with rows for threads. */
#ifndef PP_ANALYSIS_THREAD_CELLS_H
#define PP_ANALYSIS_THREAD_CELLS_H

#include "analysis/pass.h"

/* The first cells of a row identify its thread. */
enum { PP_CELL_PID, PP_CELL_IMAGE, PP_CELL_TID, PP_CELL_INDEX, PP_N_THREAD_CELLS };

#define PP_THREAD_COLUMNS                                                                          \
	[PP_CELL_PID] = {"pid", "pid", PP_TYPE_COUNT,                                              \
			 PP_COLUMN_JSON_ONLY | PP_COLUMN_ID | PP_COLUMN_THREAD, "process"},        \
	[PP_CELL_IMAGE] = {"image", "image", PP_TYPE_COUNT,                                        \
			   PP_COLUMN_JSON_ONLY | PP_COLUMN_ID | PP_COLUMN_THREAD,                  \
			   "0, 1, ...: number of the process's image, one more after each exec"},  \
	[PP_CELL_TID] = {"tid", "tid", PP_TYPE_COUNT, PP_COLUMN_ID | PP_COLUMN_THREAD,             \
			 "thread id"},                                                             \
	[PP_CELL_INDEX] = {"index", "index", PP_TYPE_COUNT,                                        \
			   PP_COLUMN_JSON_ONLY | PP_COLUMN_ID | PP_COLUMN_THREAD,                  \
			   "number of the thread in its process; unlike a tid, never reused"}

/* Adds a row and fills these cells. */
struct pp_cell *pp_thread_row(struct pp_table *table, const struct pp_thread *thread);

/*
 * Two more cells give names that are the same in each run.  Tables with figures of threads begin
 * with all of these.
 */
enum { PP_CELL_GROUP = PP_N_THREAD_CELLS, PP_CELL_THREAD, PP_N_NAMED_THREAD_CELLS };

/* `key`: the key of the name's column. */
#define PP_NAMED_THREAD_COLUMNS(key)                                                               \
	PP_THREAD_COLUMNS,                                                                         \
	    [PP_CELL_GROUP] = {"group", "group", PP_TYPE_TEXT,                                     \
			       PP_COLUMN_JSON_ONLY | PP_COLUMN_KEY | PP_COLUMN_GROUP,              \
			       PP_THREAD_GROUP_HELP},                                              \
	    [PP_CELL_THREAD] = {key, key, PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_THREAD,          \
				"last name that the thread had"}

#define PP_THREAD_GROUP_HELP "common to similar threads: start routine, or name without its number"

struct pp_cell *pp_named_thread_row(struct pp_table *table, const struct pp_thread *thread);

/*
 * The name of the thread's start routine, or else its own name, without the number unless it is the
 * main thread; NULL if neither is known.  The caller frees it.
 */
char *pp_thread_group(const struct pp_thread *thread);

/* Orders rows of edges: highest count first, then by their nodes. */
gint pp_edge_order(const struct pp_cell *x, const struct pp_cell *y, unsigned count, unsigned from,
		   unsigned to);

/* A table of calls with its own text layout. */
struct pp_listing {
	const struct pp_pass_context *context;
	struct pp_table *table;
	GString *text;
};

void pp_listing_begin(struct pp_listing *listing, struct pp_table *table);

/* Adds the table to `tables`. Returns false if it has no rows; a note then gives the reason. */
bool pp_listing_end(struct pp_listing *listing, GPtrArray *tables);

/* Appends a line about functions that are not shown, if the context limits their number. */
void pp_listing_rest(const struct pp_listing *listing, unsigned n_shown, unsigned n_all);

/* Its name in printable characters; empty if it has none.  The caller frees it. */
char *pp_thread_label(const struct pp_thread *thread);

/* "thread 3 worker (tid 1234, process 1230)".  The caller frees it. */
char *pp_thread_title(const struct pp_thread *thread);

/* An array of struct pp_thread *: the selected threads that made calls.  The caller unrefs it. */
GPtrArray *pp_threads_with_calls(const struct pp_pass_context *context,
				 const struct pp_process *process);

/* The same with those that made none, but were sampled. */
GPtrArray *pp_threads_with_profile(const struct pp_pass_context *context,
				   const struct pp_process *process);

/* True if its calls are not counted, since it was not built with -pg. */
bool pp_process_has_no_calls(const struct pp_process *process);

/* Threads that are shown as one. */
struct pp_unit {
	char *title;
	GPtrArray *threads; /* of struct pp_thread * */
};

/*
 * An array of struct pp_unit *: one for each thread, or, if the context asks for groups, for all
 * threads of a group (pp_thread_group()).  The caller unrefs it.
 */
GPtrArray *pp_thread_units(const struct pp_pass_context *context, const GPtrArray *threads);

/* With fewer samples, a share of them says little about the CPU time: it is missing. */
#define PP_MIN_SAMPLES 10

/* The substitute for all functions of gprof-mt's libraries. */
#define PP_OWN_CODE "gprof-mt's own"

/*
 * The name of the function sampled at the address, or a substitute, and its entry address (0: not
 * known).  The caller frees it.
 */
char *pp_sampled_function(const struct pp_namer *namer, const struct pp_process *process,
			  uint64_t address, uint64_t *ret_entry);

/* The number of calls that the thread made.  Returns false if they were not counted. */
bool pp_thread_calls(const struct pp_thread *thread, uint64_t *ret_calls);

#endif
