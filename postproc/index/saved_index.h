/* SPDX-License-Identifier: MIT */
/*
 * Saves an index in its capture: the folder DIR/index, with a file for each section, and `head`
 * with their sizes and the key of the capture.  It is created as DIR/index.new and renamed when it
 * is completely on disk, so DIR/index is always complete.
 *
 * The folder is not trusted, like the capture.  No symlinks are followed, and the index is used
 * only if its files have the sizes given in `head`.
 */
#ifndef PP_INDEX_SAVED_INDEX_H
#define PP_INDEX_SAVED_INDEX_H

#include "core/error.h"
#include "index/index.h"

#define PP_INDEX_FOLDER	    "index"
#define PP_INDEX_FOLDER_NEW "index.new"

#define PP_INDEX_KEY_BYTES 32

/* Identifies the data from which an index was made; an index with another key is not used. */
struct pp_index_key {
	uint8_t digest[PP_INDEX_KEY_BYTES];
	uint64_t capture_bytes; /* an index too large for this size is rejected */
};

/* Returns NULL if there is no usable index.  Adds processes that the model lacks. */
struct pp_index *pp_index_folder_read(const char *dir, const struct pp_index_key *key,
				      struct pp_model *model);

/* The folder of a new index. */
struct pp_index_folder {
	int parent, fd;
};

/*
 * Creates the folder, and empty files for pp_index_builder_new().  Returns 0 or -errno; fails if
 * the capture belongs to another user, is not writable, or another process makes its index.
 */
int pp_index_folder_new(const char *dir, struct pp_index_folder *ret, int ret_fds[PP_INDEX_FILES],
			struct pp_error *err);

/* Renames the index to its final name.  Returns 0 or -errno; -ECANCELED: `progress` stopped it. */
int pp_index_folder_keep(struct pp_index_folder *folder, struct pp_index *index,
			 const struct pp_index_key *key, const struct pp_index_progress *progress,
			 struct pp_error *err);

/* Removes an index that was not kept. */
void pp_index_folder_done(struct pp_index_folder *folder);

#endif
