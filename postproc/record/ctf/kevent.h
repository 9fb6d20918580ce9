/* SPDX-License-Identifier: MIT */
/*
 * One record of the kernel, as the collector passes it from the rings to the CTF streams.
 *
 * Values carry what LTTng would have written: priorities less MAX_RT_PRIO (100), prev_state as a
 * set of TASK_ bits with 0 for a thread that was preempted.
 */
#ifndef PP_RECORD_CTF_KEVENT_H
#define PP_RECORD_CTF_KEVENT_H

#include <stdint.h>

enum pp_kevent_kind {
	PP_KEVENT_SWITCH,
	PP_KEVENT_WAKING,
	PP_KEVENT_FORK,
	PP_KEVENT_EXIT,
	PP_KEVENT_EXEC,
	PP_KEVENT_COMM, /* not written: keeps the names of the process tree right */
	PP_KEVENT_LOST, /* not written as an event: the ring of this CPU overflowed */
	/* From here on: of level full. */
	PP_KEVENT_SYSCALL_ENTRY,
	PP_KEVENT_SYSCALL_EXIT,
	PP_KEVENT_FAULT_USER,
	PP_KEVENT_FAULT_KERNEL,
	PP_KEVENT_TIMER_START,
	PP_KEVENT_TIMER_EXPIRE,
	PP_KEVENT_SIGNAL_GENERATE,
	PP_KEVENT_SIGNAL_DELIVER,
	PP_KEVENT_BLOCK_ISSUE,
	PP_KEVENT_BLOCK_COMPLETE,
	PP_N_KEVENTS,
	PP_KEVENT_FULL = PP_KEVENT_SYSCALL_ENTRY,
};
#define PP_N_FULL (PP_N_KEVENTS - PP_KEVENT_FULL)

/* From which context a thread was woken: its own code, or an interrupt that borrowed it. */
enum pp_kevent_irq { PP_IRQ_NONE, PP_IRQ_SOFT, PP_IRQ_HARD };

#define PP_COMM_BYTES	  16
#define PP_N_VALUES	  6
#define PP_TID_NOT_KNOWN  (-1)
#define PP_COMM_NOT_KNOWN "?"
/* Below every priority LTTng writes: -101 (deadline) .. 39 (nice 19). */
#define PP_PRIO_NOT_KNOWN (-128)
#define PP_MAX_RT_PRIO	  100
/* The TASK_ bits that tell why a thread stopped; perf sets the bit above them for "preempted". */
#define PP_STATE_MASK	0xff
#define PP_STATE_EXITED 0x30 /* EXIT_DEAD, EXIT_ZOMBIE: it does not come again */

struct pp_kevent {
	uint64_t time_ns;
	uint8_t kind;	    /* enum pp_kevent_kind */
	uint8_t irq;	    /* WAKING, and level full: enum pp_kevent_irq */
	uint8_t side_band;  /* SWITCH: from a context-switch record, not from the tracepoint */
	int16_t prev_state; /* SWITCH */
	int8_t prio;	    /* of `tid` */
	int8_t other_prio;
	int32_t cpu;
	int32_t tid; /* SWITCH: previous; WAKING: woken; FORK: child; else: whom it is about */
	int32_t other_tid;  /* SWITCH: next; WAKING: waker; FORK: parent; EXEC: old tid */
	int32_t pid;	    /* process of `tid`; 0: not known */
	int32_t other_pid;  /* FORK: parent's process */
	int32_t target_cpu; /* WAKING */
	int32_t number;	    /* SYSCALL_...: which */
	uint64_t lost;	    /* LOST */
	union {
		struct {
			char comm[PP_COMM_BYTES]; /* of `tid` */
			char other_comm[PP_COMM_BYTES];
		};
		/* Of level full: the fields of full.h; SYSCALL_ENTRY: arguments; EXIT: result. */
		uint64_t values[PP_N_VALUES];
	};
	char *filename; /* EXEC: heap, owned; NULL: not known */
};

#endif
