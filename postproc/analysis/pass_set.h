/* SPDX-License-Identifier: MIT */
/*
 * The passes of one run, requested ones and those that they need, fed by one sweep over the events.
 */
#ifndef PP_ANALYSIS_PASS_SET_H
#define PP_ANALYSIS_PASS_SET_H

#include "analysis/pass.h"

struct pp_pass_set;

/* `context`, whose `set` it becomes, must outlive the set.  Unknown names are ignored. */
struct pp_pass_set *pp_pass_set_new(struct pp_pass_context *context, const char *const *names,
				    unsigned n_names);
void pp_pass_set_free(struct pp_pass_set *set);

/* The state of a pass that has started; NULL if the set does not contain it. */
void *pp_pass_set_state(const struct pp_pass_set *set, const char *name);

/* True if all passes that receive calls have calls_apart. */
bool pp_pass_set_calls_apart(const struct pp_pass_set *set);

/* PP_EVENT_MASK of all kinds that the passes need. */
unsigned pp_pass_set_kinds(const struct pp_pass_set *set);

/*
 * Distributes an event; events must be in time order.  `set` is a void * so that this function can
 * be passed to pp_events_read().
 */
void pp_pass_set_event(void *set, const struct pp_event *event);

void pp_pass_set_finish(struct pp_pass_set *set, int64_t end_ns);

/*
 * The tables of the pass with that name, after the end; the set owns them.  NULL if the pass is not
 * in the set.
 */
struct pp_table **pp_pass_set_tables(const struct pp_pass_set *set, const char *name,
				     unsigned *ret_n);

/* Its first table with that key; NULL: it has none, or is not in the set. */
struct pp_table *pp_pass_set_table(const struct pp_pass_set *set, const char *name,
				   const char *key);

#endif
