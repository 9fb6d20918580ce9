/* SPDX-License-Identifier: MIT */
/*
 * What `record` does in the capture for processes of the run that cannot reach it any more
 * (runtime/recorder.h): makes, opens, renames and removes the files of their own folders.
 *
 * A process that asks may be in the hands of whom it gave its rights up for.  It gets nothing but
 * files of its own folder, by the names that gprof-mt gives, through no symbolic link.
 */
#ifndef PP_RECORD_GRANT_H
#define PP_RECORD_GRANT_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "runtime/recorder.h"

struct pp_grants {
	int dir_fd; /* of the capture */
	uint64_t max_bytes;
	uint64_t used_bytes, looked_ns; /* in folders of processes, and when */
	unsigned n_made;
	GHashTable *folders; /* name -> struct owner: made here */
};

/* Of the capture `dir_fd`, which stays the caller's; `max_bytes`: its limit ([output] max). */
void pp_grants_init(struct pp_grants *grants, int dir_fd, uint64_t max_bytes);
void pp_grants_done(struct pp_grants *grants);

/*
 * Does what the process `pid` asks for, which is proven to be of this run.  A descriptor or 0;
 * -errno; -EBADRQC: no process of this run asks for that.
 */
int pp_grant(struct pp_grants *grants, const struct gm_recorder_request *request, int pid);

#endif
