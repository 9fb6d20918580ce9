/* SPDX-License-Identifier: MIT */
/*
 * `<pid>/children.<n>`: places that a process prepares for its children of fork, so that one which
 * does little needs no folder and no file of its own.  The file is mapped shared by the process
 * that made it and by all that descend from it; a child claims a place by counting n_claimed up.
 *
 * A place holds what the first bytes of the files of a process' folder would hold: the header and
 * the first slot of `threads`, one file of packets of the first stream of `user/`, and the first
 * chunks of `calls`.  A child that needs more makes a folder of its own, `folder`, and goes on in
 * the files there behind these; it never writes to the parts of them that its place stands for.
 * The load map begins with the first maps_bytes of the `maps` beside this file.
 *
 * gprof-mt moves the places into folders.  Before it removes a file it sets the highest bit of
 * n_claimed, and from then on nobody claims a place there; then it writes n_final.
 */
#ifndef GMON_MT_CHILDREN_H
#define GMON_MT_CHILDREN_H

#include <stdint.h>

#include "gmon-mt/format.h"

#define GM_CHILDREN_NAME	 "children."
#define GM_COPY_PREFIX		 ".copy." /* of a folder that gprof-mt is making */
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
	uint32_t pid;	    /* who made the file */
	uint64_t proc_start;
	char folder[20]; /* its folder's name */
	uint32_t unused;
	uint32_t n_final; /* gprof-mt's: places that may be claimed, plus 1; 0: not known */
	/*
	 * Inode number of a PID namespace.  The parent and all children in the places are in it, or
	 * in one below it.  0: not known.
	 */
	uint32_t pid_namespace;
};
_Static_assert(sizeof(struct gm_children_header) == 72, "on-disk size");

enum gm_child_state {
	GM_CHILD_FREE = 0, /* or claimed by a process that was killed at once */
	GM_CHILD_BEGUN = 1,
	GM_CHILD_MOVED = 2, /* by gprof-mt: ended, and all of it is in a folder */
};

enum gm_child_parts { GM_CHILD_STREAM = 1, GM_CHILD_CALLS = 2 };

#define GM_CHILD_THREADS_BYTES 128 /* struct gm_threads_header without its buckets */
#define GM_CHILD_STREAM_AT     512
#define GM_CHILD_STREAM_BYTES  (GM_CHILD_CALLS_AT - GM_CHILD_STREAM_AT)
#define GM_CHILD_CALLS_AT      4096
#define GM_CHILD_CALLS_BYTES   4096
#define GM_CHILD_BYTES	       (GM_CHILD_CALLS_AT + GM_CHILD_CALLS_BYTES)

struct gm_child {
	uint32_t state;	 /* enum gm_child_state; written last (release) */
	uint32_t folder; /* 0: none; else the number in its name <pid>.<number>, plus 1 */
	uint32_t parts;	 /* enum gm_child_parts: used */
	uint32_t reserved;
	uint64_t maps_bytes;
	uint64_t threads[GM_CHILD_THREADS_BYTES / 8];
	struct gm_thread_slot first;
};
_Static_assert(sizeof(struct gm_child) <= GM_CHILD_STREAM_AT, "fits");
_Static_assert(__builtin_offsetof(struct gm_threads_header, bucket) == GM_CHILD_THREADS_BYTES,
	       "the header up to its buckets");

#endif
