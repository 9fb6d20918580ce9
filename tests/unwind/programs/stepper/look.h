/* SPDX-License-Identifier: MIT */
/* The stepper asks the stepped process for the path that gm_unwind() finds at given registers. */
#ifndef STEPPER_LOOK_H
#define STEPPER_LOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/unwind/unwind.h"

#define FRAMES_MAX 512u

/* In memory that both processes share. */
struct look {
	struct gm_registers at;
	unsigned n;
	enum gm_unwind_end end;
	uint64_t addresses[FRAMES_MAX];
	/* The code that the unwind tables describe together with the instruction; 0: none. */
	uint64_t function_start, function_end;
};

#define REGIONS_MAX 8u

/* A stack other than the first one. */
struct region_of {
	uint64_t start, end;
};

struct shared {
	struct look look;
	struct region_of regions[REGIONS_MAX];
	unsigned n_regions;
	bool takes_signals;
};

extern struct shared *shared;

/* The stepper lets the process execute from here, with %rsp at look_stack_end, up to look_done. */
void look_begin(void);
extern char look_stack_end[], look_done[];

/* Called by stepped code before it uses another stack. */
void step_stack(void *start, size_t n_bytes);

/* Called by stepped code that handles SIGUSR1 and SIGUSR2. */
void step_signals(void);

/* Calls the function without stepping it. */
void step_skip(void (*function)(void));
extern char look_skip_begins[], look_skip_ends[];

/* Calls the function between the instructions stepping_begins and stepping_ends. */
void look_run(void (*stepped)(void));
extern char stepping_begins[], stepping_ends[];

#endif
