/* SPDX-License-Identifier: MIT */
/*
 * The folders of a capture that belong to one process each: "1234", and after its first exec
 * "1234.1".
 */
#ifndef PP_CAPTURE_FOLDERS_H
#define PP_CAPTURE_FOLDERS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "core/error.h"

struct pp_folder {
	char *name;
	uint32_t pid, image;
	/* 0: not known, or the only folder of the process */
	uint64_t start_ns;
	uint64_t run; /* gm_threads_header.image */
	bool may_be_copy;
};

/*
 * Returns an array of struct pp_folder, sorted by process and image, without copies of children of
 * fork that have made a folder since.  NULL: the directory cannot be read.
 */
GArray *pp_folders_find(const char *dir_path, struct pp_error *err);

#endif
