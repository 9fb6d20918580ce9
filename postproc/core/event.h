/* SPDX-License-Identifier: MIT */
/*
 * The core event.  Every input converts its records to core events, and every pass receives them in
 * time order.
 *
 * Events are values on the caller's stack and are valid during the call.  `thread` is the thread
 * that the event describes; kernel events name further threads (woken, switched) in the fields of
 * their kind.  A thread pointer is NULL if the thread is not part of the capture (idle, another
 * program).
 */
#ifndef PP_CORE_EVENT_H
#define PP_CORE_EVENT_H

#include <stdint.h>

#include "core/io_call.h"
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
	PP_EVENT_UNSEEN, /* this CPU is not recorded from here on; thread == NULL */
	PP_EVENT_CALL,	 /* `thread` entered a function; .call */
	/* `thread` is about to return from a function (if its returns are recorded); .call */
	PP_EVENT_RETURN,
	PP_EVENT_LOST,	 /* a stream lost records since its last event; .lost */
	PP_EVENT_STATE,	 /* `thread` ran before the recording, and its state was read; .state */
	PP_EVENT_SAMPLE, /* `thread` was found running, by its CPU clock; .sample */
	/* The kinds below are recorded at level full. */
	PP_EVENT_SYSCALL_ENTRY, /* `thread` entered a system call; .syscall */
	PP_EVENT_SYSCALL_EXIT,	/* `thread` returned from a system call; .syscall */
	PP_EVENT_FAULT,		/* `thread` had a page fault; .fault */
	PP_EVENT_SIGNAL,	/* a signal was sent or delivered to `thread`; .signal */
	PP_EVENT_BLOCK,		/* `thread` issued a block I/O request; .block */
	PP_EVENT_TIMER,		/* a timer expired on this CPU; thread == NULL */
	PP_EVENT_IO,		/* `thread` returned from a blocking call; .io */
	/*
	 * `thread` entered it; .io, with all that is known at its end.  It may be missing, and it
	 * is late if the thread's events within the call, in a signal handler, precede it.
	 */
	PP_EVENT_IO_BEGIN,
	PP_EVENT_SEGMENT,    /* a segment of `thread` ends (sync-trace/accesses.h); .segment */
	PP_EVENT_HEAP_BLOCK, /* `thread` is about to access a block of the heap; .heap */
	PP_EVENT_HEAP_FREED, /* `thread` frees a block of which that was said; .heap */
	PP_N_EVENT_KINDS
};
#define PP_EVENT_MASK(kind) (1u << (kind))

/* The kinds of events in a call history. */
#define PP_CALL_KINDS (PP_EVENT_MASK(PP_EVENT_CALL) | PP_EVENT_MASK(PP_EVENT_RETURN))

/* The kinds of events of blocking calls. */
#define PP_IO_KINDS (PP_EVENT_MASK(PP_EVENT_IO) | PP_EVENT_MASK(PP_EVENT_IO_BEGIN))

/* The kinds of events in a trace of accesses. */
#define PP_ACCESS_KINDS                                                                            \
	(PP_EVENT_MASK(PP_EVENT_SEGMENT) | PP_EVENT_MASK(PP_EVENT_HEAP_BLOCK) |                    \
	 PP_EVENT_MASK(PP_EVENT_HEAP_FREED))

#define PP_SYSCALL_VALUES 6

#define PP_CPU_UNKNOWN (-1)
#define PP_TID_UNKNOWN (-1)

/* Bits of sched_switch's prev_state, as Linux and LTTng define them; 0: the thread was runnable. */
#define PP_STATE_RUNNING	 0
#define PP_STATE_INTERRUPTIBLE	 1
#define PP_STATE_UNINTERRUPTIBLE 2

/*
 * Libraries can be loaded one after the other at the same addresses.  A load id identifies one such
 * load among those at an object's address; an object with another load id begins a new generation.
 * GM_PLACE(load id) is added to the address to find its name; PP_LOAD_UNNAMED there means that the
 * library is unknown.  0: one load occupied the address for the whole capture.
 */
#define PP_LOAD_UNNAMED (GM_PLACE_NONE * GM_PLACE_BYTES)

/* The run-time address, without the number of an unloaded module (GM_PLACE). */
static inline uint64_t pp_address_runtime(uint64_t address)
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
			uint64_t object_load_id, value_load_id;
			const struct pp_path *path; /* to the site; NULL: not known */
			uint64_t more_tries;	    /* a failed try stands for so many more */
			/* executed by the thread so far, see `conditionals` in events.h; 0: not
			 * known */
			uint64_t conditionals;
			/* the number of the acquisition, see `order` in events.h; 0: not known */
			uint64_t order;
		} sync;
		struct {
			/* PP_TID_UNKNOWN: not in the source's records */
			int32_t prev_tid, next_tid;
			int64_t prev_state;
			struct pp_thread *prev, *next;
			/* of a thread outside the capture; NULL: not known */
			const char *next_comm;
		} sched_switch;
		struct {
			struct pp_thread
			    /* current on that CPU; NULL: outside the capture, or not known */
			    *waker;
			int32_t target_cpu;
			int32_t waker_tid; /* also outside the capture; PP_TID_UNKNOWN */
			bool by_interrupt;
		} waking;
		struct {
			int64_t bits; /* as prev_state; 0: on a CPU, or ready to run */
		} state;
		struct {
			struct pp_thread *parent;
			int32_t parent_tid, child_tid, child_pid;
		} fork;
		struct {
			uint64_t from; /* calls: return address in the caller; 0: not known */
			/*
			 * Calls: an address in the called function, 0 if not known.  Returns: the
			 * low 24 bits of such an address.
			 */
			uint64_t self;
		} call;
		struct {
			uint64_t count;
		} lost;
		struct {
			/*
			 * From the interrupted instruction to the thread's first function, as the
			 * paths of synch-events: the byte before each address belongs to the
			 * instruction. NULL: not known, since its definition is missing.
			 */
			const struct pp_path *path;
			/* CPU time of the thread that the sample stands for; 0 in no sample */
			uint64_t weight_ns;
			unsigned end; /* enum st_path_end: why the path ends */
		} sample;
		struct {
			const char *name;	  /* "read"; static */
			unsigned n_values;	  /* arguments; at an exit, 1 or 0 for the result */
			const char *const *names; /* names of the arguments; static */
			int64_t values[PP_SYSCALL_VALUES];
		} syscall;
		struct {
			uint64_t address, ip;
		} fault;
		struct {
			int number;
			bool delivered;		  /* false: sent */
			struct pp_thread *sender; /* NULL: outside the capture, or the kernel */
			int32_t sender_tid;
		} signal;
		struct {
			uint64_t sector, bytes;
			bool is_write;
		} block;
		struct {
			enum st_io_call call;
			uint8_t error;		    /* of a call that failed; 0: none */
			int fd;			    /* -1: none, or several */
			uint64_t object;	    /* sync-trace/calls.h: enum st_io_object */
			uint64_t site;		    /* run-time return address; 0: not known */
			uint64_t duration_ns;	    /* of the call, up to PP_EVENT_IO */
			const struct pp_path *path; /* to the site; NULL: not known */
		} io;
		struct {
			struct pp_access_set *set;	     /* core/access_set.h; borrowed */
			const struct pp_access_order *order; /* of its lines; borrowed */
			unsigned n_order;		     /* 0: not known */
			uint64_t duration_ns;		     /* it began so long before */
			uint64_t reads, writes;		     /* accesses */
			uint64_t left_out;		     /* ... of which the set lacks lines */
			unsigned flags;			     /* enum st_access_flags */
		} segment;
		struct {
			uint64_t address, size;
			uint64_t site; /* run-time return address; 0: not known */
		} heap;
	};
};

#endif
