/* SPDX-License-Identifier: MIT */
/*
 * What both runtime libraries need of a process: its capture folder, its thread table, its load
 * map, a clock.  Each library carries its own copy (hidden symbols); the copies agree because all
 * they share stands in the capture directory.
 *
 * Nothing here allocates, locks, or calls into libc from a path that mcount or a wrapper can
 * reach: system calls are made directly (sys.h), so vector registers, errno and libc's own locks
 * stay as the program left them.  Everything is async-signal-safe if signals are blocked around
 * it (gm_signals_block), which callers do, since a handler may call profiled functions.  Handlers
 * of forced signals (SIGSYS, SIGBUS and the like) are not blocked: lock.h.
 *
 * Failure never stops the program.  A process whose capture cannot be opened stays unprofiled, for
 * want of disk space until there is room, and says so once, on stderr, in one line.
 */
#ifndef GM_RUNTIME_H
#define GM_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gmon-mt/format.h"
#include "runtime/capture.h"
#include "runtime/config.h"

/* --- process ----------------------------------------------------------------------------- */

enum gm_process_state {
	GM_PROCESS_NEW = 0,  /* nothing done yet; also the child of a fork until its first event */
	GM_PROCESS_OPEN = 1, /* the capture folder is open */
	GM_PROCESS_OFF = 2,  /* not profiled: set-uid, bad configuration, no directory */
};

struct gm_process {
	int pid;
	struct gm_config config;
	bool config_named; /* by GPROF_MT_CONFIG: not a file that is merely there */
	struct gm_capture capture;
	char dir[GM_PATH_MAX]; /* <capture>/<pid>, absolute; see gm_process_folder() */
};

/*
 * Opens the capture for this process: reads the configuration, creates or joins the capture
 * directory, makes the <pid> folder (0700), maps `threads`, notes the executable in `maps` (a
 * constructor adds the rest with gm_maps_update()).  The first caller does the work; others wait
 * for it.  Returns the process, or NULL when it is not to be profiled.  Cheap once done (one
 * acquire load).  Like all below that mention the loader, may use the lower halves of vector
 * registers: a caller on an instrumented path saves xmm0..xmm15 around it.
 */
const struct gm_process *gm_process_open(void);

/* The same without opening: NULL unless already open. */
const struct gm_process *gm_process_get(void);

/* Not to be profiled, now or later.  If gm_process_open() returned NULL, it may else open later. */
bool gm_process_is_off(void);

/* Why it is not open, where gm_process_open() returned NULL and may else open later: enum gm_loss.
 */
uint16_t gm_process_why(void);

/*
 * A handler has jumped out of code of the task `tid`: if that was opening the process, nobody goes
 * on with it, and the process is not recorded.  Makes no system call.
 */
void gm_process_left(uint32_t tid);

/*
 * There is nothing to open it with (no room on the disk), and it is not time to try again: what
 * `library` would record is lost. Makes a system call now and then.
 */
bool gm_process_waits(enum gm_library library);

/*
 * Before the end: has all losses counted in the capture.  If the process waits for room, tries
 * again whatever the time.
 */
void gm_process_settle(void);

/*
 * Makes sure that the process has its folder, `dir`: a child of fork begins without, in a place
 * that its parent has prepared (children.h).  To be called, with signals blocked, before each use
 * of `dir`.  0 or -errno.
 */
int gm_process_folder(void);

/* False: it has none yet, and `dir` is that of the places. */
bool gm_process_has_folder(void);

/* The place of a child of fork; NULL: the process began with a folder. */
struct gm_child *gm_process_child(void);

/*
 * For the child side of fork(): forgets the parent's folder without touching it (unmaps its shared
 * files), so that the next gm_process_open() makes the child's own.
 */
void gm_process_forked(void);

/*
 * Orderly end: writes what only memory has, stamps header end_ns, refreshes `maps`.  Idempotent;
 * the mappings stay.
 */
void gm_process_end(void);

/* The same before _exit(), which nothing else tells of: takes no lock of the loader's. */
void gm_process_save(void);

/* `saved` is called when files that are kept in memory (kept.h) were written, to count losses. */
void gm_process_on_save(void (*saved)(void));

/*
 * Says in the table's header whether there are samples; `sampler` is an address of the library that
 * asks.  False if another copy of it has done so: only one samples.
 */
bool gm_process_set_sampling(uint64_t sampler, enum gm_sample_state state, uint64_t period_ns);

/*
 * Adds calls or events to the losses of the table's header; `why`: enum gm_loss.  Of a thread
 * without a slot: gm_threads_why().
 */
void gm_process_count_lost(enum gm_library library, uint64_t n, uint16_t why);

/* Says in the table's header what kinds of synchronization are not recorded: bits by gm_sync_type.
 */
void gm_process_set_sync_types_off(uint32_t types);

/* The same of objects: bits by enum gm_sync_objects, added to those that are there. */
void gm_process_set_sync_objects(uint8_t objects);

/* Counts an event that lacks its call path. */
void gm_process_count_path_lost(void);

/* --- threads ------------------------------------------------------------------------------ */

/*
 * The calling thread's slot in `threads`, claimed if the thread has none yet (another library may
 * have claimed it).  NULL when there is no room: the caller counts what it then loses.
 * *ret_index is untouched on failure.
 */
struct gm_thread_slot *gm_thread_self(uint32_t *ret_index);

/* Why threads found no slot: enum gm_loss. */
uint16_t gm_threads_why(void);

/* Keeps the largest error of a thread's time stamps in its slot. */
void gm_thread_note_error(struct gm_thread_slot *slot, uint64_t error_ns);

/* How many threads the table has, ended ones too; and the slot of one of them, for walks. */
uint32_t gm_threads_count(void);
struct gm_thread_slot *gm_thread_at(uint32_t index);

/* Marks the slot ended: end_ns, name, state.  Idempotent: the last caller's time stands. */
void gm_thread_end(struct gm_thread_slot *slot);

/*
 * Calls `ended` in each thread that ends after having called gm_thread_watch(), as late as pthread
 * key destructors allow (in their last round).  Both libraries share one key.  `ended` may be
 * called for a thread more than once, and for threads that only the other library watches.
 *
 * It may never be called: all keys may be taken, and the program may delete ours or set its value
 * to NULL.  So whoever keeps anything for a thread asks now and then whether the thread is gone.
 *
 * gm_thread_watch() is the one function here that enters libc; a caller on an instrumented path
 * saves the vector registers around it.
 */
void gm_thread_watch_init(enum gm_library library, void (*ended)(void));
void gm_thread_watch(void);

/* In shared libraries alone: the first gm_thread_watch_shared that the loader finds. */
void *gm_thread_watch_find(void) __attribute__((weak));

/* glibc's keys; NULL: not known, as in programs linked with libgmon_mt.a. */
struct gm_pthread_key {
	uintptr_t sequence; /* odd: it is in use */
	void (*destructor)(void *);
};
extern const struct gm_pthread_key *gm_pthread_keys;

/*
 * The kernel knows no thread of that id.  (Ids mean the same in the process itself alone: not in a
 * child of vfork() that has others.)
 */
bool gm_thread_is_gone(uint32_t tid);

/* Marks the slot of a thread that is gone without having said so: nobody knows when. */
void gm_thread_abandon(struct gm_thread_slot *slot);

/* --- clock -------------------------------------------------------------------------------- */

/* CLOCK_MONOTONIC in nanoseconds, from the kernel: 0.1 us and more.  See clock.h for a faster one.
 */
uint64_t gm_clock_ns(void);

/* --- load map ----------------------------------------------------------------------------- */

#define GM_OBJECT_NUMBER_BYTES sizeof("~32767")
#define GM_OBJECT_NAME_BYTES   (59 + GM_OBJECT_NUMBER_BYTES)

struct gm_object {
	uint64_t start, end;	       /* run-time addresses of the whole mapping, end exclusive */
	uint64_t text_start, text_end; /* of its code */
	uint64_t bias;		       /* run-time address - link-time address */
	uint64_t entry;	   /* its entry point or, in a library without, DT_INIT; 0: neither */
	uint64_t file;	   /* the same for mappings of the same file */
	uint64_t build_id; /* a hash of it; 0: none */
	uint64_t line_at;  /* in `maps`: where it was last listed */
	uint32_t line_bytes;
	bool executable;		 /* the program itself */
	char name[GM_OBJECT_NAME_BYTES]; /* file name without directory; no other file has it */
};

/* Appends to `maps` all objects mapped now that are not there yet.  Takes the loader's lock. */
void gm_maps_update(void);

/*
 * Makes sure that the object holding `address` is in `maps`; async-signal-safe, takes no lock of
 * the loader's.  Returns false when no object is known there (JIT code).
 */
bool gm_maps_note(uint64_t address, struct gm_object *ret_object);

/* The noted object that holds `address`, lasting as long as the process; NULL: none noted. */
const struct gm_object *gm_maps_find(uint64_t address);

/* Noted mappings of this one's file: how many there are; up to `max` of them are told. */
unsigned gm_maps_of_file(const struct gm_object *file, const struct gm_object **ret, unsigned max);

/*
 * The object that holds `address` is about to be unloaded.  Its place may become another's, so it
 * moves to one where nothing can be loaded, GM_PLACE_BYTES times its number further up; should the
 * loader put it where it was again, it moves back.  False: it is not noted.
 */
bool gm_maps_unload(uint64_t address);

/* Was the module there when the program began?  Then it is never unloaded.  NULL: no. */
struct link_map;
bool gm_module_stays(const struct link_map *module) __attribute__((weak)); /* not in archives */

/* Defined by each library: what it does when the object with that address is unloaded. */
void gm_unloads(uint64_t address);

/*
 * For who keeps addresses, before any object can move: `move` adds `by` to those in the object,
 * then calls gm_object_move().  It runs when the functions above do, but for gm_maps_find(). Before
 * it, the object is listed in `maps` as loaded where it goes.  `first`: of the library's places,
 * lest two libraries in a process have objects in the same one.
 */
void gm_maps_on_move(void (*move)(struct gm_object *object, uint64_t by), uint64_t first);
void gm_object_move(struct gm_object *object, uint64_t by);

/*
 * The loader's _dl_find_object(); NULL before glibc 2.35.  From our constructor on no function of
 * the program's by that name.
 */
struct dl_find_object;
extern int (*gm_find_object)(void *address, struct dl_find_object *ret);

/* Run-time address of the executable's entry point. */
uint64_t gm_entry_point(void);

/* --- helpers ------------------------------------------------------------------------------ */

/* An environment variable, as it was when the process' environment was last changed; or NULL. */
const char *gm_environment(const char *name);

/*
 * Memory that another thread may unmap: is it there; and a copy of it, false where it is not all
 * there.  Both ask the kernel, and never fault.
 */
bool gm_memory_is_readable(uint64_t address);
bool gm_memory_read(void *into, uint64_t address, size_t n_bytes);

/* Writes there, in the same way; n_bytes lie in one page. */
bool gm_memory_write(uint64_t address, const void *from, size_t n_bytes);

/* Signals that the kernel forces on a thread: a thread that blocks them is killed by them. */
#define GM_SIGNAL_BIT(number) ((uint64_t)1 << ((number)-1))
#define GM_SIGNALS_FORCED                                                                          \
	(GM_SIGNAL_BIT(SIGSYS) | GM_SIGNAL_BIT(SIGSEGV) | GM_SIGNAL_BIT(SIGBUS) |                  \
	 GM_SIGNAL_BIT(SIGFPE) | GM_SIGNAL_BIT(SIGILL) | GM_SIGNAL_BIT(SIGTRAP))

/*
 * Blocks every signal, except those that the kernel forces on a thread, and keeps the old mask; the
 * pair around any slow path.  See lock.h for what a handler of those may do.
 */
void gm_signals_block(uint64_t *ret_mask);
void gm_signals_restore(uint64_t mask);

/* After a handler jumped out of such a pair without a mask of its own: as it was before. */
void gm_signals_unblock_left(uint64_t before);

/*
 * Maps size_bytes of <dir>/<name> from `offset` on, shared, with disk space reserved.  The file is
 * created if offset is 0 (0600, O_EXCL, O_NOFOLLOW).  0, or -errno: no new file is left,
 * *ret_mapping untouched.
 */
int gm_file_map(const char *dir, const char *name, uint64_t offset, size_t size_bytes,
		void **ret_mapping);

/* Maps the first bytes of a file that has all of them. */
int gm_file_map_again(const char *dir, const char *name, size_t size_bytes, void **ret_mapping);

/* Cuts a file, as far as it can be reached. */
void gm_file_cut(const char *dir, const char *name, uint64_t size_bytes);

/*
 * Reserves disk space for bytes [offset, offset + size_bytes) of an open file, so that touching
 * its shared mapping can never raise SIGBUS.  0 or -errno; -EFBIG: past RLIMIT_FSIZE, where the
 * kernel would send the program a SIGXFSZ.
 */
int gm_file_reserve(int fd, uint64_t offset, uint64_t size_bytes);

/*
 * Writes so many zeros, in large pieces: a fraction of what a fault of each page costs.  They are
 * the same few each time: a program that locks its memory has them locked, too.  0 or -errno.
 */
int gm_file_zeros(int fd, uint64_t offset, uint64_t size_bytes);

#define GM_ZEROS_BYTES 4096u
extern const char gm_zeros[GM_ZEROS_BYTES];

/* What a failure (-errno) means for what was to be kept: enum gm_loss. */
uint16_t gm_loss_of(long code);

/* Adds to the reasons in a file that others map, too: in `whys` and `stalled` of that file. */
static inline void gm_loss_add(uint8_t *whys, uint8_t *stalled, enum gm_stalled what, uint16_t why)
{
	if ((*whys & (uint8_t)why) != (uint8_t)why)
		__atomic_fetch_or(whys, (uint8_t)why, __ATOMIC_RELAXED);
	if ((why & GM_LOSS_STALLED) != 0)
		__atomic_fetch_or(stalled, (uint8_t)what, __ATOMIC_RELAXED);
}

/* False: past RLIMIT_FSIZE, where the kernel would send the program a SIGXFSZ. */
bool gm_file_may_reach(uint64_t end_bytes);

/* Builds <dir>/<name> in memory of its own, since stacks may be small; NULL: no memory. */
char *gm_path_new(const char *dir, const char *name);
void gm_path_free(char *path);

#define GM_WARNING_BYTES 768

/*
 * One line on stderr: "gprof-mt: TEXT\n", written in one go; errno kept.  Nothing if descriptor 2
 * is another file than at gm_warn_init(): it may be one with the program's data.  Nothing either if
 * the write would have to wait: a pipe that is full, a terminal that was stopped.
 */
void gm_warn(const char *text);
void gm_warn_init(void);

/* The same for what both libraries of a process meet: the first to say it is the only one. */
void gm_warn_once(const char *text);

#endif
