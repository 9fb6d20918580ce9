/* SPDX-License-Identifier: MIT */
/*
 * The thread table: the slots of threads and their ends; below, what the opening of the process
 * needs of it.
 */
#ifndef GM_RUNTIME_THREADS_H
#define GM_RUNTIME_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "gmon-mt/format.h"

/*
 * Returns the calling thread's slot in `threads`, claimed if the thread has none yet (another
 * library may have claimed it). Returns NULL if there is no room: the caller counts its losses.
 * *ret_index is unchanged on failure.
 */
struct gm_thread_slot *gm_thread_self(uint32_t *ret_index);

/* The reason (enum gm_loss) why threads found no slot. */
uint16_t gm_threads_why(void);

/* Counts periods of CPU time without a sample, of a thread that has no slot. */
void gm_threads_count_missed(uint64_t n);

/* Stores the largest error of a thread's time stamps in its slot. */
void gm_thread_note_error(struct gm_thread_slot *slot, uint64_t error_ns);

/*
 * The number of threads in the table, including ended ones; and the slot of one of them, for walks.
 */
uint32_t gm_threads_count(void);
struct gm_thread_slot *gm_thread_at(uint32_t index);

/* Marks the slot ended: end_ns, name, state. A later call overwrites the time. */
void gm_thread_end(struct gm_thread_slot *slot);

/*
 * Calls `ended` in each thread that ends after having called gm_thread_watch(), as late as pthread
 * key destructors allow (in their last round). Both libraries share one key. `ended` may be called
 * for a thread more than once, and for threads that only the other library watches.
 *
 * It may never be called: all keys may be taken, and the program may delete our key or set its
 * value to NULL. So code that keeps data for a thread must check now and then whether the thread
 * still exists.
 *
 * gm_thread_watch() is the only function here that calls libc; a caller on an instrumented path
 * saves the vector registers around it.
 */
void gm_thread_watch_init(enum gm_library library, void (*ended)(void));
void gm_thread_watch(void);
/* After gm_libc_resolve() (runtime/process/loadmap.h) it is never a function of the program. */
extern int (*gm_set_specific)(unsigned key, const void *value);

/*
 * Calls `begun` at the begin of each further thread that libsync-trace sees begin, in that thread:
 * libgmon-mt itself knows only of threads that call its functions. The other is for libsync-trace:
 * `begun` of the other library, NULL: none.
 */
void gm_thread_watch_begin(enum gm_library library, void (*begun)(void));
void (*gm_thread_begun_by(enum gm_library library))(void);

/*
 * Deletes the key, so that the program can have it. Returns false if no key is known to be ours.
 */
bool gm_thread_watch_give_up(void);

/* In shared libraries only: returns the first gm_thread_watch_shared that the loader finds. */
void *gm_thread_watch_find(void) __attribute__((weak));

/* glibc's keys; NULL: not known, as in programs linked with libgmon_mt.a. */
struct gm_pthread_key {
	uintptr_t sequence; /* odd: in use */
	void (*destructor)(void *);
};
extern const struct gm_pthread_key *gm_pthread_keys;

/*
 * Returns true if the kernel knows no thread with that id. (Ids are valid only in the process
 * itself, not in a child of vfork() in another PID namespace.)
 */
bool gm_thread_is_gone(uint32_t tid);

/* Marks the slot of a thread whose end went unnoticed: the time is unknown. */
void gm_thread_abandon(struct gm_thread_slot *slot);

/* --- for the opening of the process --------------------------------------------------------- */

/* The initial size of the file: a table with one segment of slots. */
#define GM_THREADS_FIRST_BYTES (GM_THREADS_HEADER_BYTES + GM_SEGMENT_BYTES)

#define GM_THREADS_HEADER_BYTES 8192
#define GM_SEGMENT_SLOTS	256u
#define GM_SEGMENT_BYTES	(GM_SEGMENT_SLOTS * sizeof(struct gm_thread_slot))
#define GM_SEGMENTS_MAX		4096u

/* Makes `header` (mapped, GM_THREADS_FIRST_BYTES) the table in use; its file is in `dir`. */
void gm_threads_attach(struct gm_threads_header *header, const char *dir);

/* The same for a child of fork, whose table begins in its place. */
struct gm_child;
void gm_threads_attach_child(struct gm_child *child, const char *dir);

/*
 * Detaches the child of a fork from its parent's table, which stays mapped for
 * gm_threads_note_unwritten() until the child has its own.
 */
void gm_threads_detach(void);

/*
 * Notes in the table of an ancestor that this process could not open the capture, and why. Returns
 * false if there is no such table.
 */
bool gm_threads_note_unwritten(uint32_t pid, long code);

struct gm_threads_header *gm_threads_table(void);

/*
 * Adds to the number of streams with packets only in memory. Returns false for a child of fork
 * whose place cannot note that.
 */
bool gm_threads_count_in_memory(int n);

/* With files_in_memory.h, in a step of helper_task.h: writes the whole table to its file. Returns 0
 * or -errno. */
long gm_threads_save(void);

#endif
