/* SPDX-License-Identifier: MIT */
/* Times, each of which is taken once: the last that there is at or before another time. */
#ifndef PP_CORE_LATEST_H
#define PP_CORE_LATEST_H

#include <stdint.h>

#include <glib.h>

struct pp_latest;

struct pp_latest *pp_latest_new(void);
void pp_latest_free(struct pp_latest *latest);

/* `id` is not negative.  All are added before the first is taken. */
void pp_latest_add(struct pp_latest *latest, uint64_t time_ns, int id);

/* Its id, of equal ones the greatest; -1: there is none. */
int pp_latest_take(struct pp_latest *latest, uint64_t time_ns);

#endif
