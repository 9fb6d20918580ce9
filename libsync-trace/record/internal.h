/* SPDX-License-Identifier: MIT */
/*
 * Declarations for the files of libsync-trace that make, use and end writers. All functions run
 * with signals blocked or the gate closed.
 */
#ifndef ST_INTERNAL_H
#define ST_INTERNAL_H

#include "record/writer.h"
#include "sync-trace/collector.h"

/*
 * If the program counts conditionals, or accesses or the order of locks are recorded, lets all
 * events of a thread that is recorded in full take the slow path, which does more for them
 * (conditionals.c); in sampled mode those of sections that are stepped. The first also looks
 * whether conditionals are counted now.
 */
void st_conditionals_look(struct st_thread *self);
void st_detours_choose(struct st_thread *self);

/* Writes a `site` (emit.c). Returns false if there is no room. */
bool st_emit_site(struct st_thread *self, uint16_t number, uintptr_t site, uint64_t now_ns);

/* Writes a `path`, a node of call paths (emit.c). Returns false if there is no room. */
bool st_emit_path(struct st_thread *self, uint32_t number, uint32_t parent, uint64_t address,
		  uint64_t now_ns);

/*
 * Makes room for a call path of that length and its event, so that they are in one file of a ring
 * (emit.c).
 */
void st_emit_path_room(struct st_thread *self, unsigned n_frames, uint64_t now_ns);

/* Writes the `tries` of a run that has more than its first (emit.c). */
void st_emit_tries(struct st_thread *self, const struct st_tries *tries);

/*
 * Writes the open run of failed tries, if any, and returns its object, or NULL (tries.c). The other
 * drops it.
 */
const void *st_tries_end(struct st_thread *self);
void st_tries_forget(struct st_thread *self);

/* After a jump out of the middle of an event: restores the writer from the packet's content. */
void st_stream_settle(struct st_thread *self);

/* --- ring (ring.c) ---------------------------------------------------------------------------- */

extern bool st_rings __attribute__((visibility("hidden"))); /* [output] ring */

/* Before the trace is opened. */
void st_ring_open(struct gm_trace *trace);

/* --- process (process.c) --------------------------------------------------------------------- */

/*
 * Prepares recording: once per program image the real functions and the clock, once per process its
 * folder. Returns false if nothing is recorded in this process.
 */
bool st_process_open(void);

/*
 * Returns true, with an enum gm_loss, if it is not open because its trace could not be made: events
 * count as lost.
 */
bool st_process_is_lost(uint16_t *ret_why);

bool st_process_is_open(void);

/* Returns true if it will be opened when the disk has room, and it is not time to try. */
bool st_process_waits(void);

/* True in the child of vfork(): the memory belongs to its parent. */
bool st_process_is_borrowed(void);

/*
 * In a child that fork() left with its parent's state: discards that, once. Returns false if
 * another thread has started this and is stuck.
 */
bool st_process_check_fork(void);

/* True if a thread is discarding it: the open files are still the parent's. */
bool st_process_is_forgetting(void);

/* True if a thread is opening it. */
bool st_process_is_opening(void);

/*
 * A handler has jumped out of code of the task `tid`: a step that it performed for the whole
 * process is not completed. Makes no system call.
 */
void st_process_left(uint32_t tid);

/* The same while signals are not blocked: a wait is the first operation of the child. */
void st_process_check_fork_inside(void);

/* In such a child: true if the state was discarded already. */
bool st_process_has_begun_anew(void);

/* Marks the process as such a child, where the kernel has not done so (before Linux 4.14). */
void st_process_forked(void);

/* Prepares for a fork in mid-event (fork.c). Returns 0 or an error number. */
int st_fork_init(void);

/* <capture>/<pid>/user. */
struct gm_trace *st_process_trace(void);

/* The destination of events. */
enum gm_sync_sink st_process_sink(void);

/* --- what is recorded (select.c) -------------------------------------------------------------- */

/* replays: a schedule is enforced, so wrappers must pass on their call sites. */
void st_select(const struct gm_config *config, bool replays);

/* True if some operations are not written. */
/* budget.c: checks whether recording takes too much of the thread's CPU time. */
extern unsigned st_budget_percent __attribute__((visibility("hidden"))); /* 0: no limit */
/* for threads over the budget or near the limit */
extern bool st_budget_watches __attribute__((visibility("hidden")));
void st_budget_check(struct st_thread *self, uint64_t now_ns);
/* ... or for all threads, when the capture is near its limit. */
void st_budget_check_output(struct st_thread *self, uint64_t now_ns);

/* Making room for n_bytes of events took `ns`. */
void st_budget_note_room(uint64_t ns, uint64_t n_bytes);

bool st_is_selective(void);

/* ... and for another reason than counting operations without a wait: st_fates has the decision. */
bool st_is_picking(void);

/* ... and that depends on the object. */
bool st_is_filtering(void);

/* Called around the event of a call that made or ended the object. */
void st_select_before(enum st_event id, const void *object);
void st_select_after(enum st_event id, const void *object);

/*
 * --- selection of objects (filter.c) -----------------------------------------------------------
 */

/* Returns false if all objects are recorded. */
bool st_filter_open(const struct gm_config *config);

/* The object was destroyed, or is initialized anew. */
void st_filter_forget(const void *object);

/* --- threads (self.c) ------------------------------------------------------------------------ */

/* After a fork: gives the zeroed writer to the child's first thread. */
bool st_thread_reborn(struct st_thread *self);

/* The key's destructor, in the last round of destructors. */
void st_thread_ended(void);

/*
 * Stores the writer that the calling thread takes at its first event; returns the one stored
 * before.
 */
struct st_thread *st_thread_give(struct st_thread *writer);

/*
 * Parks a writer whose thread ended without its key's destructor: all keys were taken, or the
 * program deleted or cleared ours.
 */
void st_writer_check(struct st_thread *self);

/* Returns the disk space that the thread's writers have reserved, except a page or two. */
void st_thread_trim(struct st_thread *self);

/* Returns anonymous memory that is zeroed in a forked child. NULL: no memory. */
void *st_memory_new(size_t size_bytes);
extern bool st_memory_is_wiped; /* by the kernel, in every child */

/*
 * Called when the clock was synchronized: if the last event is so old that the next time stamp
 * needs more bits, sets ST_DETOUR_PAUSE.
 */
void st_pause_note(struct st_thread *self, uint64_t now_ns);

/* Counts events of a live writer that were not written. */
void st_count_lost(struct st_thread *self, uint64_t n);

void st_slot_count_lost(struct gm_thread_slot *slot, uint64_t n, uint16_t why);

/* True for X_begin: the thread has to wait, and X follows (emit.c). */
bool st_begins_wait(enum st_event id);

/* Counts the events of a packet that could not be written (emit.c). */
void st_packet_lost(const struct gm_packet *packet, uint16_t why);

/* --- the order of locks (order.c) ------------------------------------------------------------- */

/* [sync] order = on: acquisitions have numbers. */
extern bool st_orders __attribute__((visibility("hidden")));

/*
 * The number of the acquisition that the event describes, which the calling thread holds. 0: it
 * acquired nothing, or there is no memory for the lock's number.
 */
uint64_t st_order_number(const struct st_record *record);

/* In a forked child: the numbers begin anew. */
void st_order_forget(void);

/* --- the live replay of a schedule (live/) ---------------------------------------------------- */

/*
 * Called when the process is opened, by its initial thread: takes the schedule that the environment
 * names. Returns false if there is none.
 */
bool st_live_open(void);

/* In a forked child: it is not part of the replay. */
void st_live_forget(void);

/* Around the creation of a thread: its number in the schedule, plus 1; 0: none. */
uint32_t st_live_create(void);
void st_live_create_failed(void);

/* The calling thread has that number, or ends. */
void st_live_begin(uint32_t number);
void st_live_end(void);

/* Counts one event of a thread that has no writer. */
void st_count_lost_anywhere(void);

/*
 * Counts the event of an operation that a jump out of a signal handler interrupted: it may have
 * taken effect.
 */
void st_count_left(struct st_thread *self);

/* --- jumps out of signal handlers (jump.c) -----------------------------------------------------
 */

/* Called once per program image; in the initial thread; in a thread whose stack begins at `top`. */
void st_jump_init(void);
void st_stack_init(void);
/* floor: below it is other memory; 0: a guard page is below. UINTPTR_MAX: not known. */
void st_stack_begins(uintptr_t top, uintptr_t floor);

/* Called around a wait that has a begin event. */
void st_wait_begins(uintptr_t frame, enum st_event begin, uintptr_t site, const void *object,
		    uint64_t extra, uint64_t begin_ns);
void st_wait_ends(uint64_t begin_ns, const void *object);

/*
 * Makes asynchronous cancellation deferred until st_cancel_undefer(), or until a jump leaves the
 * frame: it would leave the writer in the middle of an event. Returns false if a caller that a
 * handler has interrupted does this already.
 */
bool st_cancel_defer(uintptr_t frame);
void st_cancel_undefer(void);

/* The thread ends: its waits will not return. */
void st_waits_over(void);

/* True if the event ends a wait that st_waits_begin() counts. */
bool st_is_lock(enum st_event id);

/* --- writers without a thread (pool.c) ------------------------------------------------------- */

/* Returns a writer that a thread left, or a new one, zeroed. NULL: no memory. */
struct st_thread *st_pool_take(void);
void st_pool_put(struct st_thread *self);

/*
 * For a thread that `creator` is about to make: returns a parked writer or, if there is none, a new
 * one with a file (and parks a few more). NULL: the new thread takes one itself.
 */
struct st_thread *st_pool_take_ahead(const struct st_thread *creator, uint64_t now_ns);

/* Returns the disk space that all parked writers have reserved, except a page or two each. */
void st_pool_trim(void);

/*
 * Sends the events of all writers, parked or not, of all threads, to the slow path: ST_DETOUR_...
 */
void st_pool_detour(uint8_t why);

/* In a child of fork: the other writers of its thread belong to its parent. */
void st_spares_forget(void);

/* Checks up to n writers in turn, and parks those whose threads have ended. */
void st_pool_check(unsigned n);

/* In a forked child: the writers belong to its parent. */
void st_pool_forget(void);

/*
 * --- counts of operations without a wait (counts.c) --------------------------------------------
 */

/*
 * Makes <dir>/sync-counts; `dir` must stay valid. Returns false if that fails: everything is
 * recorded.
 */
bool st_counts_open(const char *dir, bool is_auto);

/* In a forked child: the counts belong to its parent. */
void st_counts_forget(void);

/* Returns the ST_COUNTED_MAX counts of the thread with that index; NULL: everything is recorded. */
uint64_t *st_counts_row(uint32_t index);

/*
 * With sync.mode = auto the file is made when the first thread exceeds its budget, since in most
 * processes none does. NULL: not available now.
 */
void st_counts_open_late(bool later);
uint64_t *st_counts_row_late(uint32_t index);

/*
 * --- hold times of counted operations (hold_times.c)
 * ------------------------------------------------
 */

extern bool st_times_holds; /* sync.holds = yes */

/*
 * Makes <dir>/sync-holds; `dir` must stay valid. Without it all hold times count as lost:
 * in the header of the counts, at *counts, NULL while there is none.
 */
void st_timed_open(const char *dir, struct st_counts_header **counts);

/* In a forked child: the rows belong to its parent. */
void st_timed_forget(void);

/* The thread ends: its rows stay in the file. */
void st_timed_end_thread(struct st_thread *self);

/* Returns the address of a site by its number; 0: not known. */
uintptr_t st_site_address(const struct st_thread *self, uint16_t number);

/* --- LTTng-UST (ust.c) ----------------------------------------------------------------------- */

/* Called by the constructor: loads the provider. `native`: events also go to our streams. */
void st_ust_open(bool native);

/* Passes the event to LTTng. Returns false if LTTng does not accept it. */
bool st_ust_emit(const struct st_record *record);

/* Returns true if the call comes from LTTng's own code. */
bool st_ust_is_own(uintptr_t site);

/* Called in a child of a fork of which LTTng is informed later, or never. */
void st_ust_forked(void);
void st_ust_disown(void);

/* --- blocking calls (io/) --------------------------------------------------------------------- */

/* Looks up the real functions. Called once per program image. */
void st_io_prepare(void);

/* From now on calls are recorded, if the configuration says so; or none ever is. */
void st_io_open(const struct gm_config *config);
void st_io_switch_off(void);

/* --- accesses in critical sections (accesses.c) ------------------------------------------------
 */

/* NULL: the program does not record accesses. */
extern const struct st_access_functions *st_access __attribute__((visibility("hidden")));

/* A thread has a writer now, or is not recorded in full any more. */
void st_access_begin(struct st_thread *self, uint64_t now_ns);
void st_access_switch_off(void);

/* At the time stamp of a synchronization event: ends the segment. */
void st_access_cut(struct st_thread *self, uint64_t now_ns);

/* At the end of the process: ends the segment of the calling thread. */
void st_access_finish(struct st_thread *self);

/* The event was written, or is lost: the number of locks may be another one. */
void st_access_event(struct st_thread *self, const struct st_record *record);

/*
 * The frame of code that has closed the gate of the thread's collector; 0: none. It was left by a
 * jump: the segment goes on, and is inexact.
 */
uintptr_t st_access_frame(void);
void st_access_left(void);

/* Returns true if the address is in the known part of the thread's initial stack (jump.c). */
bool st_stack_has(uintptr_t address);

/*
 * Finds the readable part of the thread's initial stack, as far down as n_bytes below `frame`.
 * Returns false if the frame is on another stack.
 */
bool st_stack_find(uintptr_t frame, size_t n_bytes, uintptr_t *ret_low, uintptr_t *ret_above);

/*
 * Makes the thread's collector, if it has none yet, for a segment that begins now. Returns false if
 * there is no memory, or code that uses the collector has been interrupted.
 */
bool st_collector_ready(struct st_access_thread *thread, uint64_t now_ns);

/* --- sections executed in single steps (access_steps.c) --------------------------------------- */

void st_steps_configure(void);

/* True if all events must take the slow path: in the compiled mode, or the thread is stepped. */
bool st_steps_need_all(void);

/* Called at least every 20 ms: some sections may be chosen again. */
void st_steps_arm(struct st_thread *self);

/* Before an event: the thread's locks are counted only while it is stepped, unless it always is. */
void st_steps_before(struct st_access_thread *thread);

/* Before a segment ends. Returns false if it is not stepped; true in the compiled mode. */
bool st_steps_cut(struct st_access_thread *thread);

/* The segment's event was written: a section that was abandoned is not stepped any more. */
void st_steps_written(struct st_access_thread *thread, unsigned flags);

/* The number of locks has changed by `change`. */
void st_steps_event(struct st_thread *self, struct st_access_thread *thread,
		    const struct st_record *record, int change);
void st_steps_thread_end(struct st_access_thread *thread);

/* In a forked child: the trace belongs to its parent. */
void st_access_forget(void);

/* --- streams of accesses (access_stream.c) ---------------------------------------------------- */

/* Writes the segment with the set of its lines. Returns false if that is not possible. */
bool st_accesses_write(struct st_thread *self, const struct st_collector *collector, unsigned flags,
		       uint64_t now_ns);

/* Writes an event with these fields. *now_ns may become later. Returns false if there is no room.
 */
bool st_accesses_put(struct st_thread *self, uint8_t id, const void *fields, size_t n_bytes,
		     uint64_t *now_ns);

/* The stream of the writer, or NULL. */
struct gm_stream *st_accesses_stream(const struct st_thread *self);

/* The writer serves another thread now; rests, and may close its file; after a jump. */
void st_accesses_resume(struct st_thread *self, uint64_t now_ns);
void st_accesses_rest(const struct st_thread *self, bool closes);
void st_accesses_settle(const struct st_thread *self);

void st_accesses_forget(void);

/* --- blocks of the heap (access_blocks.c) ----------------------------------------------------- */

/*
 * Writes the blocks with accessed bytes, unless they are in the trace. *now_ns may become later.
 * Returns false if there was no room for all. If it returned true, and st_blocks_freed() returns
 * the number that it returned before, all of them are still in the trace.
 */
bool st_blocks_write(struct st_thread *self, const struct st_collector *collector,
		     uint64_t *now_ns);
uint64_t st_blocks_freed(void); /* not 0 */

/* In a forked child: no block is in its trace. */
void st_blocks_forget(void);

/* --- call paths (path.c) ---------------------------------------------------------------------- */

/* Minimum wait time with a call path: [sync] paths. ~0: no call paths. */
extern uint64_t st_path_wait_ns;

/* Maximum number of frames: [sync] path_depth. */
extern unsigned st_path_depth __attribute__((visibility("hidden")));

/* [sync] path_sample: 1 in so many acquisitions without a wait gets a call path; 0: none. */
extern uint32_t st_path_sample __attribute__((visibility("hidden")));

/* Draws the first acquisition of the thread that gets one. */
void st_sample_start(struct st_thread *self);

/*
 * Returns the number of the node of the call path to `site`, as st_path_note() would write it; 0:
 * it would not, or there is no room.
 */
uint32_t st_path_number(struct st_thread *self, uintptr_t site, uint64_t wait_ns, uint64_t now_ns);

/* The same of a path that consists of one address. */
uint32_t st_path_number_of(struct st_thread *self, uintptr_t address, uint64_t now_ns);

/* --- the end of a thread (thread_end.c) ------------------------------------------------------- */

/* Writes the call path of the thread's end, before its `thread_exit`. thread: its pthread_t. */
void st_thread_end_path(struct st_thread *self, uint64_t thread, uint64_t now_ns);

/* The thread is about to be cancelled; it was not, or has begun. */
void st_thread_cancelled(uint64_t thread);
void st_thread_not_cancelled(uint64_t thread);

/* The thread is on its final stack. */
void st_path_stack_init(struct st_thread *self);

/* --- call sites (site.c) --------------------------------------------------------------------- */

void st_sites_init(struct st_thread *self);

/*
 * Enlarges one of the thread's tables. A handler must not jump out of it, nor an asynchronous
 * cancellation end it: the writer stays in use.
 */
bool st_grow(struct st_thread *self, bool (*grow)(struct st_thread *self));

/* Returns the number of a site, defined in the stream if it is new; 0: not known. */
uint16_t st_site_number(struct st_thread *self, uintptr_t site, uint64_t now_ns);

/* After an object was unloaded: the object that replaces it is noted at its first event. */
void st_sites_recheck(struct st_thread *self) ST_COLD;

/* The next event of each site takes the slow path. Not in a thread that makes no system call. */
void st_sites_arm(struct st_thread *self);

static inline void st_sites_check(struct st_thread *self)
{
	if (st_unlikely(__atomic_load_n(&self->detours, __ATOMIC_RELAXED) & ST_DETOUR_UNLOADED))
		st_sites_recheck(self);
}

#endif
