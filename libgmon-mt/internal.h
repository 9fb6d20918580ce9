/* SPDX-License-Identifier: MIT */
/*
 * What the files of libgmon-mt share.
 *
 * A thread's control block holds its table of arcs, and its samples hang on it as a second block.
 * TLS holds a pointer to the table (all that mcount needs) and to the block; the thread's slot in
 * the process' thread table holds a pointer to the block too, for the walk at exit and for fork().
 * Blocks come from a pool and outlive their thread's stack and TLS.
 *
 * gm_flush_lock orders what one thread does to another's table: the walk at exit, fork(), and a
 * table's growth and end.  It is held with signals blocked and across no call of the program's.  A
 * thread's own counting and adding of arcs needs no lock.
 */
#ifndef GM_INTERNAL_H
#define GM_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "gmon-mt/format.h"
#include "gmon-mt/histogram.h"
#include "runtime/clock.h"
#include "runtime/lock.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"

enum gm_state {
	GM_STATE_UNBORN = 0,  /* the loader has not yet initialized thread-local storage */
	GM_STATE_NEWBORN = 1, /* no call seen yet, or only while there was no room on the disk */
	GM_STATE_NOMINAL = 2,
	GM_STATE_LOST = 3,    /* calls are counted as lost, perhaps for now */
	GM_STATE_OFF = 4,     /* the process is not profiled; from here on mcount returns at once */
	GM_STATE_PAUSED = 5,  /* moncontrol(0) */
	GM_STATE_HISTORY = 6, /* nominal, and each call is recorded, too */
};

struct gm_arc {
	uint64_t from, self, count;
	uint64_t record; /* its calls in the history, but for the time; 0: not defined there yet */
};

struct gm_table {
	struct gm_calls_header header;
	struct gm_arc arcs[];
};

/*
 * Where a thread's mcount finds its table.  Views lie in memory that is zeros in the child of a
 * fork of any kind, and zeros are a view of an empty table: itself.  A view is never the last of
 * that memory, so the slot is there, too.
 */
struct gm_view {
	uint64_t slot_mask;
	uint64_t table;	    /* its address - the view's */
	uint64_t unused[6]; /* a cache line: as long as the header of a table */
};

#define GM_RETIRED_MAX 32 /* a table doubles: 2^32 arcs do not fit in memory */

/* What sampling keeps of a thread (sample.c). */
struct gm_timer {
	bool on;
	int id;
	uint64_t first_ns; /* when it expires first, on the thread's CPU clock */
	uint64_t n_seen;   /* expirations that the handler has met */
	uint64_t settled;  /* of samples_missed: what gm_sample_settle() put there */
};

struct gm_control {
	struct gm_view *view;
	struct gm_table *table;
	struct gm_tls *tls;
	struct gm_thread_slot *slot; /* NULL: the process' thread table was full */
	uint32_t index, tid;
	bool shares_tls; /* with a task that has no thread-local storage of its own */
	bool is_ending;	 /* its thread, after the last of its destructors */
	bool waits;	 /* its thread has ended, and its gmon files are not written yet */
	uint32_t n_used;
	uint32_t n_retired;
	uint32_t n_crowded;    /* tables that grew because arcs got into each other's way */
	uint64_t settled_lost; /* of calls_lost: what gm_calls_settle() put there */
	struct gm_table *retired[GM_RETIRED_MAX];
	struct gm_history *history; /* NULL: none is kept */
	uint8_t *segment;	    /* its mapping, for the child of a fork */
	uint64_t segment_bytes;
	struct gm_control *next_free;
	struct gm_control *next_living, **link_living; /* the second NULL: not in that list */
	uint32_t flags;				       /* enum gm_calls_flags of its tables */
	struct gm_control *samples; /* the tables of its samples; NULL: none yet */
	uint64_t n_written;	    /* calls and samples in its gmon files, plus 1; 0: no files */
	struct gm_timer timer;
};

/* The writer of a thread's history.  Emptied in the child of a fork, however made. */
struct gm_history {
	/* What history.S knows. */
	struct gm_table *table;
	struct gm_packet *packet; /* NULL: none, or no room yet */
	uint8_t *end;		  /* of the place for records */
	struct gm_clock clock;

	uint32_t n_arcs; /* numbers given in this stream to arcs of this thread */
	struct gm_stream stream;
	struct gm_history *next_free;
};

/* Calls of an arc that are to be counted when the slow path is left. */
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
	 * Before the library is relocated, mcount finds the thread control block of the C library
	 * where it looks for gm_tls.  At 0x70 that has the stack limit of gcc's split stacks, which
	 * belongs to the ABI and is 0 then.
	 */
	uint64_t unused[9];
	uint64_t view;		 /* its address - that of gm_no_view */
	struct gm_inside inside; /* gm_calls_miss() */
	uint64_t mask;		 /* of signals, outside of it; all bits: not blocked yet */
	struct gm_later later[GM_LATER_MAX];
	bool is_busy;	/* inside, with signals blocked: the thread's tables may not be used */
	bool was_early; /* a handler jumped out before they were, and they were not since */
	/* In GM_STATE_LOST: to be tried again at this time, which each of so many calls asks for.
	 */
	uint64_t retry_ns;
	uint32_t n_lost;
};

#define GM_RETRY_NEVER UINT64_MAX

extern __thread struct gm_tls gm_tls;

/* The end of gm_calls_miss(), or a way out of it. */
static inline void gm_tls_leave(void)
{
	__atomic_store_n(&gm_tls.is_busy, false, __ATOMIC_RELAXED);
	gm_tls.mask = ~(uint64_t)0;
	gm_inside_leave(&gm_tls.inside);
}

/* --- calls.c ------------------------------------------------------------------------------ */

/* Of a table in which nothing is found: for threads without their own. */
extern struct gm_view gm_no_view;

/* mcount loads the mask first: with one too small for the table, it finds less and no wrong arc. */
static inline void gm_view_set(struct gm_view *view, const struct gm_table *table)
{
	view->table = (uint64_t)table - (uint64_t)view;
	__atomic_store_n(&view->slot_mask, table->header.slot_mask, __ATOMIC_RELEASE);
}

static inline void gm_tls_aim(struct gm_tls *tls, const struct gm_view *view)
{
	tls->view = (uint64_t)view - (uint64_t)&gm_no_view;
}

/* Gives the control block of the calling thread its first table.  False: no memory. */
bool gm_calls_start(struct gm_control *control);

/* The same, under the lock. */
bool gm_calls_begin(struct gm_control *control);

/* The thread was inside (gm_inside_enter()) and busy: counts what handlers called, and leaves. */
void gm_calls_leave(void);

/* Counts n more on the arc, in a control block of the calling thread; signals are blocked. */
void gm_calls_add(struct gm_control *control, uint64_t from, uint64_t self, uint64_t n);

/*
 * Tables by number: those retired, oldest first, then the current one; NULL beyond.  The calls of
 * an arc are the sum over all of them.
 */
const struct gm_table *gm_calls_table(const struct gm_control *control, uint32_t number);

/* All of it is in the file. */
bool gm_calls_are_kept(const struct gm_control *control);

/* The calls in all of its tables. */
uint64_t gm_calls_total(const struct gm_control *control);

/*
 * For a thread still running when the process ends, under the lock: what only memory holds is
 * counted as lost (samples: as missed), once.
 */
void gm_calls_settle(struct gm_control *control);

/*
 * Ends the tables, under the lock: leaves one dense table in the file, counts as lost what the disk
 * does not take, gives the chunks to the next threads.
 */
void gm_calls_end(struct gm_control *control);

/*
 * Adds all arcs of `from` to a table in private memory, made and grown as needed (`into` starts
 * zeroed).  Returns the calls that found no memory.
 */
uint64_t gm_calls_merge(struct gm_control *into, const struct gm_table *from);

/* As gm_maps_on_move() wants it: the arcs of an object go with it. */
void gm_calls_move(struct gm_object *object, uint64_t by);

/*
 * What mcount.S gives for `from` where the call is not one: a function is about to return, and
 * `self` is in it.
 */
#define GM_FROM_RETURN UINT64_MAX

/* ... and for `self` where __cyg_profile_func_enter() was called by hand, of no function. */
#define GM_SELF_NONE 1

static inline size_t gm_table_bytes(uint32_t n_slots)
{
	return sizeof(struct gm_table) + (size_t)n_slots * sizeof(struct gm_arc);
}

/* --- arena.c ------------------------------------------------------------------------------ */

/*
 * A zeroed chunk for a table of n_slots, marked free until it is published; under the lock.  In the
 * file or, without disk space and if `may_be_private`, in memory alone.  NULL: neither.
 */
struct gm_table *gm_arena_new(uint32_t n_slots, uint32_t slot_bytes, bool may_be_private);

/* Why the file had no room for the last chunk that found none in it: enum gm_loss. */
uint16_t gm_arena_why(void);

/* Makes a filled table count. */
void gm_arena_publish(struct gm_table *table);

/* Takes a table's chunk back for a table of the same size; under the lock. */
void gm_arena_free(struct gm_table *table);

/* The tables that count, of ended threads too, one after the other from NULL on; under the lock. */
struct gm_table *gm_arena_next(struct gm_table *table);

/*
 * In the child of a fork(): leaves the parent's file, and puts empty private memory in the place of
 * its mappings, since the fork may have come from a handler that interrupted mcount.
 */
void gm_arena_forget(void);

/* Has what could not be written at the end of the process counted as lost. */
void gm_arena_init(void);

/* --- history.c ---------------------------------------------------------------------------- */

/* Gives the calling thread a writer; under the lock.  False: there is to be no history. */
bool gm_history_start(struct gm_control *control);

/*
 * Records a call, or with arc == NULL the return from the function that `where` is in, of the
 * calling thread.
 */
void gm_history_record(struct gm_control *control, struct gm_arc *arc, uint64_t where);

/* Lets history.S go on, which the slow path has stopped; NULL: there is none. */
void gm_history_show(struct gm_control *control);

/* The thread is about to end: from here on, calls and returns go the long way. */
void gm_history_linger(struct gm_control *control);

/* Ends the thread's history; under the lock. */
void gm_history_end(struct gm_control *control);

/* Gives back disk space that writers without a thread, and this one, do not need; under the lock.
 */
void gm_history_trim(struct gm_control *control);

/* In a forked child; `control`: its thread's, as it was in the parent. */
void gm_history_forget(const struct gm_control *control);

/* Some thread has a history: exits are of interest. */
extern bool gm_history_on;

/* --- thread.c ----------------------------------------------------------------------------- */

/* False: it is not to be had (lock.h).  Then there is nothing to unlock. */
bool gm_flush_lock(uint64_t *ret_mask);
void gm_flush_unlock(uint64_t mask);

/* Nobody got it the last time: its holder does not get on. */
bool gm_flush_is_stuck(void);

/*
 * Makes the calling thread nominal, off, or lost; it stays newborn while the process waits for room
 * on the disk.  Signals are blocked.
 */
void gm_thread_start(void);

/* It has not been, or is lost, and it is time to try again.  To be asked at each call. */
bool gm_thread_may_start(void);

/*
 * The control block of the calling thread, which is nominal; NULL: no memory.  A task that clone()
 * made, and that has the thread-local storage of another thread, gets one of its own.
 */
struct gm_control *gm_thread_control(void);

/* Calls of the calling thread are to be counted. */
bool gm_thread_counts(void);

/* At the end of the process, under the lock: finishes the threads that are no more. */
void gm_threads_finish(void);

/*
 * At the end of the process, under the lock, when all files are written: what they lack is counted,
 * here and of other threads that still run.
 */
void gm_threads_settle(void);

/* The control block of a thread that is running and counts calls; else NULL. */
struct gm_control *gm_control_at(uint32_t index);

/*
 * In the child of a fork that no handler told of (_Fork(), clone()): as if one had.  To be called
 * before anything is done about a thread or the process.  False: another thread of the child has
 * begun that, and does not get on.
 */
bool gm_threads_check_fork(void);

/* In the child of fork() or _Fork(), at once. */
void gm_threads_forked(void);

/*
 * The threads that are kept, from the first call to the last (lives.c).  Under the lock; but for
 * the second: in the thread that ends, which waits for nothing there.
 */
void gm_lives_add(struct gm_control *control);
void gm_lives_ended(struct gm_control *control);
void gm_lives_finish(struct gm_control *control); /* at once */
void gm_lives_forget(void);

/* At a new arc: gmon files of ended threads that have waited for some time. */
void gm_threads_write_overdue(void);

/* Before the process leaves without its destructors: all that wait. */
void gm_threads_write_waiting(void);

/* Zeroed, from the pool; NULL: no memory. */
struct gm_control *gm_control_new(void);
void gm_control_free(struct gm_control *control);
void gm_control_free_locked(struct gm_control *control);

/* Stops or resumes counting in all threads, also those to come. */
void gm_threads_pause(bool pause);

/* The fork handler; at the start of the process, from its constructor. */
void gm_threads_init(void);

/* --- sample.c ----------------------------------------------------------------------------- */

/* Starts the timer of the calling thread, under the lock.  Failure is noted in the thread's slot.
 */
void gm_sample_start(struct gm_control *control);

/* Pauses the timer of the calling thread: its ticks are missed until it is resumed. */
void gm_sample_pause(const struct gm_control *control);
void gm_sample_resume(const struct gm_control *control);

/* The C library may have put its handler over ours: at each new arc; signals are blocked. */
void gm_sample_keep_handler(void);

/* Stops it, in its thread, under the lock, and counts what it missed. */
void gm_sample_end(struct gm_control *control);

/* Deletes the timer of a thread that is gone, under the lock. */
void gm_sample_abandon(struct gm_control *control);

/* For a thread still running when the process ends, under the lock: counts what was missed. */
void gm_sample_settle(struct gm_control *control);

/* Samples a second, for gmon files. */
uint32_t gm_sample_rate_hz(void);

/* In the child of a fork(), which has no timers. */
void gm_sample_forget(void);

/* --- histogram.c -------------------------------------------------------------------------- */

/* The samples in one object, sorted by link-time address. */
struct gm_samples {
	struct gm_sample *at;
	size_t n, size_bytes;
};

/* Of one thread, or of all (control == NULL), under the lock.  0, or -ENOMEM. */
int gm_samples_gather(struct gm_samples *ret, const struct gm_object *object,
		      const struct gm_control *control);
void gm_samples_done(struct gm_samples *samples);

/* Keeps the samples of a thread that ends for gmon.out. */
void gm_samples_keep(const struct gm_control *control);
struct gm_table *gm_samples_kept(void); /* NULL: none yet */
void gm_samples_forget(void);

/* All that were taken so far. */
uint64_t gm_samples_total(void);

/* --- gmon.c ------------------------------------------------------------------------------- */

/*
 * Writes the gmon files of one thread, if it has counted anything since the last time, and adds it
 * to the merged ones if `final`.
 */
void gm_gmon_thread(struct gm_control *control, bool final);

/*
 * Writes the files of every thread still running, from a look at its tables, and the merged ones:
 * gmon.out, and one a library.  Does nothing if no call has been counted since the last time.
 */
void gm_gmon_all(void);

/* The arcs of the threads that ended; NULL: none yet. */
struct gm_table *gm_gmon_merged(void);

/* Forgets what was merged so far (a fork's child starts at zero). */
void gm_gmon_forget(void);

/* --- init.c ------------------------------------------------------------------------------- */

/* Has anything been counted or __monstartup been called?  If not, no gmon.out is written. */
extern bool gm_started;

/* mcount.S: has any constructor run, and calls from before that (IFUNC resolvers). */
extern bool gm_up;
extern uint64_t gm_calls_early;

#endif
