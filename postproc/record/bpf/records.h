/* SPDX-License-Identifier: MIT */
/*
 * Memory that the BPF programs (programs.bpf.c) and the collector share.
 *
 * A map of one element holds a bit for each thread number, set for the threads of the profiled
 * program: the first by the collector, others by the fork program, which decides for each new
 * number anew, so that nothing has to be undone when a thread ends.
 *
 * Another map has a ring for each CPU: slots of one size, which only programs on that CPU fill. One
 * program may interrupt another, so a slot is taken first, by adding to `head`, and marked when all
 * of it is written; nothing orders the two but the order of stores, which x86 keeps. The records
 * behind `tail`, up to the first slot without the mark of this lap, are complete. The kernel does
 * not let a program interrupt itself, and counts these omissions. After each half of a ring a perf
 * event wakes the collector.
 */
#ifndef PP_RECORD_BPF_RECORDS_H
#define PP_RECORD_BPF_RECORDS_H

#include <stdint.h>

#include "record/ctf/kevent.h"

/* Every thread number that 64-bit Linux gives out (PID_MAX_LIMIT). */
#define PP_BPF_TIDS	  (4u << 20)
#define PP_BPF_TIDS_BYTES (PP_BPF_TIDS / 8)

/* Set before the programs are loaded, for which these are constants. */
struct pp_bpf_settings {
	uint32_t n_slots;      /* of each ring; a power of two */
	uint32_t slots_shift;  /* its logarithm */
	int64_t preempt_count; /* bytes from a CPU's run queue to its preempt count */
};

struct pp_bpf_ring_head {
	/* A line that the programs write ... */
	uint64_t head;	  /* slots taken so far */
	uint64_t dropped; /* for want of a slot */
	/* The program's thread that this CPU was last seen to switch to, 0: another's. */
	uint32_t current;
	uint8_t unused[44];
	/* ... and the collector's. */
	uint64_t tail; /* records taken out */
	uint8_t unused2[56];
};
#define PP_BPF_CURRENT_UNKNOWN UINT32_MAX
_Static_assert(sizeof(struct pp_bpf_ring_head) == 128, "two cache lines");

/* Slots left free by who finds a ring full: others may have looked, and been interrupted. */
#define PP_BPF_SPARE 16

enum pp_bpf_kind {
	PP_BPF_SWITCH,
	PP_BPF_WAKING,
	PP_BPF_MISSED,
	PP_BPF_ENTER,
	PP_BPF_EXIT,
	PP_BPF_FAULT_USER,
	PP_BPF_FAULT_KERNEL,
};
#define PP_BPF_ODD_SHIFT 7
#define PP_BPF_ODD	 (1 << PP_BPF_ODD_SHIFT)
#define PP_BPF_NO_NUMBER UINT16_MAX

struct pp_bpf_record {
	uint64_t time_ns; /* CLOCK_MONOTONIC, as perf reads it */
	uint8_t mark; /* enum pp_bpf_kind, with PP_BPF_ODD in every second lap, the first of all */
	uint8_t unused;
	uint16_t number; /* ENTER, EXIT: of the system call */
	int32_t tid;	 /* SWITCH: previous; WAKING: woken; level full: who */
	union {
		uint64_t args[PP_N_VALUES]; /* ENTER; EXIT: [0] is the result */
		struct {
			uint32_t state;	   /* SWITCH: TASK_ and EXIT_ bits of the previous; else:
					      preempt_count */
			int32_t other_tid; /* SWITCH, MISSED: next; WAKING: waker */
			uint8_t prio, other_prio; /* of them, as the kernel counts */
			uint8_t is_preempted;	  /* SWITCH */
			uint8_t unused2;
			union {
				int32_t target_cpu; /* WAKING */
				uint32_t lag_ns;    /* SWITCH: lower half of time_ns less the run
						       queue's clock */
			};
			union {
				struct {
					char comm[PP_COMM_BYTES];
					char other_comm[PP_COMM_BYTES];
				};
				struct {
					uint64_t
					    clock_ns; /* MISSED: of the run queue, at time_ns */
					uint64_t
					    arrival_ns; /* MISSED: of the next, by that clock */
				};
				uint64_t values[3]; /* FAULT_: address, ip, error code */
			};
		};
	};
};
#define PP_BPF_SLOT_SHIFT 6
_Static_assert(sizeof(struct pp_bpf_record) == 1 << PP_BPF_SLOT_SHIFT, "a slot");

#endif
