/* SPDX-License-Identifier: MIT */
/*
 * Places for the children of fork, prepared by their parent (gmon-mt/children.h).
 *
 * Both libraries of a process share one identity: two pages, the first of which the kernel empties
 * in a child.  The library that is first in a child claims a place, or says that there is none.
 */
#ifndef GM_RUNTIME_CHILDREN_H
#define GM_RUNTIME_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>

#include "gmon-mt/children.h"
#include "runtime/sys/lock.h"

/* Empty in a child of fork. */
struct gm_identity {
	uint64_t image; /* tells this run of this program image from all others */
	int pid;	/* of a child, noted by the handlers of fork; 0: not known */
	uint32_t state; /* of the claim */
	struct gm_making making;
	struct gm_lock lock; /* held while the child's folder is made */
	struct gm_child *child;
	/* With files_in_memory.h: the thread table, and its segments, for both libraries. */
	struct gm_threads_header *table;
	struct gm_thread_slot **segments;
};

/* NULL: no memory.  The one of another library: gm_identity_join(). */
struct gm_identity *gm_identity_begin(void);
void gm_identity_join(uint64_t at);

/*
 * Before a fork: makes sure that there are places, if the process may have such
 * children at all.
 */
void gm_children_prepare(void);

/*
 * In a child of fork, before it can call vfork(): notes its process number. The first event may
 * come from a child of vfork(), which runs in the same memory but has another number.
 */
void gm_child_note_pid(void);

/* The number of the process that the memory belongs to. */
int gm_child_pid(void);

/*
 * The place of the calling process, which is a child, or NULL: it needs a folder.  0, or those of
 * gm_making_wait(): another library claims it.
 */
int gm_child_claim(void (*fill)(struct gm_child *child), struct gm_child **ret_child);

/* A handler has jumped out of code of that task: if that was the claim, there is no place. */
void gm_child_claim_left(uint32_t tid);

/* In a child that leaves its place for a folder: its own children need places of its own. */
void gm_children_leave(void);

/* Copies the first bytes of a folder's load map to another folder, in a step of helper_task.h. */
int gm_maps_copy(const char *from_dir, const char *to_dir, uint64_t n_bytes);

/* The name of the folder that the places belong to. */
const char *gm_children_folder(void);

#endif
