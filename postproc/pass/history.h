/* SPDX-License-Identifier: MIT */
/*
 * The history of operations on each synchronization object (the paper's Figure 7, left).
 *
 * This is the only pass that keeps every event, at 40 bytes per operation; a selection keeps less.
 * Tables are made in parts, to bound the memory for output.
 */
#ifndef PP_PASS_HISTORY_H
#define PP_PASS_HISTORY_H

#include "analysis/state/object_state.h"

#define PP_HISTORY_KINDS PP_THREAD_STATE_KINDS

struct pp_history;

/* Keeps what the context selects.  The context is borrowed. */
struct pp_history *pp_history_new(const struct pp_pass_context *context);
void pp_history_free(struct pp_history *history);
void pp_history_event(struct pp_history *history, const struct pp_event *event);
void pp_history_finish(struct pp_history *history, int64_t end_ns);

/*
 * The number of selected objects with operations; they are in order of appearance.  To be called
 * after the end.
 */
unsigned pp_history_n_objects(const struct pp_history *history);
const struct pp_object *pp_history_object(const struct pp_history *history, unsigned at);
unsigned pp_history_n_operations(const struct pp_history *history, unsigned at);

/* The display name of the object.  The caller frees it. */
char *pp_history_name(const struct pp_history *history, unsigned at);

/* Fills the cells of object_row.h. */
void pp_history_object_row(const struct pp_history *history, unsigned at, struct pp_cell *row);

#define PP_N_HISTORY_COLUMNS 12

/* The columns of its tables.  Text has another layout for signals. */
extern const struct pp_column pp_history_columns[PP_N_HISTORY_COLUMNS];

/*
 * Up to n operations on that object in time order, from number `first` on, as a table with the
 * columns above.
 */
struct pp_table *pp_history_table(struct pp_history *history, unsigned at, unsigned first,
				  unsigned n);

#endif
