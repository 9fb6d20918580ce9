/* SPDX-License-Identifier: MIT */
/*
 * An index that is kept from one run to the next, in the capture that it is of: DIR/index, a file
 * for each section and `head`, which says what they are and of what.  It is made in DIR/index.new,
 * and moved when all of it is on the disk: what is in its place is whole.
 *
 * The folder may come from anybody, as the capture may.  No links are followed; its files have the
 * sizes that `head` says, or it is not used.
 */
#ifndef PP_INDEX_FOLDER_H
#define PP_INDEX_FOLDER_H

#include "core/error.h"
#include "index/index.h"

#define PP_INDEX_FOLDER	    "index"
#define PP_INDEX_FOLDER_NEW "index.new"

#define PP_INDEX_KEY_BYTES 32

/* What it is made of; one with another key is not what is looked for. */
struct pp_index_key {
	uint8_t digest[PP_INDEX_KEY_BYTES];
	uint64_t capture_bytes; /* an index out of proportion to that is none of ours */
};

/* NULL: there is none, or none that can be used.  Processes that the model lacks are added. */
struct pp_index *pp_index_folder_read(const char *dir, const struct pp_index_key *key,
				      struct pp_model *model);

/* A folder for a new one. */
struct pp_index_folder {
	int parent, fd;
};

/*
 * Makes it, and empty files for pp_index_builder_new().  Fails where the capture is another
 * user's, cannot be written to, or somebody else is at it.
 */
int pp_index_folder_new(const char *dir, struct pp_index_folder *ret, int ret_fds[PP_INDEX_FILES],
			struct pp_error *err);

/* Puts the index into its place.  -ECANCELED: it was stopped by `progress`. */
int pp_index_folder_keep(struct pp_index_folder *folder, struct pp_index *index,
			 const struct pp_index_key *key, const struct pp_index_progress *progress,
			 struct pp_error *err);

/* Removes what was not kept. */
void pp_index_folder_done(struct pp_index_folder *folder);

#endif
