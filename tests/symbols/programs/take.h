/* SPDX-License-Identifier: MIT */
/* An allocator that notes its last call. The programs print what they expect of it. */
#ifndef TAKE_H
#define TAKE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void *take(size_t n_bytes);

/* The last block has this type and member at the offset. "-": that cannot be known. */
void expect(const char *name, size_t offset);

#ifdef __cplusplus
}
#endif

#endif
