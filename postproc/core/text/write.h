/* SPDX-License-Identifier: MIT */
/* Writes all bytes, also after short writes and interrupting signals. */
#ifndef PP_CORE_TEXT_WRITE_H
#define PP_CORE_TEXT_WRITE_H

#include <stddef.h>
#include <sys/types.h>

/* Returns 0 or -errno; -ENOSPC if write() returns 0. */
int pp_write_all(int fd, const void *bytes, size_t n_bytes);

/* The same at an offset; the descriptor's position does not change. */
int pp_write_all_at(int fd, const void *bytes, size_t n_bytes, off_t at);

#endif
