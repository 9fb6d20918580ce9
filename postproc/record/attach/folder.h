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
	int dir_fd, threads_fd; /* of the thread table; -1: none */
	unsigned n_slots;	/* in the thread table */
	unsigned n_unknown;	/* objects whose addresses have no names */
	GHashTable *maps;	/* lines of the load map without their times, a set */
};

/*
 * Writes the folder in the capture `dir_fd`.  sample_ns: CPU time between samples; 0: none are
 * taken.  Returns 0 or -errno.
 */
int pp_target_folder_write(struct pp_target_folder *folder, int dir_fd,
			   const struct pp_target *target, const struct pp_target_threads *threads,
			   int64_t begin_ns, uint64_t sample_ns, struct pp_error *err);

/* Adds a thread that was found at time_ns.  Returns its index or -errno. */
int pp_target_folder_add_thread(struct pp_target_folder *folder,
				const struct pp_target_thread *thread);

/* Adds objects that were loaded meanwhile to the load map.  Returns 0 or -errno. */
int pp_target_folder_look(struct pp_target_folder *folder, const struct pp_target *target,
			  int64_t now_ns);

/* Note in the thread table the samples that the recording lacks. */
void pp_target_folder_set_missed(struct pp_target_folder *folder, uint64_t n_missed);
void pp_target_folder_set_unwritten(struct pp_target_folder *folder, uint32_t index, uint8_t why);

/* Notes the end of the recording; closes the folder. */
void pp_target_folder_end(struct pp_target_folder *folder, int64_t end_ns);

#endif
