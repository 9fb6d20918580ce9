/* SPDX-License-Identifier: MIT */
/*
 * The folder of a process that was not started by `record`: its thread table and its load map, as
 * the runtime libraries would write them, from the begin of the recording.
 */
#ifndef PP_RECORD_ATTACH_FOLDER_H
#define PP_RECORD_ATTACH_FOLDER_H

#include "core/error.h"
#include "record/attach/target.h"
#include "record/attach/threads.h"

struct pp_target_folder {
	int threads_fd;	    /* of the thread table; -1: none */
	unsigned n_unknown; /* objects whose addresses have no names */
};

/* Writes the folder in the capture `dir_fd`.  Returns 0 or -errno. */
int pp_target_folder_write(struct pp_target_folder *folder, int dir_fd,
			   const struct pp_target *target, const struct pp_target_threads *threads,
			   int64_t begin_ns, struct pp_error *err);

/* Notes the end of the recording; closes the folder. */
void pp_target_folder_end(struct pp_target_folder *folder, int64_t end_ns);

#endif
