/* SPDX-License-Identifier: MIT */
/*
 * The file of the thread table: made, and where it is kept in memory (kept.h), shared by both
 * libraries and written.
 */
#ifndef GM_RUNTIME_TABLE_H
#define GM_RUNTIME_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "gmon-mt/format.h"

/*
 * Makes DIR/threads, GM_THREADS_FIRST_BYTES, and maps it; looks whether it is to be kept in
 * memory.  In a step of files.h.  0 or -errno, and no file is left.
 */
int gm_table_make(const char *dir, struct gm_threads_header **ret_header);

/* Unmaps what gm_table_make() and gm_table_segment() have mapped. */
void gm_table_unmap(void *mapping, size_t size_bytes);

/* Takes back gm_table_make(). */
void gm_table_drop(struct gm_threads_header *header);

/* The table of this process, as the other library has made it; NULL: none. */
struct gm_threads_header *gm_table_join(void);

/* A segment, for both libraries.  0 or -errno. */
int gm_table_segment(unsigned number, struct gm_thread_slot **ret_segment);

/* With kept.h: writes all of the table, or a slot and the header.  0 or -errno. */
long gm_table_save(const char *dir, const struct gm_threads_header *header);
void gm_table_save_slot(const char *dir, uint32_t index, const struct gm_thread_slot *slot);

#endif
