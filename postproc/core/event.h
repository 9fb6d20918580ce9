/* SPDX-License-Identifier: MIT */
/*
 * The core event: what every input makes of its records and every pass sees, in time order.
 *
 * Events are values on the caller's stack, valid during the call.  `thread` is whom the event is
 * about; for kernel events on other threads (woken, switched) see the fields of the kind.  Thread
 * pointers are NULL where the thread is none of the capture's (idle, another program).
 */
#ifndef PP_CORE_EVENT_H
#define PP_CORE_EVENT_H

#include <stdint.h>

#include "core/model.h"
#include "core/operation.h"
#include "gmon-mt/format.h"

enum pp_event_kind {
	PP_EVENT_SYNC,	 /* a synch-event; .sync */
	PP_EVENT_SWITCH, /* sched_switch; .sched_switch; thread == NULL */
	PP_EVENT_WAKING, /* sched_waking: `thread` was woken; .waking */
	PP_EVENT_FORK,	 /* sched_process_fork: `thread` is the new one; .fork */
	PP_EVENT_EXIT,	 /* sched_process_exit of `thread` */
	PP_EVENT_EXEC,	 /* sched_process_exec by `thread` */
	PP_EVENT_UNSEEN, /* what that CPU does from now on was not recorded; thread == NULL */
	PP_EVENT_CALL,	 /* `thread` entered a function; .call */
	PP_EVENT_RETURN, /* ... is about to return from one, in code that tells of it; .call */
	PP_EVENT_LOST,	 /* a stream lost records since its last event; .lost */
	/* From here on: of level full. */
	PP_EVENT_SYSCALL_ENTRY, /* `thread` entered a system call; .syscall */
	PP_EVENT_SYSCALL_EXIT,	/* ... left it; .syscall */
	PP_EVENT_FAULT,		/* `thread` met a page that was not there; .fault */
	PP_EVENT_SIGNAL,	/* for `thread` was raised, or reached it; .signal */
	PP_EVENT_BLOCK,		/* `thread` asked a disk for something; .block */
	PP_EVENT_TIMER,		/* one expired on that CPU; thread == NULL */
	PP_N_EVENT_KINDS
};
#define PP_EVENT_MASK(kind) (1u << (kind))

/* Of a history of calls. */
#define PP_CALL_KINDS (PP_EVENT_MASK(PP_EVENT_CALL) | PP_EVENT_MASK(PP_EVENT_RETURN))

#define PP_SYSCALL_VALUES 6

#define PP_CPU_UNKNOWN (-1)
#define PP_TID_UNKNOWN (-1)

/* Bits of sched_switch's prev_state, as Linux and LTTng give them; 0: it could have gone on. */
#define PP_STATE_RUNNING	 0
#define PP_STATE_INTERRUPTIBLE	 1
#define PP_STATE_UNINTERRUPTIBLE 2

/*
 * Libraries may be loaded one after the other at the same addresses: an era is the time of one of
 * them at an address, which ends the generation of the object there.  GM_PLACE() of it is to be
 * added for names; that of PP_ERA_UNNAMED: what was there is not known.  0: all of the capture.
 */
#define PP_ERA_UNNAMED (GM_PLACE_NONE * GM_PLACE_BYTES)

/* Where it was, of an address by which names are found. */
static inline uint64_t pp_address_then(uint64_t address)
{
	return address - GM_PLACE(address);
}

struct pp_event {
	enum pp_event_kind kind;
	int cpu;
	int64_t time_ns;
	struct pp_thread *thread;
	union {
		struct {
			enum st_event op;
			uint8_t result;
			uint32_t holder; /* X_begin: owner's tid, 0: not known */
			uint64_t object;
			uint64_t site;	/* run-time return address; 0: not known */
			uint64_t value; /* VALUE shape: value; COND: mutex; ROUTINE: routine */
			/* Of the object, and the mutex. */
			uint64_t object_era, value_era;
			const struct pp_path *path; /* to the site; NULL: not known */
		} sync;
		struct {
			int32_t prev_tid, next_tid; /* PP_TID_UNKNOWN: the source cannot tell */
			int64_t prev_state;
			struct pp_thread *prev, *next;
			const char *next_comm; /* of one that is not ours; NULL: not known */
		} sched_switch;
		struct {
			struct pp_thread
			    *waker; /* current on that CPU; NULL: not ours, or unknown */
			int32_t target_cpu;
			int32_t waker_tid; /* whosever it is; PP_TID_UNKNOWN */
			bool by_interrupt;
		} waking;
		struct {
			struct pp_thread *parent;
			int32_t parent_tid, child_tid, child_pid;
		} fork;
		struct {
			uint64_t from; /* of a call: return address in the caller; 0: not known */
			/*
			 * Of a call, an address in the function; 0: not known.  Of a return, the
			 * low 24 bits of one.
			 */
			uint64_t self;
		} call;
		struct {
			uint64_t count;
		} lost;
		struct {
			const char *name;	  /* "read"; stays */
			unsigned n_values;	  /* arguments; of an exit, the result: 1 or 0 */
			const char *const *names; /* of the arguments; they stay */
			int64_t values[PP_SYSCALL_VALUES];
		} syscall;
		struct {
			uint64_t address, ip;
		} fault;
		struct {
			int number;
			bool delivered;		  /* else: raised */
			struct pp_thread *sender; /* NULL: not ours, or the kernel */
			int32_t sender_tid;
		} signal;
		struct {
			uint64_t sector, bytes;
			bool is_write;
		} block;
	};
};

#endif
