/* SPDX-License-Identifier: MIT */
/* The call paths of samples of another process, from copies of its stacks. */
#ifndef PP_RECORD_SAMPLES_UNWIND_H
#define PP_RECORD_SAMPLES_UNWIND_H

#include "record/perf/stacks.h"
#include "sync-trace/events.h"

struct pp_unwinder;

struct pp_unwinder *pp_unwinder_new(pid_t pid);
void pp_unwinder_free(struct pp_unwinder *unwinder);

/* Is this address in an object that was loaded when the unwinder was made? */
bool pp_unwinder_knows(const struct pp_unwinder *unwinder, uint64_t address);

/*
 * Fills frames, from the inside: the PC plus 1, then return addresses, up to `most`.  Returns their
 * number and why there are no more.
 */
unsigned pp_unwind(struct pp_unwinder *unwinder, const struct pp_stack_sample *sample,
		   uint64_t *frames, unsigned most, enum st_path_end *ret_end);

#endif
