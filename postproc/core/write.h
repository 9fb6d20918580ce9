/* SPDX-License-Identifier: MIT */
/* Writes all of it, however often the kernel takes only a part, or a signal interrupts. */
#ifndef PP_CORE_WRITE_H
#define PP_CORE_WRITE_H

#include <stddef.h>
#include <sys/types.h>

/* 0 or -errno; -ENOSPC where the kernel takes nothing and gives no reason. */
int pp_write_all(int fd, const void *bytes, size_t n_bytes);

/* The same at an offset, which leaves the descriptor's own position. */
int pp_write_all_at(int fd, const void *bytes, size_t n_bytes, off_t at);

#endif
