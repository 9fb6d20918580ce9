/* SPDX-License-Identifier: MIT */
/*
 * Live files on file systems where a store to a mapped page may find no room (SIGBUS), although
 * its space was reserved: those that write data to a new place each time (btrfs), or as soon as
 * files share blocks (XFS with reflinks).  There the data stays in anonymous memory, and a step
 * of files.h writes it to the file.  A process that is killed loses what was not written:
 * n_in_memory in the header of `threads` says so.
 */
#ifndef GM_RUNTIME_KEPT_H
#define GM_RUNTIME_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Looks at the file system of the open file, once for a capture; what others have found. */
void gm_kept_look(int fd);
void gm_kept_set(bool on);
bool gm_kept_is_on(void);

/*
 * As gm_file_map(), in memory, by a step of files.h on the open file: reserves its space as well
 * as that goes there, and has the bytes written by gm_kept_save().
 */
int gm_kept_map(int fd, const char *dir, const char *name, uint64_t offset, size_t size_bytes,
		void **ret_mapping);

/* Writes all that was mapped to the files.  In a step of files.h.  0 or the first -errno. */
long gm_kept_save(void);

/* How many bytes of the mapping are in its file. */
uint64_t gm_kept_saved(const void *mapping);

/* Unmaps, of either kind. */
void gm_file_unmap(void *mapping, size_t size_bytes);

/* In the child of a fork: they are its parent's. */
void gm_kept_forget(void);

/* Writes bytes at an offset; 0 or -errno.  `ret_written` is of those that were written. */
long gm_pwrite_all(int fd, const void *bytes, uint64_t n, uint64_t offset, uint64_t *ret_written);

#endif
