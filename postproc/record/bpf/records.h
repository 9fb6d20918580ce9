/* SPDX-License-Identifier: MIT */
/*
 * Memory that the BPF programs (programs.bpf.c) and the collector share.
 *
 * A map with one element holds a bit for each tid, which is set for the threads of the profiled
 * program.  The collector sets the first one.  The fork program decides anew for each new tid, so
 * nothing has to be undone when a thread ends.
 *
 * Another map holds a ring for each CPU: slots of equal size, filled only by programs on that CPU.
 * One program may interrupt another, so a program first claims a slot by incrementing `head` and
 * marks the slot when it is complete.  Only the order of stores orders the two, which x86
 * preserves. The records from `tail` up to the first slot without the mark of this lap are
 * complete.  The kernel does not let a program interrupt itself, and counts these omissions.  After
 * each half of a ring a perf event wakes the collector.
 */
#ifndef PP_RECORD_BPF_RECORDS_H
#define PP_RECORD_BPF_RECORDS_H

#include <stdint.h>

#include "record/ctf/kevent.h"

/* All tids that 64-bit Linux uses (PID_MAX_LIMIT). */
#define PP_BPF_TIDS	  (4u << 20)
#define PP_BPF_TIDS_BYTES (PP_BPF_TIDS / 8)

/* Set before the programs are loaded; they are constants for the programs. */
struct pp_bpf_settings {
	uint32_t n_slots;      /* per ring; a power of two */
	uint32_t slots_shift;  /* log2 of n_slots */
	int64_t preempt_count; /* bytes from a CPU's run queue to its preempt count */
};

struct pp_bpf_ring_head {
	/* The cache line that the BPF programs write. */
	uint64_t head;	  /* slots claimed so far */
	uint64_t dropped; /* events without a free slot */
	/* The program's thread that this CPU last switched to; 0: a thread of another program. */
	uint32_t current;
	uint8_t unused[44];
	/* The cache line that the collector writes. */
	uint64_t tail; /* records consumed */
	uint8_t unused2[56];
};
#define PP_BPF_CURRENT_UNKNOWN UINT32_MAX
_Static_assert(sizeof(struct pp_bpf_ring_head) == 128, "two cache lines");

/*
 * A program that finds the ring full leaves this many slots free, because programs that it
 * interrupted may already have checked for space.
 */
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

/* Fields of preempt_count: in a software interrupt; in a hardware interrupt or NMI. */
#define PP_BPF_SOFTIRQ 0x000100u
#define PP_BPF_HARDIRQ 0xff0000u

struct pp_bpf_record {
	uint64_t time_ns; /* CLOCK_MONOTONIC, as perf reads it */
	uint8_t mark; /* enum pp_bpf_kind, plus PP_BPF_ODD in every second lap, from the first on */
	uint8_t unused;
	uint16_t number; /* ENTER, EXIT: number of the system call */
	int32_t tid;	 /* SWITCH: previous; WAKING: woken; level full: current */
	union {
		uint64_t args[PP_N_VALUES]; /* ENTER: arguments; EXIT: [0] is the result */
		struct {
			uint32_t state;		  /* SWITCH: TASK_ and EXIT_ bits of the previous;
						   * others: preempt_count; WAKING: without
						   * the software interrupt that delivers
						   * what the waker sends */
			int32_t other_tid;	  /* SWITCH, MISSED: next; WAKING: waker */
			uint8_t prio, other_prio; /* of tid and other_tid, on the kernel's scale */
			uint8_t is_preempted;	  /* SWITCH */
			uint8_t unused2;
			union {
				int32_t target_cpu; /* WAKING */
				uint32_t lag_ns;    /* SWITCH: lower half of time_ns minus the
						     * run queue's clock */
			};
			union {
				struct {
					char comm[PP_COMM_BYTES];
					char other_comm[PP_COMM_BYTES];
				};
				struct {
					uint64_t
					    clock_ns; /* MISSED: the run queue's clock at time_ns */
					uint64_t arrival_ns; /* MISSED: arrival of the next thread,
							      * by that clock */
				};
				uint64_t values[3]; /* FAULT_: address, ip, error code */
			};
		};
	};
};
#define PP_BPF_SLOT_SHIFT 6
_Static_assert(sizeof(struct pp_bpf_record) == 1 << PP_BPF_SLOT_SHIFT, "a slot");

#endif
