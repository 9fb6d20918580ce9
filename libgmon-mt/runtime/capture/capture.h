/* SPDX-License-Identifier: MIT */
/*
 * The capture directory: created once, and joined by every process of one run.
 *
 * `gprof-mt record` creates it for the program it starts; without `record` the first profiled
 * process does. A directory appears complete (made beside, then renamed), so a process that finds
 * its `session` file can use it. An old capture is renamed to DIR.old, replacing an older one. Both
 * are done only with directories that are provably finished captures of this user (session.h).
 */
#ifndef GM_RUNTIME_CAPTURE_H
#define GM_RUNTIME_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/config/config.h"
#include "runtime/files/file.h"

/* `gprof-mt collector` writes a byte to this descriptor when it records. */
#define GM_COLLECTOR_READY_FD 3

/*
 * With the first two words a process proves to `record` that it is in the capture; with the others
 * `record` proves its identity to the process.
 */
#define GM_SECRET_WORDS 4

/* How much its processes have written together (output.h): the file, and its size. */
#define GM_USED_FILE  "used"
#define GM_USED_BYTES 4096u

struct gm_capture {
	char dir[GM_PATH_MAX];	 /* absolute */
	bool created;		 /* by this call, not joined */
	int64_t clock_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC when it was made */
	char clock_uuid[37];	 /* the boot id */
	uint64_t device, inode;	 /* identity of the directory, whatever its name */
	int owner;		 /* pid of the process that made it */
	uint64_t secret[GM_SECRET_WORDS];
	bool is_away;	 /* this process cannot reach it and asks `record` (recorder.h) */
	bool is_exposed; /* other users may give its name to another directory */
};

/*
 * Creates or joins config->dir. With config->existing == GM_EXISTING_RENAME only the run that made
 * the directory joins it: its owner lives, or this process or its parent is already in it; with
 * GM_EXISTING_NEW no process does. Returns 0, or -errno with a one-line diagnosis in *error;
 * *ret_capture is then undefined.
 */
int gm_capture_open(const struct gm_config *config, struct gm_capture *ret_capture,
		    struct gm_config_error *error);

/*
 * Sets *ret_capture to the capture made by `record` whose configuration has this path, and that
 * this process cannot reach. Returns false if the path belongs to no capture.
 */
bool gm_capture_set_away(const char *config_path, struct gm_capture *ret_capture);

/* Joins that capture after gm_place_set(), like gm_capture_open(). */
int gm_capture_join_away(const struct gm_config *config, struct gm_capture *ret_capture,
			 struct gm_config_error *error);

/* Opens its directory for reading. -ESTALE: another directory has its name. */
int gm_capture_dir_open(const struct gm_capture *capture);

/* Returns 0 if `dir` is a finished capture of this user, else -errno with a diagnosis in *error. */
int gm_capture_check(const char *dir, struct gm_config_error *error);

/* Removes the capture `dir` if gm_capture_check() permits it. */
void gm_capture_remove_old(const char *dir);

/* Removes a capture to which no process writes yet. */
void gm_capture_remove(const struct gm_capture *capture);

/*
 * Field 22 of /proc/PID/stat: start time in clock ticks after boot; 0: no such process. `pid` 0:
 * the caller, whose pid may differ in the PID namespace of /proc.
 */
uint64_t gm_proc_start(int pid);

/* Returns true if the process with that start time still has a running thread. */
bool gm_proc_runs(int pid, uint64_t start);

/*
 * Creates a file (mode 0600, not following symlinks, never replacing a file) and writes it. Returns
 * 0 or -errno; on failure there is no file.
 */
int gm_file_write(const char *path, const void *bytes, size_t n);

/*
 * Removes a directory and its contents without following symlinks; files that cannot be removed
 * stay.
 */
void gm_remove_tree(const char *path);

#endif
