/* SPDX-License-Identifier: MIT */
/* Paths, space and mappings of the files of a capture. */
#ifndef GM_RUNTIME_FILE_H
#define GM_RUNTIME_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gmon-mt/format.h"

#define GM_PATH_MAX 4096

/*
 * Maps size_bytes of <dir>/<name> from `offset` on, shared, with disk space reserved. The file is
 * created if offset is 0 (0600, O_EXCL, O_NOFOLLOW). Returns 0, or -errno: no new file is left,
 * *ret_mapping is unchanged.
 */
int gm_file_map(const char *dir, const char *name, uint64_t offset, size_t size_bytes,
		void **ret_mapping);

/* Maps the first bytes of a file that already has them. */
int gm_file_map_again(const char *dir, const char *name, size_t size_bytes, void **ret_mapping);

/* Cuts a file, if it can be reached. */
void gm_file_cut(const char *dir, const char *name, uint64_t size_bytes);

/*
 * Reserves disk space for bytes [offset, offset + size_bytes) of an open file, so that accesses to
 * its shared mapping never raise SIGBUS. Returns 0 or -errno; -EFBIG: beyond RLIMIT_FSIZE, where
 * the kernel would send SIGXFSZ to the program.
 */
int gm_file_reserve(int fd, uint64_t offset, uint64_t size_bytes);

/*
 * Writes zeros in large pieces, which costs a fraction of one page fault per page. The source is
 * always the same few pages, since a program that locks its memory locks them, too. Returns 0 or
 * -errno.
 */
int gm_file_zeros(int fd, uint64_t offset, uint64_t size_bytes);

#define GM_ZEROS_BYTES 4096u
extern const char gm_zeros[GM_ZEROS_BYTES];

/* Returns the enum gm_loss for a failure (-errno). */
uint16_t gm_loss_of(long code);

/*
 * Adds to the reasons of loss in a file that other tasks map, too: in `whys` and `stalled` of that
 * file.
 */
static inline void gm_loss_add(uint8_t *whys, uint8_t *stalled, enum gm_stalled what, uint16_t why)
{
	if ((*whys & (uint8_t)why) != (uint8_t)why)
		__atomic_fetch_or(whys, (uint8_t)why, __ATOMIC_RELAXED);
	if ((why & GM_LOSS_STALLED) != 0)
		__atomic_fetch_or(stalled, (uint8_t)what, __ATOMIC_RELAXED);
}

/* Returns false beyond RLIMIT_FSIZE, where the kernel would send SIGXFSZ to the program. */
bool gm_file_may_reach(uint64_t end_bytes);

/* Returns <dir>/<name> in mapped memory, since stacks may be small; NULL: no memory. */
char *gm_path_new(const char *dir, const char *name);
void gm_path_free(char *path);

/*
 * write() without SIGPIPE or SIGXFSZ, which the program does not expect: returns -EPIPE or -EFBIG
 * instead.
 */
long gm_write_quietly(int fd, const void *bytes, size_t n);

#endif
