/* SPDX-License-Identifier: MIT */
/*
 * Call histories for passes that do not depend on the order of calls of different threads.  Between
 * two other events, the streams are read independently, on all CPUs if there are many records.
 *
 * The first record of a thread arrives alone, in time order among all events, since it may affect
 * the state of others.
 */
#ifndef PP_CALLS_PARALLEL_READ_H
#define PP_CALLS_PARALLEL_READ_H

#include "ctf/sweep.h"

struct pp_calls_apart;

/*
 * Adds the histories to `sweep`, whose other feeds determine when calls are delivered to its
 * decoder.  Returns NULL if calls must be read in time order.
 */
struct pp_calls_apart *pp_calls_apart_new(struct pp_sweep *sweep);

/* The streams, of struct pp_calls_stream *. */
const GPtrArray *pp_calls_apart_streams(const struct pp_calls_apart *apart);

/* Delivers the remaining calls at the end of the sweep. */
void pp_calls_apart_finish(struct pp_calls_apart *apart);
void pp_calls_apart_free(struct pp_calls_apart *apart);

#endif
