/* SPDX-License-Identifier: MIT */
/*
 * The folder of one child of fork, filled from its place (gmon-mt/children.h).
 *
 * All of this is by descriptors and through no symbolic link.
 */
#ifndef PP_CAPTURE_CHILDREN_FILL_H
#define PP_CAPTURE_CHILDREN_FILL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "gmon-mt/children.h"

/* Where the file of places is. */
struct pp_child_parent {
	int capture_fd;
	int folder_fd;

	/* Read from the folder. */
	char *metadata; /* NULL: not read yet */
	char *maps;	/* in the folder of a child that has so much of the parent's */
	uint64_t maps_bytes;
};

struct pp_child_place {
	union {
		struct gm_child child;
		uint8_t bytes[GM_CHILD_BYTES];
	};
	struct gm_threads_header threads; /* its buckets are zero */
	uint8_t slot[sizeof(struct gm_thread_slot)];
	bool runs; /* its process */
};

int pp_child_open(int dir, const char *name, int flags);
int pp_child_open_dir(int dir, const char *name);

/* Is the folder, an open directory, of this run of a program image? */
bool pp_child_is_of(int folder, uint64_t image);

/* 0, or -errno; -ENODATA: the parent has no metadata yet. */
int pp_child_fill(struct pp_child_parent *parent, int folder, const struct pp_child_place *place);

#endif
