/* SPDX-License-Identifier: MIT */
/*
 * The history of operations on each synchronization object (the paper's Figure 7, left).
 *
 * The one analysis that keeps every event, in 40 bytes an operation; a selection keeps less.
 * Tables are made of a part at a time, so that showing the history takes little more than keeping
 * it.
 */
#ifndef PP_PASS_HISTORY_H
#define PP_PASS_HISTORY_H

#include "analysis/state/object_state.h"

#define PP_HISTORY_KINDS PP_THREAD_STATE_KINDS

struct pp_history;

/* Of what the context selects; it is borrowed. */
struct pp_history *pp_history_new(const struct pp_pass_context *context);
void pp_history_free(struct pp_history *history);
void pp_history_event(struct pp_history *history, const struct pp_event *event);
void pp_history_finish(struct pp_history *history, int64_t end_ns);

/* Objects with operations that are selected, in order of appearance; after finish. */
unsigned pp_history_n_objects(const struct pp_history *history);
const struct pp_object *pp_history_object(const struct pp_history *history, unsigned at);
unsigned pp_history_n_operations(const struct pp_history *history, unsigned at);

/* What a person calls the object.  Caller frees. */
char *pp_history_name(const struct pp_history *history, unsigned at);

/* Fills the cells of object_row.h. */
void pp_history_object_row(const struct pp_history *history, unsigned at, struct pp_cell *row);

#define PP_N_HISTORY_COLUMNS 12

/* Of its tables; those of signals are shown otherwise in text. */
extern const struct pp_column pp_history_columns[PP_N_HISTORY_COLUMNS];

/*
 * Up to n of the operations on that object in order of time, from number `first` on; columns
 * time_ns tid op result blocked ... site.  Parts keep the memory for showing a long history small.
 */
struct pp_table *pp_history_table(struct pp_history *history, unsigned at, unsigned first,
				  unsigned n);

#endif
