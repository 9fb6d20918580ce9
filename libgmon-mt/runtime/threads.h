/* SPDX-License-Identifier: MIT */
/*
 * The thread table, as the process opener sees it; everyone else uses runtime.h.
 */
#ifndef GM_RUNTIME_THREADS_H
#define GM_RUNTIME_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "gmon-mt/format.h"

/* Size of a table with one segment of slots: what its file has before it grows. */
#define GM_THREADS_FIRST_BYTES (GM_THREADS_HEADER_BYTES + GM_SEGMENT_BYTES)

#define GM_THREADS_HEADER_BYTES 8192
#define GM_SEGMENT_SLOTS	256u
#define GM_SEGMENT_BYTES	(GM_SEGMENT_SLOTS * sizeof(struct gm_thread_slot))
#define GM_SEGMENTS_MAX		4096u

/* Makes `header` (mapped, GM_THREADS_FIRST_BYTES) the table in use; its file is in `dir`. */
void gm_threads_attach(struct gm_threads_header *header, const char *dir);

/* The same for a child of fork, whose table begins in its place. */
struct gm_child;
void gm_threads_attach_child(struct gm_child *child, const char *dir);

/*
 * The child of a fork leaves its parent's table, which stays mapped until it has its own, for
 * gm_threads_note_unwritten().
 */
void gm_threads_detach(void);

/*
 * Says in the table of an ancestor that this process could not open the capture, and why.  False:
 * there is none.
 */
bool gm_threads_note_unwritten(uint32_t pid, long code);

struct gm_threads_header *gm_threads_table(void);

/*
 * Adds to the streams that have packets in memory alone.  False: a child of fork is in a place that
 * cannot say so.
 */
bool gm_threads_count_in_memory(int n);

/* With kept.h, in a step of files.h: writes all of the table to its file.  0 or -errno. */
long gm_threads_save(void);

/* The load map of another folder is no longer ours: forget what was noted (loadmap.c). */
void gm_maps_forget(void);

/*
 * In a child of fork that begins in a place: its load map begins with what was noted in the parent.
 * False: not all of that is in the child's load map.
 */
bool gm_maps_inherit(struct gm_child *child);

#endif
