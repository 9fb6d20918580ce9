/* SPDX-License-Identifier: MIT */
/*
 * DIR/session, which makes a directory a capture (format.h); and the proof that a directory is a
 * capture of this user's into which no process writes any more.
 */
#ifndef GM_RUNTIME_SESSION_H
#define GM_RUNTIME_SESSION_H

#include "runtime/capture.h"
#include "runtime/sys.h"

#define GM_SESSION_FILE	 "session"
#define GM_SESSION_BYTES 512

struct gm_session {
	int owner;
	uint64_t owner_start;
	int64_t clock_offset_ns;
	char boot_id[37];
	uint64_t secret[GM_SECRET_WORDS]; /* 0: none */
};

/*
 * Reads the file of the directory `dir`.  0; -ENOENT: there is none; -EINVAL: it is none of ours;
 * or -errno.
 */
int gm_session_read(int dir, struct gm_session *session);

/* The same of the text of that file. */
int gm_session_parse(const char *text, struct gm_session *session);

/* Describes a capture that the calling process makes now. */
void gm_session_begin(struct gm_session *session);
void gm_session_format(const struct gm_session *session, struct gm_text *text);

/* Parent of the process; 0: it does not run, or /proc is not there. */
int gm_proc_parent(int pid);

/* Is the capture's folder `name` of a process that started then? */
bool gm_folder_is_of(int dir, const char *name, uint64_t start);

/* Is it a name, relative to a capture, that gprof-mt gives? */
bool gm_capture_is_name(const char *path);

/* Removes parent/name, a directory, and all in it, following no symbolic link. */
void gm_remove_tree_at(int parent, const char *name);

/* Was the machine started since?  Then no process of that time runs. */
bool gm_session_is_of_this_boot(const struct gm_session *session);

/* Does the process that made the capture run? */
bool gm_session_owner_runs(const struct gm_session *session);

/* Is the process `pid`, as it runs now, in the capture? */
bool gm_session_has_member(int dir, const struct gm_session *session, int pid);

/*
 * Is `dir`, a descriptor to read it, a capture of the effective user's that has ended?  0; or
 * -errno, with the reason in *why: it is no capture, another user's, holds something else, or a
 * process still writes to it (-EBUSY).
 */
int gm_capture_prove(int dir, struct gm_text *why);

/*
 * Removes all in `dir`, following no symbolic link, `session` last: an unfinished removal leaves a
 * capture.  Then parent/name, which is `dir`.  gm_capture_prove() comes first.
 */
void gm_capture_remove_at(int parent, const char *name, int dir);

#endif
