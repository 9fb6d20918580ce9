/* SPDX-License-Identifier: MIT */
/*
 * The files of a snapshot: a copy of a capture to which programs still write.
 *
 * First, all files of streams are linked, so that a ring may remove them, which it does within
 * milliseconds if the program is busy.  A file that is followed by another does not change any
 * more; the newest of each stream is then replaced by a copy, which is read from its begin to its
 * end: a packet's header has the length of its events, which are older than it.  Links are made
 * from the newest file of a stream to the oldest: those that the ring removes meanwhile are the
 * first ones.
 */
#ifndef PP_CLI_RECORDING_SNAPSHOT_FILES_H
#define PP_CLI_RECORDING_SNAPSHOT_FILES_H

#include "core/error.h"

/* Both directories are open.  Returns 0 or -errno. */
int pp_snapshot_link(int from_fd, int to_fd, struct pp_error *err);
int pp_snapshot_copy(int from_fd, int to_fd, struct pp_error *err);
int pp_snapshot_link_kernel(int from_fd, int to_fd, struct pp_error *err);
int pp_snapshot_copy_kernel(int from_fd, int to_fd, struct pp_error *err);

/* All other files, but info.json and what readers have made. */
int pp_snapshot_others(int from_fd, int to_fd, struct pp_error *err);

#endif
