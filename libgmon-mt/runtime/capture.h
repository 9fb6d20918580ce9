/* SPDX-License-Identifier: MIT */
/*
 * The capture directory: made once, joined by every process of one run.
 *
 * `gprof-mt record` makes it for the program it starts; without `record` the first profiled
 * process does.  A directory appears whole (made beside, then renamed), so whoever finds its
 * `session` file can use it.  An old capture is renamed to DIR.old, over an older one; either only
 * if it is provably a capture of this user's that has ended (session.h).
 */
#ifndef GM_RUNTIME_CAPTURE_H
#define GM_RUNTIME_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/config.h"

/* Of `gprof-mt collector`, which writes a byte there when it records. */
#define GM_COLLECTOR_READY_FD 3

/* By the first two, a process proves to `record` that it is in the capture; by the others, `record`
 * proves to the process who it is. */
#define GM_SECRET_WORDS 4

struct gm_capture {
	char dir[GM_PATH_MAX];	 /* absolute */
	bool created;		 /* by this call, not joined */
	int64_t clock_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC when it was made */
	char clock_uuid[37];	 /* the boot id */
	uint64_t device, inode;	 /* which directory it is, whatever its name */
	int owner;		 /* the process that made it */
	uint64_t secret[GM_SECRET_WORDS];
	bool is_away;	 /* this process cannot reach it: `record` does (recorder.h) */
	bool is_exposed; /* other users may give its name to another directory */
};

/*
 * Makes or joins config->dir.  With config->existing == GM_EXISTING_RENAME a directory is joined
 * only by the run that made it: its owner lives, or this process or its parent is already in it.
 * 0, or -errno with a one-line diagnosis in *error; *ret_capture is then undefined.
 */
int gm_capture_open(const struct gm_config *config, struct gm_capture *ret_capture,
		    struct gm_config_error *error);

/*
 * The capture, made by `record`, that this process cannot reach, by the path of its configuration.
 * False: that is of no capture.
 */
bool gm_capture_set_away(const char *config_path, struct gm_capture *ret_capture);

/* Joins it, once it is that of gm_place_set(): as gm_capture_open(). */
int gm_capture_join_away(const struct gm_config *config, struct gm_capture *ret_capture,
			 struct gm_config_error *error);

/* Opens its directory to read.  -ESTALE: another one has its name. */
int gm_capture_dir_open(const struct gm_capture *capture);

/* Is `dir` a capture of this user's that has ended?  0; else -errno with a diagnosis in *error. */
int gm_capture_check(const char *dir, struct gm_config_error *error);

/* Removes the capture `dir` if gm_capture_check() permits it. */
void gm_capture_remove_old(const char *dir);

/* Removes it, of which no process writes to it yet. */
void gm_capture_remove(const struct gm_capture *capture);

/* Field 22 of /proc/PID/stat: start time in clock ticks after boot; 0: no such process.  `pid` 0:
 * the caller, whose number /proc may not know. */
uint64_t gm_proc_start(int pid);

/* Does the process that started then run, with any thread? */
bool gm_proc_runs(int pid, uint64_t start);

/*
 * write() that raises no SIGPIPE or SIGXFSZ in a program that did not ask for it: -EPIPE and -EFBIG
 * tell of them.
 */
long gm_write_quietly(int fd, const void *bytes, size_t n);

/*
 * Creates a file (0600, never through a link, never over another) and writes it whole.
 * 0 or -errno; on failure there is no file.
 */
int gm_file_write(const char *path, const void *bytes, size_t n);

/* Removes a directory and all in it, following no link; what cannot be removed stays. */
void gm_remove_tree(const char *path);

#endif
