/* SPDX-License-Identifier: MIT */
/*
 * The history of each synchronization object, one after the other (the paper's Figure 7, left).
 * Operations and objects are sorted in temporary files, so memory does not depend on their numbers.
 */
#ifndef PP_PASS_HISTORY_BY_OBJECT_H
#define PP_PASS_HISTORY_BY_OBJECT_H

#include "pass/history.h"

struct pp_history_by_object;

/* The context is borrowed. */
struct pp_history_by_object *pp_history_by_object_new(const struct pp_pass_context *context);
void pp_history_by_object_free(struct pp_history_by_object *self);
void pp_history_by_object_event(struct pp_history_by_object *self, const struct pp_event *event);

/* Returns 0, or -errno if the temporary file failed; so does pp_history_by_object_check(). */
int pp_history_by_object_finish(struct pp_history_by_object *self, int64_t end_ns,
				struct pp_error *err);

/*
 * The next selected object with operations, in order of appearance; NULL: none is left.  To be
 * called after the end.  Skips the remaining operations of the previous object, which is
 * overwritten.
 */
const struct pp_object *pp_history_next_object(struct pp_history_by_object *self);

/* Up to n further operations on that object, in order of time; NULL: none is left. */
struct pp_table *pp_history_next_operations(struct pp_history_by_object *self, unsigned n);

/* To be called after the last operation. */
int pp_history_by_object_check(const struct pp_history_by_object *self, struct pp_error *err);

#endif
