/* SPDX-License-Identifier: MIT */
/*
 * Printing the operations of a capture: each when it is read, or object by object after all have
 * been read.  Neither keeps them in memory.
 *
 * These functions read the view's events, and return 0 or -errno.  *ret_status is the exit status
 * if standard output failed, which ends the reading.
 */
#ifndef PP_CLI_HISTORY_H
#define PP_CLI_HISTORY_H

#include "analysis/state/object_state.h"
#include "cli/options.h"
#include "cli/view.h"

int pp_cli_history_by_time(struct pp_view *view, enum pp_cli_format format, int *ret_status,
			   struct pp_error *err);
int pp_cli_history_by_object(struct pp_view *view, enum pp_cli_format format, int *ret_status,
			     struct pp_error *err);

/*
 * To be called after the events: fails if the selection contains nothing, or names something that
 * does not exist.
 */
int pp_cli_history_check(const struct pp_view *view, bool found_any, struct pp_error *err);

/* Appends the operations on an object in CSV; `number` identifies the object, from 1. */
void pp_cli_history_append_csv(GString *to, const struct pp_view *view, uint64_t number,
			       const struct pp_object *object, struct pp_table *operations,
			       bool is_first);

#endif
