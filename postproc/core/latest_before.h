/* SPDX-License-Identifier: MIT */
/*
 * A set of times.  Each query takes the latest remaining time at or before a given one out of the
 * set.
 */
#ifndef PP_CORE_LATEST_BEFORE_H
#define PP_CORE_LATEST_BEFORE_H

#include <stdint.h>

#include <glib.h>

struct pp_latest;

struct pp_latest *pp_latest_new(void);
void pp_latest_free(struct pp_latest *latest);

/* Adds a time with an id >= 0.  All times must be added before the first is taken. */
void pp_latest_add(struct pp_latest *latest, uint64_t time_ns, int id);

/*
 * Takes the latest time at or before time_ns and returns its id (the greatest id of equal times);
 * -1 if there is none.
 */
int pp_latest_take(struct pp_latest *latest, uint64_t time_ns);

#endif
