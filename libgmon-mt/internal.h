/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the files of libgmon-mt share.
 *
 * A thread's control block holds its table of arcs; its samples have a second block, which the
 * first one points to. TLS holds a pointer to the table (all that mcount needs) and one to the
 * block. The thread's slot in the process' thread table also points to the block, for the walk at
 * exit and for fork(). Blocks come from a pool and outlive their thread's stack and TLS.
 *
 * gm_flush_lock serializes accesses to the tables of other threads: the walk at exit, fork(), and
 * the growth and end of a table. It is held with signals blocked, and never across a call of the
 * program's code. A thread's own counting and adding of arcs needs no lock.
 */
#ifndef GM_INTERNAL_H
#define GM_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "gmon-mt/format.h"
#include "gmon-mt/histogram.h"
#include "runtime/process/loadmap.h"
#include "runtime/stream/clock.h"
#include "runtime/stream/stream.h"
#include "runtime/sys/lock.h"

struct gm_process;

enum gm_state {
	GM_STATE_UNBORN = 0,  /* the loader has not yet initialized thread-local storage */
	GM_STATE_NEWBORN = 1, /* no call seen yet, or no room on the disk until now */
	GM_STATE_NOMINAL = 2,
	GM_STATE_LOST = 3,    /* calls are counted as lost, perhaps temporarily */
	GM_STATE_OFF = 4,     /* the process is not profiled; mcount returns at once */
	GM_STATE_PAUSED = 5,  /* moncontrol(0) */
	GM_STATE_HISTORY = 6, /* nominal, and each call is also recorded */
};

struct gm_arc {
	uint64_t from, self, count;
	uint64_t record; /* its calls in the history, without the time; 0: not defined there yet */
};

struct gm_table {
	struct gm_calls_header header;
	struct gm_arc arcs[];
};

/*
 * A thread's mcount finds its table through its view. Views lie in memory that is zeroed in every
 * child process (MADV_WIPEONFORK). A view of zeros stands for an empty table, namely the view
 * itself; the empty slot behind it exists because a view is never the last one in that memory.
 */
struct gm_view {
	uint64_t slot_mask;
	uint64_t table;	    /* the table's address - the view's */
	uint64_t unused[6]; /* pads to the size of a table's header, one cache line */
};

#define GM_RETIRED_MAX 32 /* a table doubles: 2^32 arcs do not fit in memory */

/* The state of sampling in a thread (sample.c). */
struct gm_timer {
	bool on;
	int id;
	uint64_t first_ns; /* first expiration, on the thread's CPU clock */
	uint64_t n_seen;   /* expirations that reached the handler */
	uint64_t n_before; /* periods before the timer was made */
	uint64_t settled;  /* the part of samples_missed added by gm_sample_settle() */
};

struct gm_control {
	struct gm_view *view;
	struct gm_table *table;
	struct gm_tls *tls;
	struct gm_thread_slot *slot; /* NULL: the process' thread table was full */
	uint32_t index, tid;
	bool shares_tls; /* another task, made by clone(), uses the same thread-local storage */
	bool is_ending;	 /* its thread has run the last of its destructors */
	bool waits;	 /* its thread has ended, and its gmon files are not written yet */
	uint32_t n_used;
	uint32_t n_retired;
	uint32_t n_crowded;    /* times that the table grew because of collisions */
	uint64_t settled_lost; /* the part of calls_lost added by gm_calls_settle() */
	struct gm_table *retired[GM_RETIRED_MAX];
	struct gm_history *history; /* NULL: no history */
	uint8_t *segment;	    /* the history's mapping, for the child of a fork */
	uint64_t segment_bytes;
	struct gm_control *next_free;
	struct gm_control *next_living, **link_living; /* link NULL: not in that list */
	uint32_t flags;				       /* enum gm_calls_flags of its tables */
	struct gm_control *samples; /* the tables of its samples; NULL: none yet */
	struct gm_stacks *stacks;   /* the stream of its samples; NULL: none */
	uint64_t n_written;	    /* calls and samples in its gmon files, plus 1; 0: no files */
	struct gm_timer timer;
};

/* The writer of a thread's history. Zeroed in every child process. */
struct gm_history {
	/* Read by history.S. */
	struct gm_table *table;
	struct gm_packet *packet; /* NULL: no packet, or no room yet */
	uint8_t *end;		  /* of the room for records */
	struct gm_clock clock;

	uint32_t n_arcs; /* numbers given to arcs of this thread in this stream */
	struct gm_stream stream;
	struct gm_history *next_free;
};

/* Calls of an arc that are counted when the slow path ends. */
struct gm_later {
	uint64_t from, self, n;
};

#define GM_LATER_MAX 8

struct gm_tls {
	uint8_t state; /* enum gm_state */
	struct gm_control *control;
	struct gm_thread_slot *slot; /* NULL: none, or not yet */
	struct gm_history *history;
	uint16_t why_lost; /* enum gm_loss: in GM_STATE_LOST */
	/*
	 * Before the library is relocated, mcount finds the C library's thread control block in
	 * place of gm_tls. Offset 0x70 there has the stack limit of gcc's split stacks, which is
	 * part of the ABI and is 0 at that time.
	 */
	uint64_t unused[9];
	uint64_t view;		 /* the view's address - that of gm_no_view */
	struct gm_inside inside; /* gm_calls_miss() */
	uint64_t mask;		 /* signal mask outside of it; all bits set: not blocked yet */
	struct gm_later later[GM_LATER_MAX];
	bool is_busy;	/* inside, with signals blocked: the thread's tables must not be used */
	bool was_early; /* a handler jumped out before signals were blocked */
	/*
	 * In GM_STATE_LOST: the time of the next attempt; checked once in GM_RETRY_AT_LOST calls.
	 */
	uint64_t retry_ns;
	uint32_t n_lost;
	/* The timer of a thread that has no control block yet: [sample] stacks. */
	struct gm_timer early;
};

#define GM_RETRY_NEVER UINT64_MAX

extern __thread struct gm_tls gm_tls;

/* Called at the end of gm_calls_miss(), and after a jump out of it. */
static inline void gm_tls_leave(void)
{
	__atomic_store_n(&gm_tls.is_busy, false, __ATOMIC_RELAXED);
	gm_tls.mask = ~(uint64_t)0;
	gm_inside_leave(&gm_tls.inside);
}

/* --- calls.c ------------------------------------------------------------------------------ */

/* The view of an empty table: for threads without a table of their own. */
extern struct gm_view gm_no_view;

/*
 * mcount loads the mask first. With the mask of a smaller table it may miss an arc, but never finds
 * a wrong one. release: orders the table before the mask.
 */
static inline void gm_view_set(struct gm_view *view, const struct gm_table *table)
{
	view->table = (uint64_t)table - (uint64_t)view;
	__atomic_store_n(&view->slot_mask, table->header.slot_mask, __ATOMIC_RELEASE);
}

static inline void gm_tls_aim(struct gm_tls *tls, const struct gm_view *view)
{
	tls->view = (uint64_t)view - (uint64_t)&gm_no_view;
}

/*
 * Gives the control block of the calling thread its first table; the caller holds the lock. Returns
 * false if there is no memory.
 */
bool gm_calls_begin(struct gm_control *control);

/* The reason (enum gm_loss) why there is no table or no larger one. */
uint16_t gm_calls_why(void);

/*
 * For a thread that is inside (gm_inside_enter()) and busy: counts the calls that handlers made,
 * and leaves.
 */
void gm_calls_leave(void);

/* The thread makes its first call after it was sampled. */
void gm_calls_first(struct gm_control *control);

/* Adds n calls of the arc to a control block of the calling thread. Signals are blocked. */
void gm_calls_add(struct gm_control *control, uint64_t from, uint64_t self, uint64_t n);

/*
 * Returns a table by number: the retired ones, oldest first, then the current one, then NULL. The
 * calls of an arc are the sum over all tables.
 */
const struct gm_table *gm_calls_table(const struct gm_control *control, uint32_t number);

/* Returns true if all tables are in the file. */
bool gm_calls_are_kept(const struct gm_control *control);

/* The calls in all of its tables. */
uint64_t gm_calls_total(const struct gm_control *control);

/*
 * For a thread that still runs when the process ends; the caller holds the lock, or its holder is
 * stuck. Counts once as lost (samples: as missed) what exists only in memory.
 */
void gm_calls_settle(struct gm_control *control);

/*
 * Ends the tables; the caller holds the lock. Writes one dense table to the file, counts as lost
 * what the disk does not take, and frees the chunks for the next threads.
 */
void gm_calls_end(struct gm_control *control);

/*
 * Adds all arcs of `from` to a table in private memory, which is made and grown as needed (`into`
 * starts zeroed). Returns the number of calls for which there was no memory.
 */
uint64_t gm_calls_merge(struct gm_control *into, const struct gm_table *from);

/* Callback for gm_maps_on_move(): moves the arcs of an object with it. */
void gm_calls_move(struct gm_object *object, uint64_t by);

/*
 * The value that mcount.S passes as `from` if a function is about to return; `self` is an address
 * in that function.
 */
#define GM_FROM_RETURN UINT64_MAX

/* ... and as `self` if the program itself calls __cyg_profile_func_enter() with a null function. */
#define GM_SELF_NONE 1

static inline size_t gm_table_bytes(uint32_t n_slots)
{
	return sizeof(struct gm_table) + (size_t)n_slots * sizeof(struct gm_arc);
}

/* --- arena.c ------------------------------------------------------------------------------ */

/*
 * Returns a zeroed chunk for a table of n_slots, marked free until it is published. The caller
 * holds the lock. The chunk is in the file or, without disk space and if `may_be_private`, in
 * memory only. NULL: neither.
 */
struct gm_table *gm_arena_new(uint32_t n_slots, uint32_t slot_bytes, bool may_be_private);

/* The reason (enum gm_loss) why the file had no room for the last chunk that did not fit. */
uint16_t gm_arena_why(void);

/* Marks a filled table as valid. */
void gm_arena_publish(struct gm_table *table);

/* Frees a table's chunk for another table of the same size. The caller holds the lock. */
void gm_arena_free(struct gm_table *table);

/*
 * Iterates over all valid tables, those of ended threads included; starts from NULL. The caller
 * holds the lock.
 */
struct gm_table *gm_arena_next(struct gm_table *table);

/*
 * In the child of a fork(): detaches from the parent's file and replaces its mappings by empty
 * private memory, since the fork may come from a handler that interrupted mcount.
 */
void gm_arena_forget(void);

/* Registers a callback that counts what could not be written at the end of the process. */
void gm_arena_init(void);

/* --- history.c ---------------------------------------------------------------------------- */

/*
 * Gives the calling thread a writer; the caller holds the lock. Returns false if there is no
 * history.
 */
bool gm_history_start(struct gm_control *control);

/*
 * Records a call, or with arc == NULL the return from the function at address `where`, for the
 * calling thread.
 */
void gm_history_record(struct gm_control *control, struct gm_arc *arc, uint64_t where);

/* Lets history.S continue after the slow path stopped it. NULL: no history. */
void gm_history_show(struct gm_control *control);

/* For a thread about to end: its later calls and returns take the slow path. */
void gm_history_linger(struct gm_control *control);

/* Ends the thread's history; the caller holds the lock. */
void gm_history_end(struct gm_control *control);

/*
 * Frees disk space that this writer, and writers without a thread, do not need; the caller holds
 * the lock.
 */
void gm_history_trim(struct gm_control *control);

/* In a forked child. `control`: the thread's control block as it was in the parent. */
void gm_history_forget(const struct gm_control *control);

/* True if any thread has a history, so returns must be recorded. */
extern bool gm_history_on;

/* --- thread.c ----------------------------------------------------------------------------- */

/* Returns false if the lock cannot be taken (lock.h). Then it must not be unlocked. */
bool gm_flush_lock(uint64_t *ret_mask);
void gm_flush_unlock(uint64_t mask);

/*
 * Notes in the capture that a step was left out because a lock is stuck: in the thread's slot, or
 * in the header if it has none.
 */
void gm_threads_give_up(struct gm_thread_slot *slot, enum gm_stalled what);

/* Returns true if the last attempt to take the lock failed: its holder is stuck. */
bool gm_flush_is_stuck(void);

/*
 * Makes the calling thread nominal, off, or lost. It stays newborn while the process waits for room
 * on the disk. Signals are blocked. `sampled`: for its first sample, before its first call.
 */
void gm_thread_start(bool sampled);

/*
 * Returns true if the thread was not started, or is lost and may be tried again. Called at each
 * such call.
 */
bool gm_thread_may_start(void);

/*
 * Returns the control block of the calling thread, which is nominal. A task made by clone() that
 * uses the thread-local storage of another thread gets a block of its own. NULL: no memory.
 */
struct gm_control *gm_thread_control(void);

/* Returns true if calls of the calling thread are to be counted. */
bool gm_thread_counts(void);

/* At the end of the process, under the lock: finishes the threads that no longer exist. */
void gm_threads_finish(void);

/*
 * At the end of the process, after all files were written: counts what is missing in them, for this
 * thread and for others that still run. `is_locked`: the caller holds the lock; otherwise its
 * holder is stuck, and may go on at any time.
 */
void gm_threads_settle(bool is_locked);

/* Returns the control block of a running thread that counts calls, or NULL. */
struct gm_control *gm_control_at(uint32_t index);

/*
 * In a child made by _Fork() or clone(), which run no fork handler: does what the handler would
 * have done. Called before anything is done to a thread or the process. Returns false if another
 * thread of the child started this and is stuck.
 */
bool gm_threads_check_fork(void);

/* Called at once in the child of fork() or _Fork(). */
void gm_threads_forked(void);

/*
 * The list of threads, from the first call to the end (lives.c). The caller holds the lock, except
 * for gm_lives_ended(), which runs in the ending thread and never waits.
 */
void gm_lives_add(struct gm_control *control);
void gm_lives_ended(struct gm_control *control);
void gm_lives_finish(struct gm_control *control); /* without waiting for other threads' files */
void gm_lives_forget(void);

/* Called at a new arc: writes gmon files of ended threads that have waited long enough. */
void gm_threads_write_overdue(void);

/* Called before the process leaves without its destructors: writes all gmon files that wait. */
void gm_threads_write_waiting(void);

/*
 * Returns a block from the pool with the fields of `with`, and its first table. NULL: no memory, or
 * the lock is stuck.
 */
struct gm_control *gm_control_new(const struct gm_control *with);
void gm_control_free_locked(struct gm_control *control);

/*
 * Stops or resumes counting in all present and future threads; if a lock is stuck, in the calling
 * thread and in future ones.
 */
void gm_threads_pause(bool pause);

/* Registers the fork handler; called by the constructor. */
void gm_threads_init(void);

/* --- sample.c ----------------------------------------------------------------------------- */

/*
 * Starts the timer of the calling thread, under the lock. An error is stored in the thread's slot.
 */
void gm_sample_start(struct gm_control *control);

/*
 * With [sample] stacks = on, threads are sampled before their first call, or without one: starts
 * the timer of the calling thread. `begin`: for the first one of the process; the next: at the
 * begin of each further one, and of the child of a fork. All other data of a thread is made at its
 * first sample.
 */
void gm_sample_begin(const struct gm_process *process);
void gm_sample_early(void);

/* At the end of a thread without a control block. */
void gm_sample_end_early(void);

/* Pauses the timer of the calling thread: its ticks are missed until it is resumed. */
void gm_sample_pause(const struct gm_control *control);
void gm_sample_resume(const struct gm_control *control);

/*
 * Called at each new arc, since the C library may have installed its handler over ours. Signals are
 * blocked.
 */
void gm_sample_keep_handler(void);

/* Stops the timer, in its thread, under the lock, and counts the missed samples. */
void gm_sample_end(struct gm_control *control);

/*
 * Deletes the timer of a thread that no longer exists, under the lock. Returns false if it has
 * none.
 */
bool gm_sample_abandon(struct gm_control *control);

/* For a thread that still runs when the process ends, under the lock: counts the missed samples. */
void gm_sample_settle(struct gm_control *control);

/* Samples per second, for gmon files. */
uint32_t gm_sample_rate_hz(void);

/* For the child of a fork(), which has no timers. */
void gm_sample_forget(void);

/* --- stacks.c ----------------------------------------------------------------------------- */

/*
 * Writes a sample of the calling thread to its stream: n periods at the path that begins at a
 * ucontext_t. What it cannot write is counted.
 */
void gm_stacks_take(struct gm_control *control, uint64_t n, const void *interrupted);

/*
 * At the end of the process, for the calling thread: a child of fork that has made its folder since
 * writes its first samples.
 */
void gm_stacks_write_kept(struct gm_control *control);

/* An object has moved away from its addresses, since it is about to be unloaded. */
void gm_stacks_unload(void);

/* Ends the thread's stream; the caller holds the lock. */
void gm_stacks_end(struct gm_control *control);

/* Frees disk space that this thread's stream, and those without a thread, do not need; ditto. */
void gm_stacks_trim(const struct gm_control *control);

/* In a forked child. */
void gm_stacks_forget(void);

/* --- histogram.c -------------------------------------------------------------------------- */

/* The samples in one object, sorted by link-time address. */
struct gm_samples {
	struct gm_sample *at;
	size_t n, size_bytes;
};

/* For one thread, or for all (control == NULL); the caller holds the lock. Returns 0 or -ENOMEM. */
int gm_samples_gather(struct gm_samples *ret, const struct gm_object *object,
		      const struct gm_control *control);
void gm_samples_done(struct gm_samples *samples);

/* Keeps the samples of a thread that ends, for gmon.out. */
void gm_samples_keep(const struct gm_control *control);
struct gm_table *gm_samples_kept(void); /* NULL: none yet */
void gm_samples_forget(void);

/* All samples taken so far. */
uint64_t gm_samples_total(void);

/* --- gmon.c ------------------------------------------------------------------------------- */

/*
 * Writes the gmon files of one thread if it has counted anything since the last time. With `final`,
 * adds its arcs to the merged ones.
 */
void gm_gmon_thread(struct gm_control *control, bool final);

/* Returns true if this library writes gmon files of the thread alone; see [calls] gmon_threads. */
bool gm_gmon_has_files(const struct gm_control *control);

/*
 * Writes the files of every running thread, from a snapshot of its tables, and the merged files:
 * gmon.out, and one per library. Does nothing if no call was counted since the last time.
 */
void gm_gmon_all(void);

/* Reports, once, that the lock is stuck and the files of the process are therefore not written. */
void gm_gmon_give_up(void);

/* The arcs of the threads that ended; NULL: none yet. */
struct gm_table *gm_gmon_merged(void);

/* For the child of a fork, which starts at zero. */
void gm_gmon_forget(void);

/* --- init.c ------------------------------------------------------------------------------- */

/* True once a call was counted or __monstartup() was called. If not, no gmon.out is written. */
extern bool gm_started;

/* True once a thread was started by its first sample. */
extern bool gm_sampled;

/*
 * For mcount.S: whether a constructor has run, and the number of calls before that (IFUNC
 * resolvers).
 */
extern bool gm_up;
extern uint64_t gm_calls_early;

#endif
