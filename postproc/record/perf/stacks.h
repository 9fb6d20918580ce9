/* SPDX-License-Identifier: MIT */
/* Samples of running threads, with registers and stacks, in rings of their own (ring.h). */
#ifndef PP_RECORD_PERF_STACKS_H
#define PP_RECORD_PERF_STACKS_H

#include "record/perf/ring.h"

#define PP_STACK_REGISTERS 17
#define PP_STACK_BYTES	   16384u /* more are not copied */

struct pp_stack_sampling {
	uint64_t period_ns; /* of CPU time */
	bool no_stack;	    /* only the registers */
	/* Set by the first thread, as the kernel permits: */
	bool is_begun;
	bool no_kernel; /* time in the kernel has no samples */
	bool by_pid;	/* Linux before 5.13: child processes are sampled, too */
};

/* A ring for samples alone.  Returns 0 or -errno, as pp_ring_open(). */
int pp_ring_open_stacks(struct pp_ring *ring, int cpu, size_t data_bytes);

/* Samples the thread, and those that it starts from now on.  Returns 0 or -errno. */
int pp_ring_add_stacks(struct pp_ring *ring, pid_t tid, struct pp_stack_sampling *sampling);

/* Closes the event that the last call opened. */
void pp_ring_drop_stacks(struct pp_ring *ring);

struct pp_stack_sample {
	int32_t pid, tid;
	uint64_t time_ns;
	bool has_registers;			/* false: 32-bit code */
	uint64_t registers[PP_STACK_REGISTERS]; /* by DWARF's numbers; the last is the PC */
	const uint8_t *stack;			/* from the stack pointer on */
	size_t stack_bytes;
};

/* Reads a PERF_RECORD_SAMPLE of pp_ring_add_stacks(); `stack` points into it. */
void pp_stack_sample_read(const struct perf_event_header *header, bool no_stack,
			  struct pp_stack_sample *ret);

#endif
