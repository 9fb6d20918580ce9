/* SPDX-License-Identifier: MIT */
/*
 * DIR/session, which makes a directory a capture (format.h), and the check that a directory is a
 * capture of this user to which no process writes any more.
 */
#ifndef GM_RUNTIME_SESSION_H
#define GM_RUNTIME_SESSION_H

#include "gmon-mt/children.h"
#include "gmon-mt/format.h"
#include "runtime/capture/capture.h"
#include "runtime/sys/sys.h"

#define GM_SESSION_BYTES 512

struct gm_session {
	int owner;
	uint64_t owner_start;
	int64_t clock_offset_ns;
	char boot_id[37];
	uint64_t secret[GM_SECRET_WORDS]; /* 0: none */
	bool is_locked;			  /* processes mark it as in use (in_use.h) */
	uint32_t pid_namespace;		  /* of the owner; 0: an old capture */
	bool has_ended;			  /* the owner, which was `record` */
};

/*
 * Reads the file of the directory `dir`. Returns 0; -ENOENT: no such file; -EINVAL: it is not ours;
 * or -errno.
 */
int gm_session_read(int dir, struct gm_session *session);

/* The same for the text of that file. */
int gm_session_parse(const char *text, struct gm_session *session);

/* Fills in the data of a capture that the calling process makes now. */
void gm_session_begin(struct gm_session *session);
void gm_session_format(const struct gm_session *session, struct gm_text *text);

/* Returns the start of the heap (brk) of the calling process; 0: not known. */
uint64_t gm_proc_heap_start(void);

/* Returns the process that traces this one; 0: none, or /proc is not mounted. */
int gm_proc_tracer(int pid);

/* Returns the parent of the process; 0: it does not run, or /proc is not mounted. */
int gm_proc_parent(int pid);

/* Returns true if the capture's folder `name` belongs to a process with that start time. */
bool gm_folder_is_of(int dir, const char *name, uint64_t start);

/* Returns true if gprof-mt gives that name, relative to a capture. */
bool gm_capture_is_name(const char *path);

/* Removes the directory parent/name and its contents, without following symlinks. */
void gm_remove_tree_at(int parent, const char *name);

/* Returns false if the machine was started again since: then no process of that time runs. */
bool gm_session_is_of_this_boot(const struct gm_session *session);

/* Adds to `session`, in the directory `dir`, that its owner has ended. */
void gm_session_end(int dir);

/* Can process numbers of the capture be compared with those of this process's namespace? */
bool gm_session_has_our_numbers(const struct gm_session *session);

/* Returns true if the process that made the capture still runs. */
bool gm_session_owner_runs(const struct gm_session *session);

/* Returns true if the running process `pid` is in the capture. */
bool gm_session_has_member(int dir, const struct gm_session *session, int pid);

/*
 * Is `dir`, a descriptor to read it, a capture of the effective user's that has ended?  0; or
 * -errno, with the reason in *why: it is no capture, another user's, holds something else, a
 * process still writes to it (-EBUSY), or that cannot be known (-EEXIST).
 */
int gm_capture_prove(int dir, struct gm_text *why);

/*
 * Removes all files in `dir`, without following symlinks, `session` last: an unfinished removal
 * leaves a capture. Then removes parent/name, which is `dir`. Call gm_capture_prove() first.
 */
void gm_capture_remove_at(int parent, const char *name, int dir);

/* Is the process `pid`, as it runs now, in one of the places of the capture `dir`? */
bool gm_children_have(int dir, int pid);

/*
 * The pid of a place, if a process of that number runs here that may be the one in it; 0: none.
 * `header`: of the file of places.
 */
int gm_child_running(const struct gm_children_header *header, const struct gm_child *child);

/*
 * Asks for each place of this file, which others may have damaged, until the answer is not 0.
 * Returns that, or 0.
 */
typedef int gm_child_question(const struct gm_children_header *header, const struct gm_child *child,
			      void *arg);
int gm_children_ask(int fd, gm_child_question *question, void *arg);

#endif
