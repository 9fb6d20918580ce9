/* SPDX-License-Identifier: MIT */
/*
 * The operations on synchronization objects, each when it is known: nothing is kept, so memory does
 * not depend on their number.  history_by_object.h sorts them.
 */
#ifndef PP_PASS_HISTORY_H
#define PP_PASS_HISTORY_H

#include "analysis/state/object_state.h"

#define PP_HISTORY_KINDS PP_THREAD_STATE_KINDS

struct pp_history_operation {
	int64_t time_ns; /* of the return; if there was none, of the begin of the wait */
	int64_t wait_ns;
	uint64_t order; /* 0, 1, ...: numbers the operations as they were reported */
	const struct pp_thread *thread;
	const struct pp_path *path;
	uint64_t site;
	uint64_t object; /* its number in order of appearance */
	uint32_t signal;
	uint8_t op, result;
	bool blocked, finished;
};

/*
 * Takes a selected operation; objects are only selected by address (see pp_selects_object()).  The
 * operations come in order of time, except those that never returned: they come when their thread
 * or the capture ends.  Later events may still change the object's name.
 */
typedef void pp_history_take(void *data, struct pp_object *object,
			     const struct pp_history_operation *operation);

/*
 * Takes an object with its last name, after the last operation on it; the order of objects is that
 * of their ends.  The object is freed then, its data before, by this function.
 */
typedef void pp_history_end(void *data, struct pp_object *object);

struct pp_history;

/* The context is borrowed. */
struct pp_history *pp_history_new(const struct pp_pass_context *context, pp_history_take *take,
				  pp_history_end *end, void *data);
void pp_history_free(struct pp_history *history);
void pp_history_event(struct pp_history *history, const struct pp_event *event);
void pp_history_finish(struct pp_history *history, int64_t end_ns);

#define PP_N_HISTORY_COLUMNS 12

/* The columns of an operation.  Text has another layout for signals. */
extern const struct pp_column pp_history_columns[PP_N_HISTORY_COLUMNS];

/* A table of these columns, for operations on an object of that type. */
struct pp_table *pp_history_table_new(enum gm_sync_type type);

/*
 * Fills their cells.  It is only known after the end whether a thread has scheduling events; before
 * the first one, an operation that did not block has no value for that.
 */
void pp_history_set_cells(struct pp_cell *row, struct pp_history *history,
			  const struct pp_history_operation *operation);

#endif
