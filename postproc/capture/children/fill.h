/* SPDX-License-Identifier: MIT */
/*
 * Fills the folder of one child of fork from its place (gmon-mt/children.h).
 *
 * All accesses are relative to descriptors and follow no symlink.
 */
#ifndef PP_CAPTURE_CHILDREN_FILL_H
#define PP_CAPTURE_CHILDREN_FILL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "gmon-mt/children.h"

/* The directory that holds the file of places. */
struct pp_child_parent {
	int capture_fd;
	int folder_fd;

	char *metadata; /* its metadata; NULL: not read yet */
};

struct pp_child_place {
	union {
		struct gm_child child;
		uint8_t bytes[GM_CHILD_BYTES];
	};
	struct gm_threads_header threads; /* without its buckets, which are zero */
	uint8_t slot[sizeof(struct gm_thread_slot)];
	bool runs; /* the process still runs */
};

void pp_child_remove_tree(int dir, const char *name, unsigned depth);
int pp_child_write_at(int dir, const char *name, int flags, const void *bytes, size_t n, off_t at);
int pp_child_open(int dir, const char *name, int flags);
int pp_child_open_dir(int dir, const char *name);

/* Does the folder, an open directory, belong to this program image? */
bool pp_child_is_of(int folder, uint64_t image);

bool pp_child_has_metadata(struct pp_child_parent *parent);

/*
 * Returns the parent's metadata for a child's trace with this UUID; NULL: the parent has none yet.
 */
char *pp_child_metadata(struct pp_child_parent *parent, const uint8_t uuid[16], uint32_t pid);

/* The same for the trace of a pack (packed.h). */
char *pp_child_metadata_of_pack(struct pp_child_parent *parent, const uint8_t uuid[16]);

/* Returns 0 or -errno; -ENODATA: the parent has no metadata yet. */
int pp_child_fill(struct pp_child_parent *parent, int folder, const struct pp_child_place *place);

#endif
