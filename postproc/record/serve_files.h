/* SPDX-License-Identifier: MIT */
/*
 * Operations that `record` performs in the capture for processes that cannot reach it any more
 * (runtime/capture/recorder.h): it creates, opens, renames and removes files of their own folders.
 *
 * The requesting process may be controlled by an attacker, for example after it dropped its
 * privileges.  It therefore gets only files of its own folder, by the names that gprof-mt uses, and
 * no symlink is followed.
 */
#ifndef PP_RECORD_SERVE_FILES_H
#define PP_RECORD_SERVE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "runtime/capture/recorder.h"

struct pp_grants {
	int dir_fd; /* the capture's directory */
	uint64_t max_bytes;
	uint64_t used_bytes, looked_ns; /* size of the processes' folders, and time of the last
					 * check */
	unsigned n_made;
	GHashTable *folders; /* name -> struct owner: folders created here */
};

/*
 * `dir_fd` is the capture's directory and remains owned by the caller; `max_bytes` is [output] max.
 */
void pp_grants_init(struct pp_grants *grants, int dir_fd, uint64_t max_bytes);
void pp_grants_done(struct pp_grants *grants);

/*
 * Performs a request of the process `pid`, which was verified to belong to this run.  Returns a
 * descriptor or 0; -errno; -EBADRQC: not a request that a process of this run makes.
 */
int pp_grant(struct pp_grants *grants, const struct gm_recorder_request *request, int pid);

#endif
