/* SPDX-License-Identifier: MIT */
/*
 * The thread table, as the process opener sees it; everyone else uses runtime.h.
 */
#ifndef GM_RUNTIME_THREADS_H
#define GM_RUNTIME_THREADS_H

#include <stdint.h>

#include "gmon-mt/format.h"

/* Size of a table with one segment of slots: what its file has before it grows. */
#define GM_THREADS_FIRST_BYTES (GM_THREADS_HEADER_BYTES + GM_SEGMENT_BYTES)

#define GM_THREADS_HEADER_BYTES 8192
#define GM_SEGMENT_SLOTS	256u
#define GM_SEGMENT_BYTES	(GM_SEGMENT_SLOTS * sizeof(struct gm_thread_slot))
#define GM_SEGMENTS_MAX		4096u

/* Makes `header` (mapped, GM_THREADS_FIRST_BYTES) the table in use; `path` is its file. */
void gm_threads_attach(struct gm_threads_header *header, const char *path);

/* Unmaps the table without touching what it holds: the child of a fork leaves its parent's. */
void gm_threads_detach(void);

struct gm_threads_header *gm_threads_table(void);

/* The load map of another folder is no longer ours: forget what was noted (loadmap.c). */
void gm_maps_forget(void);

#endif
