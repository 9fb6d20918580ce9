/* SPDX-License-Identifier: MIT */
/*
 * One kernel record, as the collector passes it from the rings to the CTF streams.
 *
 * Values are those that LTTng would write: priorities minus MAX_RT_PRIO (100), and prev_state as a
 * set of TASK_ bits, with 0 for a preempted thread.
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
	PP_KEVENT_STATE, /* not from a ring: a thread that already ran, and its state in /proc */
	PP_KEVENT_COMM,	 /* not written: it updates the names in the process tree */
	PP_KEVENT_LOST,	 /* not written as an event: the ring of this CPU overflowed */
	/* From here on: events of level full. */
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

/* The context of a wake-up: the thread's own code, or an interrupt that ran on top of it. */
enum pp_kevent_irq { PP_IRQ_NONE, PP_IRQ_SOFT, PP_IRQ_HARD };

#define PP_COMM_BYTES	  16
#define PP_N_VALUES	  6
#define PP_TID_NOT_KNOWN  (-1)
#define PP_COMM_NOT_KNOWN "?"
/* Below every priority that LTTng writes: -101 (deadline) to 39 (nice 19). */
#define PP_PRIO_NOT_KNOWN (-128)
#define PP_MAX_RT_PRIO	  100
/* The TASK_ bits that give the reason for a stop; perf sets the bit above them for "preempted". */
#define PP_STATE_MASK	0xff
#define PP_STATE_SLEEPS 0x03 /* interruptible or not */
#define PP_STATE_EXITED 0x30 /* EXIT_DEAD, EXIT_ZOMBIE: the thread will not run again */

struct pp_kevent {
	uint64_t time_ns;
	uint8_t kind;	    /* enum pp_kevent_kind */
	uint8_t irq;	    /* WAKING, and level full: enum pp_kevent_irq */
	uint8_t side_band;  /* SWITCH: from a context-switch record instead of the tracepoint */
	int16_t prev_state; /* SWITCH; STATE: the state, 0 if it is running or ready to run */
	int8_t prio;	    /* of `tid` */
	int8_t other_prio;
	int32_t cpu;
	int32_t tid; /* SWITCH: previous; WAKING: woken; FORK: child; else: the thread concerned */
	int32_t other_tid;  /* SWITCH: next; WAKING: waker; FORK: parent; EXEC: old tid */
	int32_t pid;	    /* process of `tid`; 0: unknown */
	int32_t other_pid;  /* FORK: parent's process */
	int32_t target_cpu; /* WAKING */
	int32_t number;	    /* SYSCALL_...: number of the call */
	uint64_t lost;	    /* LOST */
	union {
		struct {
			char comm[PP_COMM_BYTES]; /* of `tid` */
			char other_comm[PP_COMM_BYTES];
		};
		/*
		 * Level full: the fields of full.h; SYSCALL_ENTRY: arguments; SYSCALL_EXIT: result.
		 */
		uint64_t values[PP_N_VALUES];
	};
	char *filename; /* EXEC: heap-allocated, owned; NULL: unknown */
};

#endif
