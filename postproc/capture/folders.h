/* SPDX-License-Identifier: MIT */
/*
 * The folders of a capture that belong to one process each: "1234", and after its first exec
 * "1234.1".
 */
#ifndef PP_CAPTURE_FOLDERS_H
#define PP_CAPTURE_FOLDERS_H

#include <stdint.h>

#include <glib.h>

#include "core/error.h"

struct pp_folder {
	char *name;
	uint32_t pid, image;
	uint64_t start_ns; /* 0: not known */
};

/*
 * Returns an array of struct pp_folder, sorted by process and image.  NULL: the directory cannot be
 * read.
 */
GArray *pp_folders_find(const char *dir_path, struct pp_error *err);

#endif
