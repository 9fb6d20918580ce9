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

struct pp_open_pack;

struct pp_folder {
	char *name;
	struct pp_open_pack *pack; /* it has no folder, but is a child in this pack (packs.h) */
	uint32_t number;	   /* ... with this number */
	uint32_t pid, image;
	/* 0: not known, or the only folder of the process */
	uint64_t start_ns;
	uint64_t run; /* gm_threads_header.image */
	bool may_be_copy;
};

/*
 * Returns an array of struct pp_folder, sorted by process and image, without copies of children of
 * fork that have made a folder since, and with the children in `packs`, which have the name that a
 * folder would have.  NULL: the directory cannot be read.
 */
GArray *pp_folders_find(const char *dir_path, const GPtrArray *packs, struct pp_error *err);

#endif
