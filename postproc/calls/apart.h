/* SPDX-License-Identifier: MIT */
/*
 * Histories of calls for those who do not ask in which order the calls of different threads come:
 * between two other events each stream is read by itself, on all CPUs if there is much.
 *
 * A thread's first record comes in its turn among all events, and alone, since it may begin
 * something that others have a part in.
 */
#ifndef PP_CALLS_APART_H
#define PP_CALLS_APART_H

#include "ctf/sweep.h"

struct pp_calls_apart;

/*
 * For all other feeds in `sweep`, which is told when to hand over calls; its decoder takes them.
 * NULL: they have to come in order.
 */
struct pp_calls_apart *pp_calls_apart_new(struct pp_sweep *sweep);

/* The sweep is over: what is left. */
void pp_calls_apart_finish(struct pp_calls_apart *apart);
void pp_calls_apart_free(struct pp_calls_apart *apart);

#endif
