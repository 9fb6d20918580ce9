/* SPDX-License-Identifier: MIT */
/*
 * What the files of libsync-trace that make, feed and end a writer share.  Signals are blocked, or
 * the gate is shut, in all of these.
 */
#ifndef ST_INTERNAL_H
#define ST_INTERNAL_H

#include "writer.h"

/* Writes a `site` (emit.c).  False: no room. */
bool st_emit_site(struct st_thread *self, uint16_t number, uintptr_t site, uint64_t now_ns);

/* Writes a `path` (emit.c).  False: no room, or no number left. */
bool st_emit_path(struct st_thread *self, uint16_t number, const uint64_t *addresses, unsigned n,
		  uint64_t now_ns);

/* After a jump out of the middle of an event: what the packet holds is true. */
void st_stream_settle(struct st_thread *self);

/* --- process (process.c) --------------------------------------------------------------------- */

/*
 * Makes ready to record: once per program image the real functions and the clock, once per process
 * its folder.  False: nothing is recorded in this process.
 */
bool st_process_open(void);

/* Not open, since its trace could not be made: the events count as lost.  enum gm_loss. */
bool st_process_is_lost(uint16_t *ret_why);

bool st_process_is_open(void);

/* It is to be opened when the disk has room, and it is not time to try that. */
bool st_process_waits(void);

/* In the child of vfork(): the memory is its parent's. */
bool st_process_is_borrowed(void);

/*
 * In a child that fork() left with its parent's state: forgets it, once.  False: another thread has
 * begun that, and does not get on.
 */
bool st_process_check_fork(void);

/* Is a thread about to do that?  What is open is still the parent's. */
bool st_process_is_forgetting(void);

/* Is a thread about to open it? */
bool st_process_is_opening(void);

/*
 * A handler has jumped out of code of the task `tid`: what that was making for all the process is
 * not made.  Makes no system call.
 */
void st_process_left(uint32_t tid);

/* The same where signals are not blocked, for the first operation of a child if it waits. */
void st_process_check_fork_inside(void);

/* In such a child: somebody has forgotten it already. */
bool st_process_has_begun_anew(void);

/* Says that this is such a child, where the kernel has not (before Linux 4.14). */
void st_process_forked(void);

/* What a fork in mid-event needs (fork.c).  0 or an error number. */
int st_fork_init(void);

/* <capture>/<pid>/user. */
struct gm_trace *st_process_trace(void);

/* Where events go. */
enum gm_sync_sink st_process_sink(void);

/* --- what is recorded (select.c) -------------------------------------------------------------- */

void st_select(const struct gm_config *config);

/* Not all is written. */
/* budget.c: time to see whether recording takes too much of the thread's. */
extern unsigned st_budget_percent __attribute__((visibility("hidden"))); /* 0: it is no reason */
extern bool st_budget_watches __attribute__((visibility("hidden")));	 /* threads */
void st_budget_check(struct st_thread *self, uint64_t now_ns);
/* ... or the capture comes near its limit. */
void st_budget_check_output(struct st_thread *self, uint64_t now_ns);

bool st_is_selective(void);

/* ... and that is not only since what did not wait is counted: st_fates says what becomes of it. */
bool st_is_picking(void);

/* ... or the object does. */
bool st_is_filtering(void);

/* Of a call that made or ended the object: around its event. */
void st_select_before(enum st_event id, const void *object);
void st_select_after(enum st_event id, const void *object);

/* --- whose objects are recorded (filter.c) ---------------------------------------------------- */

/* False: all are. */
bool st_filter_open(const struct gm_config *config);

/* The object is no more, or is made anew. */
void st_filter_forget(const void *object);

/* --- threads (self.c) ------------------------------------------------------------------------ */

/* After a fork: gives the emptied writer the child's first thread. */
bool st_thread_reborn(struct st_thread *self);

/* pthread's key destructor, last round. */
void st_thread_ended(void);

/* The writer that the calling thread takes at its first event; returns the one given before. */
struct st_thread *st_thread_give(struct st_thread *writer);

/*
 * Parks a writer whose thread is gone without its key's destructor: all keys were taken, or the
 * program deleted or cleared ours.
 */
void st_writer_check(struct st_thread *self);

/* Gives back what the thread's writers have reserved on disk, but for a page or two. */
void st_thread_trim(struct st_thread *self);

/* A block of anonymous memory that a forked child finds empty.  NULL: no memory. */
void *st_memory_new(size_t size_bytes);
extern bool st_memory_is_wiped; /* by the kernel, in every child */

/* The clock was read anew: is the last event so old that the next one's time needs more bits? */
void st_pause_note(struct st_thread *self, uint64_t now_ns);

/* Counts events of a live writer that are written nowhere. */
void st_count_lost(struct st_thread *self, uint64_t n);

void st_slot_count_lost(struct gm_thread_slot *slot, uint64_t n, uint16_t why);

/* Counts the events of a packet that could not be written (emit.c). */
void st_packet_lost(const struct gm_packet *packet, uint16_t why);

/* Counts one event of a thread that has no writer. */
void st_count_lost_anywhere(void);

/*
 * Counts the event of an operation that a jump out of a signal handler has left in the middle: it
 * may have taken effect.
 */
void st_count_left(struct st_thread *self);

/* --- jumps out of signal handlers (jump.c) -----------------------------------------------------
 */

/* Once per program image; in the thread that begins there, or whose stack begins at `top`. */
void st_jump_init(void);
void st_stack_init(void);
void st_stack_begins(uintptr_t top);

/* Around a wait that has a begin. */
void st_wait_begins(uintptr_t frame, enum st_event begin, uintptr_t site, const void *object,
		    uint64_t extra, uint64_t begin_ns);
void st_wait_ends(uint64_t begin_ns, const void *object);

/* The thread ends: nothing comes back to the waits that it was in. */
void st_waits_over(void);

/* Is it the end of a wait that st_waits_begin() counts? */
bool st_is_lock(enum st_event id);

/* --- writers without a thread (pool.c) ------------------------------------------------------- */

/* One that a thread left behind, or a new one, all zero.  NULL: no memory. */
struct st_thread *st_pool_take(void);
void st_pool_put(struct st_thread *self);

/*
 * For a thread that `creator` is about to make: a parked one, or if there is none, a new one with a
 * file (and a few more, parked).  NULL: the new thread takes one itself.
 */
struct st_thread *st_pool_take_ahead(const struct st_thread *creator, uint64_t now_ns);

/* Gives back what all parked writers have reserved on disk, but for a page or two each. */
void st_pool_trim(void);

/* All writers, parked or not, whosever: events go the long way, ST_DETOUR_... */
void st_pool_detour(uint8_t why);

/* In a child of fork: the other writers of its thread are its parent's. */
void st_spares_forget(void);

/* Looks at so many writers, in turn, and parks those whose threads are gone. */
void st_pool_check(unsigned n);

/* In a forked child: they are its parent's. */
void st_pool_forget(void);

/* --- counts of what did not wait (counts.c) --------------------------------------------------- */

/* Makes <dir>/sync-counts; `dir` lasts.  False: it cannot be made, everything is recorded. */
bool st_counts_open(const char *dir, bool is_auto);

/* In a forked child: they are its parent's. */
void st_counts_forget(void);

/* ST_COUNTED_MAX counts, of the thread with that index; NULL: everything is to be recorded. */
uint64_t *st_counts_row(uint32_t index);

/*
 * With sync.mode = auto the file is made when the first thread is over its budget: most processes
 * have none that is.  NULL: not now.
 */
void st_counts_open_late(bool later);
uint64_t *st_counts_row_late(uint32_t index);

/* A hold whose time found no room. */
void st_counts_lose_hold(void);

/* --- how long what did not wait was held (timed.c) ---------------------------------------------
 */

extern bool st_times_holds; /* sync.holds */

/* Makes <dir>/sync-holds; `dir` lasts.  Without it all are counted as lost. */
void st_timed_open(const char *dir);

/* In a forked child: they are its parent's. */
void st_timed_forget(void);

/* The thread ends: its rows stay. */
void st_timed_end_thread(struct st_thread *self);

/* The address of a site, by its number; 0: not known. */
uintptr_t st_site_address(const struct st_thread *self, uint16_t number);

/* --- LTTng-UST (ust.c) ----------------------------------------------------------------------- */

/* From the constructor: loads the provider.  `native`: events go to our streams as well. */
void st_ust_open(bool native);

/* Hands the event over.  False: LTTng does not take it. */
bool st_ust_emit(const struct st_record *record);

/* Whether the call came from LTTng's own code. */
bool st_ust_is_own(uintptr_t site);

/* In a child of which LTTng has not been told, as yet; and in one of which it never will be. */
void st_ust_forked(void);
void st_ust_disown(void);
/* --- call paths (path.c) ---------------------------------------------------------------------- */

/* Waits at least as long have one: [sync] paths.  ~0: nothing has. */
extern uint64_t st_path_wait_ns;

/* The thread is on the stack that it will keep. */
void st_path_stack_init(struct st_thread *self);

/* All paths are to be defined again.  Signals are blocked. */
void st_paths_forget(struct st_thread *self);

/* --- call sites (site.c) --------------------------------------------------------------------- */

void st_sites_init(struct st_thread *self);

/*
 * Makes one of the thread's tables larger.  A handler must not jump out of that, nor an
 * asynchronous cancellation: the writer goes on.
 */
bool st_grow(struct st_thread *self, bool (*grow)(struct st_thread *self));

/* The number of a site, defined in the stream if it is new; 0: not known. */
uint16_t st_site_number(struct st_thread *self, uintptr_t site, uint64_t now_ns);

/* After an object was unloaded: what comes to its place is to be noted when it is first met. */
void st_sites_doubt(struct st_thread *self) ST_COLD;

static inline void st_sites_check(struct st_thread *self)
{
	if (st_unlikely(__atomic_load_n(&self->detours, __ATOMIC_RELAXED) & ST_DETOUR_UNLOADED))
		st_sites_doubt(self);
}

#endif
