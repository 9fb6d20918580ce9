/* SPDX-License-Identifier: MIT */
/*
 * The trace format of libsync-trace: every event, its fields and its meaning.
 *
 * The CTF metadata text, the writer's structures and the reader's table of names are all generated
 * from the one list below. A released name keeps its meaning; new events are added at the end.
 *
 * Streams: <pid>/user/stream_<n>, CTF 1.8, little-endian, bit-packed to bytes (align = 8); a long
 * stream continues in stream_<n>_1, _2, ..., with the same stream_instance_id. A packet belongs to
 * one thread, with `tid` and `index` in its context; the packets of a stream belong to threads that
 * lived one after the other. Packet header: magic, uuid, stream_id = 0, stream_instance_id = n.
 * Packet context: content_size, packet_size (bits), timestamp_begin (ns), events_discarded (since
 * the stream began), tid, index. content_size is stored after each event, so a packet is readable
 * at any instant.
 *
 * Event header: `id` (8 bits). 255 is the extended header: the actual id (8 bits) and the full time
 * stamp (64 bits). Otherwise a 32-bit time stamp: the low bits, which a reader extends as CTF
 * defines; the writer uses the extended header whenever more than 2^32 ns passed since the last
 * event of the stream.
 *
 * Fields:
 *   site      16 bits: the call site, defined earlier in the same stream by a `site` event; 0: not
 *             known (the table of a stream is full).
 *   object    64 bits: address of the synchronization object; for threads, the pthread_t.
 *   result    8 bits: the result of the call: 0, or the error number (errno for semaphores);
 *             PTHREAD_BARRIER_SERIAL_THREAD is 255.  ECANCELED (125) of a condition wait: the
 *             thread was cancelled in it, and holds the mutex again.
 *   holder    32 bits: the tid of the object's owner when the caller found it taken; 0: the object
 *             does not store it.
 *
 * An operation that found its object free is one event, stamped when the call returned. Releases
 * (mutex_unlock, rwlock_unlock, spin_unlock, sem_post, cond_signal, cond_broadcast, thread_create,
 * the last arrival at a barrier) are stamped before the call, so that their effects have later
 * stamps. An operation that had to wait is two events: X_begin, stamped before the wait, then X. An
 * X without an X_begin before it in the stream for the same object did not wait. A wait that never
 * ended (the thread was cancelled or killed in it) is an X_begin without X. cond_wait and
 * cond_timedwait always have both: from X_begin to X the mutex is released, and X stands for its
 * re-acquisition; a mutex of 0 is not recorded ([sync] exclude).
 *
 * Events of sent signals, and of cancellation, are stamped before the call and have the result 0,
 * since the call may never return: the handler may run inside it. If the call fails, signal_failed
 * or thread_failed with the result follows, of the same thread and object.
 *
 * A second event class of a name (ST_SAME_EVENTS) has no `object`: it is that of the preceding
 * event in the same packet, definitions not counted. So repeated locks and unlocks of one mutex
 * take 8 bytes per operation.
 *
 * A wait of at least [sync] paths, a release while others waited, the end of a thread, and a
 * sampled acquisition that did not wait ([sync] path_sample) is preceded by a call_path if the
 * program's frames could be followed beyond the site. The path of
 * thread_exit is that of the call that ended the thread: of pthread_exit(), or of the wait in which
 * it was cancelled; or it is the start routine alone (its address and 1), if that has returned. A
 * call_path names a node, which a `path` before it
 * in the stream has defined: an address, and the node of its caller. The path is that node with all
 * its callers. The outermost one has, in place of a caller, the reason why the path ends there.
 * Each node has a number of its own, greater than all before it in the stream, so a reader that
 * lacks a packet finds nodes undefined, but none with another's definition. A path that ends early
 * at the site itself has a node for its reason alone.
 *
 * conditionals gives the number of conditionals that the thread has executed so far
 * (conditionals.c), if it has changed since the last such event of the stream. It holds for the
 * next event. Only code built with -fsanitize-coverage=trace-pc counts.
 *
 * order gives the number of the next event's acquisition of its lock ([sync] order = on; of a
 * condition wait, of its mutex): 2 for the first one at that address that excludes others, and so
 * on; of a reader, the number of the last of these, or 1. It was taken while the lock was held, so
 * it tells the order where time stamps may not. It goes on when the lock is destroyed, or another
 * one is made at its address.
 *
 * io_call is a call that may block for another reason than an object above (calls.h). It is one
 * event, stamped at the end of the call, which lasted `duration` ns, at least [io] threshold. It
 * has its path in a field (0: none), and no call_path. result: 0, or the error number of a call
 * that failed; ECANCELED: the thread was cancelled in it. If a signal handler makes such calls
 * while the interrupted code is in one, their times overlap.
 */
#ifndef SYNC_TRACE_EVENTS_H
#define SYNC_TRACE_EVENTS_H

#include <stdint.h>

#define ST_EVENT_EXTENDED	255
#define ST_RESULT_SERIAL_THREAD 255
#define ST_PATH_MAX		240u /* addresses of a path; less with [sync] path_depth */
#define ST_PATH_FIRST		16u  /* number of a stream's first node */

/* Why a call path ends. */
enum st_path_end {
	ST_PATH_OUTERMOST,  /* it is complete */
	ST_PATH_DEPTH,	    /* it has more frames than [sync] path_depth */
	ST_PATH_NO_OBJECT,  /* code outside of all loaded objects */
	ST_PATH_NO_TABLE,   /* code without an unwind table, and no frame pointer */
	ST_PATH_BAD_TABLE,  /* the unwind table is damaged, or disagrees with the code */
	ST_PATH_EXPRESSION, /* an unwind rule of a kind that is not supported */
	ST_PATH_STACK,	    /* the next frame is outside of the known stack */
	ST_N_PATH_ENDS
};

/*
 * Shapes: the fields that follow the event header, in this order, without padding.
 *   OP             result u8, site u16, object u64
 *   BEGIN          result u8 (0), site u16, object u64, holder u32
 *   VALUE          result u8, site u16, object u64, value u32
 *   COND           result u8, site u16, object u64, mutex u64
 *   ROUTINE        result u8, site u16, object u64, routine u64 (run-time address)
 *   SITE           number u16, address u64 (return address of the call)
 *   CALL_PATH      path u32 (number of the site's node), object_low u32 (low half of the address)
 *   PATH           number u32, parent u32 (the caller's node, or enum st_path_end), address u64
 *   SAME           result u8, site u16
 *   TRIES          object u64, holder u32, more u64
 *   CONDITIONALS   count u64
 *   ORDER          number u64
 *   IO             result u8, site u16, object u64, call u8 (enum st_io_call), path u32 (number of
 *                  the site's node; 0: none), duration u64 (ns)
 */
#define ST_EVENTS(X)                                                                               \
	X(site, SITE)                                                                              \
	/* value: PTHREAD_MUTEX_NORMAL, ... as glibc numbers them */                               \
	X(mutex_init, VALUE)                                                                       \
	X(mutex_destroy, OP)                                                                       \
	X(mutex_lock_begin, BEGIN)                                                                 \
	X(mutex_lock, OP)                                                                          \
	X(mutex_trylock, OP)                                                                       \
	X(mutex_timedlock_begin, BEGIN)                                                            \
	X(mutex_timedlock, OP)                                                                     \
	X(mutex_unlock, OP)                                                                        \
	X(cond_init, OP)                                                                           \
	X(cond_destroy, OP)                                                                        \
	X(cond_wait_begin, COND)                                                                   \
	X(cond_wait, COND)                                                                         \
	X(cond_timedwait_begin, COND)                                                              \
	X(cond_timedwait, COND)                                                                    \
	X(cond_signal, OP)                                                                         \
	X(cond_broadcast, OP)                                                                      \
	/* value: the initial count */                                                             \
	X(sem_init, VALUE)                                                                         \
	X(sem_open, VALUE)                                                                         \
	X(sem_destroy, OP)                                                                         \
	X(sem_close, OP)                                                                           \
	X(sem_wait_begin, BEGIN)                                                                   \
	X(sem_wait, OP)                                                                            \
	X(sem_trywait, OP)                                                                         \
	X(sem_timedwait_begin, BEGIN)                                                              \
	X(sem_timedwait, OP)                                                                       \
	X(sem_post, OP)                                                                            \
	/* value: the number of threads it takes */                                                \
	X(barrier_init, VALUE)                                                                     \
	X(barrier_destroy, OP)                                                                     \
	X(barrier_wait_begin, BEGIN)                                                               \
	X(barrier_wait, OP)                                                                        \
	/* object: the new thread's pthread_t (0 on failure) */                                    \
	X(thread_create, ROUTINE)                                                                  \
	/* in the new thread, before its routine; value: the creator's index */                    \
	X(thread_start, VALUE)                                                                     \
	X(thread_exit, OP)                                                                         \
	X(thread_join_begin, BEGIN)                                                                \
	X(thread_join, OP)                                                                         \
	X(thread_detach, OP)                                                                       \
	/* value: its kind as glibc numbers them; rd, wr: for reading, for writing */              \
	X(rwlock_init, VALUE)                                                                      \
	X(rwlock_destroy, OP)                                                                      \
	X(rwlock_rdlock_begin, BEGIN)                                                              \
	X(rwlock_rdlock, OP)                                                                       \
	X(rwlock_tryrdlock, OP)                                                                    \
	X(rwlock_timedrdlock_begin, BEGIN)                                                         \
	X(rwlock_timedrdlock, OP)                                                                  \
	X(rwlock_wrlock_begin, BEGIN)                                                              \
	X(rwlock_wrlock, OP)                                                                       \
	X(rwlock_trywrlock, OP)                                                                    \
	X(rwlock_timedwrlock_begin, BEGIN)                                                         \
	X(rwlock_timedwrlock, OP)                                                                  \
	X(rwlock_unlock, OP)                                                                       \
	/* value: shared between processes; a waiter spins */                                      \
	X(spin_init, VALUE)                                                                        \
	X(spin_destroy, OP)                                                                        \
	X(spin_lock_begin, BEGIN)                                                                  \
	X(spin_lock, OP)                                                                           \
	X(spin_trylock, OP)                                                                        \
	X(spin_unlock, OP)                                                                         \
	/* begin: another thread runs the routine; stamped when it has run, in any thread */       \
	X(once_begin, BEGIN)                                                                       \
	X(once, OP)                                                                                \
	/* object: the target: a pid or negative (sign-extended), or a tid; value: signal */       \
	X(signal_kill, VALUE)                                                                      \
	X(signal_killpg, VALUE)                                                                    \
	X(signal_tgkill, VALUE)                                                                    \
	X(signal_raise, VALUE)                                                                     \
	X(signal_sigqueue, VALUE)                                                                  \
	X(signal_failed, OP)                                                                       \
	X(thread_kill, VALUE)                                                                      \
	X(thread_sigqueue, VALUE)                                                                  \
	X(thread_cancel, OP)                                                                       \
	X(thread_failed, OP)                                                                       \
	/* the call path of the next event of this object in the stream */                         \
	X(call_path, CALL_PATH)                                                                    \
	X(path, PATH)                                                                              \
	/* the next event of this object in the stream, a failed try, stands for `more` besides */ \
	X(tries, TRIES)                                                                            \
	/* OpenMP: a critical section, by its name's address; the unnamed one has one object */    \
	X(mutex_critical_begin, BEGIN)                                                             \
	X(mutex_critical, OP)                                                                      \
	X(mutex_critical_end, OP)                                                                  \
	/* ... a lock; value: 1 if it is nestable */                                               \
	X(mutex_omp_init, VALUE)                                                                   \
	X(mutex_omp_destroy, OP)                                                                   \
	X(mutex_omp_lock_begin, BEGIN)                                                             \
	X(mutex_omp_lock, OP)                                                                      \
	X(mutex_omp_trylock, OP)                                                                   \
	X(mutex_omp_unlock, OP)                                                                    \
	/* ... a barrier of a team; always both, also for the last thread */                       \
	X(barrier_team_begin, BEGIN)                                                               \
	X(barrier_team, OP)                                                                        \
	/* ... the end of a parallel region, by its call site: the thread that began it waits; */  \
	/* without a begin: the last thread to arrive */                                           \
	X(barrier_join_begin, BEGIN)                                                               \
	X(barrier_join, OP)                                                                        \
	/* ... waits for tasks, without the tasks that the thread runs meanwhile */                \
	X(barrier_tasks_begin, BEGIN)                                                              \
	X(barrier_tasks, OP)                                                                       \
	/* ... a thread begins a region, by the threads of its team; one of these has none */      \
	X(thread_region, OP)                                                                       \
	X(thread_idle_begin, BEGIN)                                                                \
	X(thread_idle, OP)                                                                         \
	/* object: enum st_io_object of the call */                                                \
	X(io_call, IO)                                                                             \
	/* a robust mutex whose owner has died, by its new owner */                                \
	X(mutex_consistent, OP)                                                                    \
	/* of the next event's thread */                                                           \
	X(conditionals, CONDITIONALS)                                                              \
	/* of the next event's lock */                                                             \
	X(order, ORDER)

enum st_event {
#define ST_EVENT_ID(name, shape) ST_EVENT_##name,
	ST_EVENTS(ST_EVENT_ID)
#undef ST_EVENT_ID
	    ST_N_EVENTS
};

/* Event classes of shape SAME, numbered after the others; they have the names of these events. */
#define ST_SAME_EVENTS(X)                                                                          \
	X(mutex_lock)                                                                              \
	X(mutex_unlock)

enum st_same_event {
	ST_BEFORE_SAME = ST_N_EVENTS - 1,
#define ST_SAME_ID(name) ST_SAME_##name,
	ST_SAME_EVENTS(ST_SAME_ID)
#undef ST_SAME_ID
	    ST_N_CLASSES
};
_Static_assert(ST_N_CLASSES < ST_EVENT_EXTENDED, "ids are one byte");

/*
 * With `sync.mode = contended` these are written only if they had to wait, or if another thread
 * waited for their release, or for the lock that they acquired; and so are acquisitions that the
 * thread had not released when it wrote another event, and their releases. A run of failed tries is
 * one event, with the time of the first; so is the operation that ended it. Otherwise they are
 * counted in <pid>/sync-counts, whatever their result. The file has the header, and from
 * header_bytes on a row of counts for each thread, by its index in <pid>/threads. A count's place
 * in the row is its place in this list, which only grows. The file is live memory, like `threads`
 * (format.h); it does not exist in the other modes.
 */
#define ST_COUNTS_FILE	"sync-counts"
#define ST_COUNTS_MAGIC "GMTSYNCC"
#define ST_COUNTED_MAX	32u
/*
 * In a row with ST_COUNTS_AUTO: the time since which the thread is counted; 0: it is not counted.
 */
#define ST_COUNTS_SINCE 31u
/* ... and the reason: enum st_since_why. */
#define ST_COUNTS_SINCE_WHY 30u

enum st_since_why { ST_SINCE_BUDGET, ST_SINCE_OUTPUT_MAX };

#define ST_COUNTED_EVENTS(X)                                                                       \
	X(mutex_lock)                                                                              \
	X(mutex_timedlock)                                                                         \
	X(mutex_trylock)                                                                           \
	X(mutex_unlock)                                                                            \
	X(cond_signal)                                                                             \
	X(cond_broadcast)                                                                          \
	X(sem_wait)                                                                                \
	X(sem_timedwait)                                                                           \
	X(sem_trywait)                                                                             \
	X(sem_post)                                                                                \
	X(rwlock_rdlock)                                                                           \
	X(rwlock_timedrdlock)                                                                      \
	X(rwlock_tryrdlock)                                                                        \
	X(rwlock_wrlock)                                                                           \
	X(rwlock_timedwrlock)                                                                      \
	X(rwlock_trywrlock)                                                                        \
	X(rwlock_unlock)                                                                           \
	X(spin_lock)                                                                               \
	X(spin_trylock)                                                                            \
	X(spin_unlock)                                                                             \
	X(once)                                                                                    \
	X(mutex_critical)                                                                          \
	X(mutex_critical_end)                                                                      \
	X(mutex_omp_lock)                                                                          \
	X(mutex_omp_trylock)                                                                       \
	X(mutex_omp_unlock)

enum st_counts_flags {
	/*
	 * Acquisitions and releases of locks that others waited for are events; without the flag
	 * they are only counted.
	 */
	ST_COUNTS_HOLDS = 1,
	ST_COUNTS_AUTO =
	    /* sync.mode = auto or all: a thread is counted only since its ST_COUNTS_SINCE. */
	2,
	ST_COUNTS_TIMED = 4, /* sync.holds: counted holds are timed */
	ST_COUNTS_TRIES = 8, /* runs of failed tries are events (not with LTTng's sink) */
};

enum st_counted {
#define ST_COUNTED_PLACE(name) ST_COUNTED_##name,
	ST_COUNTED_EVENTS(ST_COUNTED_PLACE)
#undef ST_COUNTED_PLACE
	    ST_N_COUNTED
};
_Static_assert(ST_N_COUNTED <= ST_COUNTS_SINCE_WHY, "they have a place each");

struct st_counts_header {
	char magic[8]; /* written last (release) */
	uint32_t schema;
	uint32_t header_bytes;
	uint32_t row_bytes;
	uint32_t n_rows; /* the greatest index that has one, plus 1; atomic */
	uint32_t flags;	 /* enum st_counts_flags */
	uint32_t reserved_flags;
	uint64_t holds_lost; /* with ST_COUNTS_TIMED: holds whose time found no room; atomic */
	uint64_t reserved[3];
};
_Static_assert(sizeof(struct st_counts_header) == 64, "on-disk size");

/*
 * With `sync.holds = yes`: <pid>/sync-holds, a header as above with another magic, and rows. A row
 * has the holds of an object that a thread acquired at a call site, and that are not events: they
 * are counted in sync-counts. A thread may have several rows for one object and site. A row with n
 * = 0 is not in use. Live memory, as above; the process may have been killed between two stores.
 */
#define ST_HOLDS_FILE  "sync-holds"
#define ST_HOLDS_MAGIC "GMTSYNCH"

struct st_holds_row {
	uint64_t object;
	uint64_t site;	   /* return address of the acquisition; 0: not known */
	uint64_t first_ns; /* time of the first of these acquisitions */
	uint64_t n, total_ns, longest_ns;
	uint32_t index;	 /* of the thread in <pid>/threads */
	uint16_t number; /* of the site in the thread's stream */
	uint8_t op;	 /* enum st_event of the acquisition */
	uint8_t reserved;
	uint64_t reserved_end;
};
_Static_assert(sizeof(struct st_holds_row) == 64, "on-disk size");

#endif
