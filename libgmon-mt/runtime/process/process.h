/* SPDX-License-Identifier: MIT */
/*
 * The process-level services that both runtime libraries need: capture folder, thread table, load
 * map, clock. Each library carries its own copy (hidden symbols); the copies agree because their
 * shared state is in the capture directory.
 *
 * Code that mcount or a wrapper can reach does not allocate, lock, or call libc: system calls are
 * made directly (sys.h), so vector registers, errno and libc's own locks stay unchanged. All
 * functions are async-signal-safe if signals are blocked around them (gm_signals_block), which
 * callers do, since a handler may call profiled functions. Handlers of forced signals (SIGSYS,
 * SIGBUS and similar) are not blocked: lock.h.
 *
 * Failures never stop the program. A process whose capture cannot be opened stays unprofiled (with
 * a full disk: until there is room) and reports that once, on stderr, in one line.
 */
#ifndef GM_RUNTIME_PROCESS_H
#define GM_RUNTIME_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gmon-mt/format.h"
#include "runtime/capture/capture.h"
#include "runtime/config/config.h"

enum gm_process_state {
	GM_PROCESS_NEW = 0,  /* not opened yet; also the child of a fork until its first event */
	GM_PROCESS_OPEN = 1, /* the capture folder is open */
	GM_PROCESS_OFF = 2,  /* not profiled: set-uid, bad configuration, no directory */
};

struct gm_process {
	int pid;
	struct gm_config config;
	/* by GPROF_MT_CONFIG, as opposed to a file found in the working directory */
	bool config_named;
	struct gm_capture capture;
	char dir[GM_PATH_MAX]; /* <capture>/<pid>, absolute; see gm_process_folder() */
};

/*
 * Opens the capture for this process: reads the configuration, creates or joins the capture
 * directory, makes the <pid> folder (0700), maps `threads`, notes the executable in `maps` (a
 * constructor adds the rest with gm_maps_update()). The first caller does the work; others wait for
 * it. Returns the process, or NULL if it must not be profiled. Once open, this costs one acquire
 * load. Like all functions below that mention the loader, it may use the lower halves of vector
 * registers: a caller on an instrumented path saves xmm0..xmm15 around it.
 */
const struct gm_process *gm_process_open(void);

/* The same without opening it: NULL unless already open. */
const struct gm_process *gm_process_get(void);

/*
 * True: not profiled, now or later. If gm_process_open() returned NULL and this is false, it may
 * open later.
 */
bool gm_process_is_off(void);

/* The reason (enum gm_loss) why it is not open, if it may open later. */
uint16_t gm_process_why(void);

/*
 * Called after a handler has jumped out of code of the task `tid`: if that was opening the process,
 * the opening is not continued, and the process is not recorded. Makes no system call.
 */
void gm_process_left(uint32_t tid);

/*
 * Returns true if the process cannot be opened now (no room on the disk) and it is not time to try
 * again: events of `library` are lost. Makes a system call now and then.
 */
bool gm_process_waits(enum gm_library library);

/*
 * Called before the end: counts all losses in the capture. If the process waits for room, tries
 * again at once.
 */
void gm_process_settle(void);

/*
 * Makes sure that the process has its folder, `dir`: a child of fork begins without one, in a place
 * that its parent has prepared (children.h). Called, with signals blocked, before each use of
 * `dir`. Returns 0 or -errno.
 */
int gm_process_folder(void);

/* Returns false if it has none yet; `dir` is then the folder that has the places. */
bool gm_process_has_folder(void);

/* The place of a child of fork; NULL: the process began with a folder. */
struct gm_child *gm_process_child(void);

/*
 * For the child of fork(): detaches from the parent's folder without changing it (unmaps its shared
 * files), so that the next gm_process_open() makes the child's own.
 */
void gm_process_forked(void);

/*
 * Orderly end: writes data that exists only in memory, stamps header end_ns, refreshes `maps`.
 * Idempotent; the mappings stay. Does nothing in a child that shares the memory of its parent.
 */
void gm_process_end(void);

/* The same before _exit(), which runs no destructors: does not take the loader's lock. */
void gm_process_save(void);

/* The process did not end after gm_process_save(): takes back the end that it noted. */
void gm_process_goes_on(void);

/*
 * Registers a function that counts losses, called after files kept in memory (files_in_memory.h)
 * were written.
 */
void gm_process_on_save(void (*saved)(void));

/*
 * Sets in the table's header whether samples are taken; `sampler` is an address in the calling
 * library. Returns false if another copy of it has done so: only one samples.
 */
bool gm_process_set_sampling(uint64_t sampler, enum gm_sample_state state, uint64_t period_ns);

/*
 * Adds calls or events to the losses in the table's header; `why`: enum gm_loss. For a thread
 * without a slot: gm_threads_why().
 */
void gm_process_count_lost(enum gm_library library, uint64_t n, uint16_t why);

/*
 * Sets in the table's header the types of synchronization that are not recorded: bits by
 * gm_sync_type.
 */
void gm_process_set_sync_types_off(uint32_t types);

/* The same for objects: bits by enum gm_sync_objects, added to those already set. */
void gm_process_set_sync_objects(uint8_t objects);

/* Sets in the table's header that blocking calls of at least that duration are recorded. */
void gm_process_set_io(uint64_t threshold_ns);

/* Counts an event that lacks its call path. */
void gm_process_count_path_lost(void);

/*
 * Counts a wait that is not recorded, since tasks run in it that are not known. Not counted in a
 * child of fork that began in a place.
 */
void gm_process_count_task_wait(void);

/*
 * Adds accesses in critical sections to those that are not recorded; counts a thread that has none
 * recorded. Not counted in a child of fork that began in a place.
 */
void gm_process_count_accesses_lost(uint64_t n);
void gm_process_count_without_accesses(void);
void gm_process_note_not_stepped(unsigned why);
void gm_process_count_blocks_lost(uint64_t n);
void gm_process_count_stepped_calls(uint64_t n);

#endif
