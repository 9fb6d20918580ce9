/* SPDX-License-Identifier: MIT */
/*
 * `<pid>/children.<n>`: places that a process prepares for its children of fork, so that a child
 * that does little needs neither a folder nor files of its own. The file is mapped shared by the
 * process that made it and by all its descendants; a child claims a place by incrementing
 * n_claimed.
 *
 * A place holds the contents that the first bytes of the files in a process' folder would have: the
 * header and the first slot of `threads`, one file of packets of the first stream of `user/`, and
 * the first chunks of `calls`. A child that needs more makes a folder of its own, `folder`, and
 * continues in its files behind these bytes; in the files, the parts that the place stands for are
 * never written. The load map begins with the first maps_bytes of the `maps` beside this file.
 *
 * gprof-mt moves the places into packs or folders. Before it removes a file it sets the highest bit
 * of n_claimed, so that no further process claims a place there; then it writes n_final.
 */
#ifndef GMON_MT_CHILDREN_H
#define GMON_MT_CHILDREN_H

#include <stdint.h>

#include "gmon-mt/format.h"

#define GM_CHILDREN_NAME "children."
#define GM_COPY_PREFIX	 ".copy." /* of a folder that gprof-mt is making */
/* Made by gprof-mt: the children that have ended, together (postproc/capture/children/packed.h). */
#define GM_PACK_PREFIX		 "packed."
#define GM_PACK_HIDDEN		 ".pack" /* one that gprof-mt is making */
#define GM_PACK_TABLE		 "table"
#define GM_CHILDREN_MAGIC	 "GMCHILDS"
#define GM_CHILDREN_HEADER_BYTES 4096
#define GM_CHILDREN_MAX		 1024u /* places in a file */

struct gm_children_header {
	char magic[8];
	uint32_t schema;
	uint32_t header_bytes;
	uint32_t slot_bytes;
	uint32_t n_slots;
	uint32_t n_claimed; /* atomic; may exceed n_slots */
	uint32_t pid;	    /* of the process that made the file */
	uint64_t proc_start;
	char folder[20]; /* its folder's name */
	uint32_t unused;
	uint32_t n_final; /* written by gprof-mt: number of places that may be claimed, plus 1; 0:
			     not known */
	/*
	 * Inode number of the PID namespace that contains the parent and all children in the
	 * places, directly or in a namespace below it. 0: not known.
	 */
	uint32_t pid_namespace;
};
_Static_assert(sizeof(struct gm_children_header) == 72, "on-disk size");

enum gm_child_state {
	GM_CHILD_FREE = 0, /* or claimed by a process that was killed at once */
	GM_CHILD_BEGUN = 1,
	/* by gprof-mt: the process has ended, and all data is in a pack or folder */
	GM_CHILD_MOVED = 2,
};

enum gm_child_parts { GM_CHILD_STREAM = 1, GM_CHILD_CALLS = 2 };

#define GM_CHILD_THREADS_BYTES 128 /* struct gm_threads_header without its buckets */
#define GM_CHILD_STREAM_AT     512
#define GM_CHILD_STREAM_BYTES  (GM_CHILD_CALLS_AT - GM_CHILD_STREAM_AT)
#define GM_CHILD_CALLS_AT      4096
#define GM_CHILD_CALLS_BYTES   4096
#define GM_CHILD_BYTES	       (GM_CHILD_CALLS_AT + GM_CHILD_CALLS_BYTES)

struct gm_child {
	uint32_t state;		/* enum gm_child_state; written last (release) */
	uint32_t folder;	/* 0: none; else the number in its name <pid>.<number>, plus 1 */
	uint32_t parts;		/* enum gm_child_parts: the parts in use */
	uint32_t pid_namespace; /* as in gm_threads_header */
	uint64_t maps_bytes;
	uint64_t threads[GM_CHILD_THREADS_BYTES / 8];
	struct gm_thread_slot first;
};
_Static_assert(sizeof(struct gm_child) <= GM_CHILD_STREAM_AT, "fits");
_Static_assert(__builtin_offsetof(struct gm_threads_header, bucket) == GM_CHILD_THREADS_BYTES,
	       "the header up to its buckets");

#endif
