/* SPDX-License-Identifier: MIT */
/*
 * Live files on file systems where a store to a mapped page may find no space (SIGBUS) although it
 * was reserved: those that always write data to a new location (btrfs), or do so once files share
 * blocks (XFS with reflinks). There the data stays in anonymous memory, and a step of helper_task.h
 * writes it to the file. A process that is killed loses unwritten data, which n_in_memory in the
 * header of `threads` shows.
 */
#ifndef GM_RUNTIME_FILES_IN_MEMORY_H
#define GM_RUNTIME_FILES_IN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Checks the file system of the open file, once per capture; gm_kept_set() takes over another
 * process' result.
 */
void gm_kept_look(int fd);
void gm_kept_set(bool on);
bool gm_kept_is_on(void);

/*
 * Like gm_file_map(), but in memory; called in a step of helper_task.h with the open file. Reserves
 * its space as far as that is possible there, and registers the bytes for gm_kept_save().
 */
int gm_kept_map(int fd, const char *dir, const char *name, uint64_t offset, size_t size_bytes,
		void **ret_mapping);

/*
 * Writes all registered regions to their files. In a step of helper_task.h. Returns 0 or the first
 * -errno.
 */
long gm_kept_save(void);

/* Returns the number of bytes of the mapping that are in its file. */
uint64_t gm_kept_saved(const void *mapping);

/* Unmaps a region of either kind. */
void gm_file_unmap(void *mapping, size_t size_bytes);

/* For the child of a fork: the regions belong to its parent. */
void gm_kept_forget(void);

/* Writes bytes at an offset. Returns 0 or -errno; *ret_written counts the written bytes. */
long gm_pwrite_all(int fd, const void *bytes, uint64_t n, uint64_t offset, uint64_t *ret_written);

#endif
