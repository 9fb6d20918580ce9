/* SPDX-License-Identifier: MIT */
/* What the passes share that have a row for a thread, or several. */
#ifndef PP_ANALYSIS_SHOWN_H
#define PP_ANALYSIS_SHOWN_H

#include "analysis/pass.h"

/* The first columns: which thread a row is about. */
enum { PP_CELL_PID, PP_CELL_IMAGE, PP_CELL_TID, PP_CELL_INDEX, PP_N_THREAD_CELLS };

#define PP_THREAD_COLUMNS                                                                          \
	[PP_CELL_PID] = {"pid", "pid", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,          \
			 "process"},                                                               \
	[PP_CELL_IMAGE] = {"image", "image", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,    \
			   "0, 1, ...: which program of the process, one after each exec"},        \
	[PP_CELL_TID] = {"tid", "tid", PP_TYPE_COUNT, PP_COLUMN_ID, "thread id"},                  \
	[PP_CELL_INDEX] = {                                                                        \
	    "index", "index", PP_TYPE_COUNT, PP_COLUMN_JSON_ONLY | PP_COLUMN_ID,                   \
	    "number of the thread in its process; never used twice, as a tid may be"}

/* A new row with these filled in. */
struct pp_cell *pp_thread_row(struct pp_table *table, const struct pp_thread *thread);

/* ... and what it is in any run: tables with figures of threads begin so. */
enum { PP_CELL_GROUP = PP_N_THREAD_CELLS, PP_CELL_THREAD, PP_N_NAMED_THREAD_CELLS };

/* `key`: of its name. */
#define PP_NAMED_THREAD_COLUMNS(key)                                                               \
	PP_THREAD_COLUMNS,                                                                         \
	    [PP_CELL_GROUP] = {"group", "group", PP_TYPE_TEXT,                                     \
			       PP_COLUMN_JSON_ONLY | PP_COLUMN_KEY, PP_THREAD_GROUP_HELP},         \
	    [PP_CELL_THREAD] = {key, key, PP_TYPE_TEXT, PP_COLUMN_KEY,                             \
				"last name that the thread had"}

#define PP_THREAD_GROUP_HELP                                                                       \
	"the same for similar threads: start routine, or name without its number"

struct pp_cell *pp_named_thread_row(struct pp_table *table, const struct pp_pass_context *context,
				    const struct pp_thread *thread);

/* Its start routine, or else the stem of its name; NULL: neither is known.  The caller frees it. */
char *pp_thread_group(const struct pp_pass_context *context, const struct pp_thread *thread);

/* Rows of edges: those that count most first, then by the nodes that they are between. */
gint pp_edge_order(const struct pp_cell *x, const struct pp_cell *y, unsigned count, unsigned from,
		   unsigned to);

/* A table of calls whose text has a layout of its own. */
struct pp_listing {
	const struct pp_pass_context *context;
	struct pp_table *table;
	GString *text;
};

void pp_listing_begin(struct pp_listing *listing, struct pp_table *table);

/* Adds the table to `tables`.  False: it has no row, and says why. */
bool pp_listing_end(struct pp_listing *listing, GPtrArray *tables);

/* "thread 3 worker (tid 1234, process 1230)".  The caller frees it. */
char *pp_thread_title(const struct pp_thread *thread);

/* Of struct pp_thread *: those that are shown and called something.  The caller unrefs it. */
GPtrArray *pp_threads_with_calls(const struct pp_pass_context *context,
				 const struct pp_process *process);

/*
 * The function, or what stands for one, that a sample met at the address; and where it begins, 0:
 * not known.  The caller frees it.
 */
char *pp_sampled_function(const struct pp_namer *namer, const struct pp_process *process,
			  uint64_t address, uint64_t *ret_entry);

/* How many calls the thread made.  False: they were not counted. */
bool pp_thread_calls(const struct pp_thread *thread, uint64_t *ret_calls);

#endif
