/* SPDX-License-Identifier: MIT */
/*
 * The file of the thread table: makes it and, if it is kept in memory (files_in_memory.h), shares
 * it between both libraries and writes it.
 */
#ifndef GM_RUNTIME_TABLE_H
#define GM_RUNTIME_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "gmon-mt/format.h"

/*
 * Makes DIR/threads, GM_THREADS_FIRST_BYTES long, and maps it; checks whether it must be kept in
 * memory. In a step of helper_task.h. Returns 0, or -errno without a file.
 */
int gm_table_make(const char *dir, struct gm_threads_header **ret_header);

/* Unmaps the result of gm_table_make() or gm_table_segment(). */
void gm_table_unmap(void *mapping, size_t size_bytes);

/* Undoes gm_table_make(). */
void gm_table_drop(struct gm_threads_header *header);

/* Returns the table that the other library has made for this process; NULL: none. */
struct gm_threads_header *gm_table_join(void);

/* Returns a segment that both libraries share. 0 or -errno. */
int gm_table_segment(unsigned number, struct gm_thread_slot **ret_segment);

/* With files_in_memory.h: writes the whole table, or a slot and the header. Returns 0 or -errno. */
long gm_table_save(const char *dir, const struct gm_threads_header *header);
void gm_table_save_slot(const char *dir, uint32_t index, const struct gm_thread_slot *slot);

#endif
