/* SPDX-License-Identifier: MIT */
/*
 * The passes of one run: those asked for and those they need, fed by one sweep over the events.
 */
#ifndef PP_ANALYSIS_SET_H
#define PP_ANALYSIS_SET_H

#include "analysis/pass.h"

struct pp_pass_set;

/* `context` has to outlive the set.  Names that are not of passes are left out. */
struct pp_pass_set *pp_pass_set_new(const struct pp_pass_context *context, const char *const *names,
				    unsigned n_names);
void pp_pass_set_free(struct pp_pass_set *set);

/* Whether all who see calls see them apart. */
bool pp_pass_set_calls_apart(const struct pp_pass_set *set);

/* PP_EVENT_MASK of all kinds that any of them wants. */
unsigned pp_pass_set_kinds(const struct pp_pass_set *set);

/* In order of time.  `set` is a void * so that this can be handed to pp_events_read(). */
void pp_pass_set_event(void *set, const struct pp_event *event);

void pp_pass_set_finish(struct pp_pass_set *set, int64_t end_ns);

/* The tables of the pass with that name, after the end; they stay the set's.  NULL: not in it. */
struct pp_table **pp_pass_set_tables(const struct pp_pass_set *set, const char *name,
				     unsigned *ret_n);

#endif
