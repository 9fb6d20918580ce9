/* SPDX-License-Identifier: MIT */
/* clang-format off */
/*
 * A model as a text file, to be kept, or written by hand. Lines are
 *
 *   gprof-mt-model 1         the first line
 *   cpus N                   of the machine
 *   run NS                   run time of the recorded run
 *   quantum NS, wake NS...   of the scheduler (model.h)
 *   others N                 other programs' threads, in thousandths
 *   costs B R W U            CPU time of contention: struct pp_contention_costs
 *   recording NS             CPU time of an operation, by recording it
 *   lock "NAME"              an object; objects have the numbers 0, 1, ... in the order of lines
 *   sem VALUE "NAME"         ... with its initial value
 *   barrier COUNT "NAME"     ... of so many threads
 *   cond "NAME"              ... a condition
 *   site "NAME"              a call site; their numbers are 1, 2, ...
 *   share IN ALL SITE "NAME" of ALL ns in sections entered there, or "outside" of sections, IN are
 *                            in the function with this name and those that it calls
 *   thread NS "NAME"         a thread, 0, 1, ..., and when it begins, or "created"
 *   access UNIT read|write   behind an acquisition: its section works on this data, 0: none
 *   NS OPERATION [SITE] [@RANK]
 *                            a step of the last thread: its CPU time, and then
 *                            lock|spin|rdlock|unlock|wait|post|barrier|notify OBJECT,
 *                            trylock|tryspin|tryrdlock OBJECT,
 *                            notified OBJECT:COUNT, await THREAD:STEP, sleep NS,
 *                            create THREAD, exit, signal
 *
 * Steps have the numbers 0, 1, ... in their thread. Names are quoted as in C. A line that begins
 * with # is a comment.
 */
/* clang-format on */
#ifndef PP_REPLAY_MODEL_FILE_H
#define PP_REPLAY_MODEL_FILE_H

#include "core/error.h"
#include "replay/model.h"

/* Replaces the file. Returns 0 or -errno. */
int pp_replay_write(const struct pp_replay_model *model, const char *path, struct pp_error *err);

/* Reads and checks a model. Returns NULL after an error, which names the line. */
struct pp_replay_model *pp_replay_read(const char *path, struct pp_error *err);

#endif
