/* SPDX-License-Identifier: MIT */
/*
 * An array that only grows, up to billions of items: a mapping of memory, or of a file, so that
 * what is not looked at need not be in memory.
 */
#ifndef PP_INDEX_MAPPED_ARRAY_H
#define PP_INDEX_MAPPED_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pp_mapped_array {
	char *data;
	uint64_t n;
	size_t item_bytes;
	size_t mapped_bytes;
	int fd; /* -1: memory */
	bool on_disk;
};

/* Takes fd: an empty file, open for reading and writing; or -1. */
void pp_mapped_array_init(struct pp_mapped_array *array, size_t item_bytes, int fd);
void pp_mapped_array_done(struct pp_mapped_array *array);

/* Room for n more items, zeroed; the first of them.  On a full disk it moves to memory. */
void *pp_mapped_array_add(struct pp_mapped_array *array, uint64_t n);

/* No file, or one that was given up. */
bool pp_mapped_array_in_memory(const struct pp_mapped_array *array);

/* Makes the n items of that file, which it takes, those of an empty array, to be read; -errno. */
int pp_mapped_array_map(struct pp_mapped_array *array, uint64_t n, int fd);

/* From now on it is a file that is looked at here and there: what is near is not read with it. */
void pp_mapped_array_scatter(struct pp_mapped_array *array);

/*
 * What is going to be looked at, in order of position: it is on its way from the disk, all of it at
 * once, before the first is looked at.  Nothing, if it is in memory anyway.
 */
struct pp_read_ahead {
	const struct pp_mapped_array *array;
	size_t first, end; /* bytes, not asked for yet */
};

static inline struct pp_read_ahead pp_read_ahead(const struct pp_mapped_array *array)
{
	return (struct pp_read_ahead){array, 0, 0};
}

void pp_read_ahead_add(struct pp_read_ahead *ahead, uint64_t i, uint64_t n);
void pp_read_ahead_end(struct pp_read_ahead *ahead);

/* The file has what was added, and no room for more. */
int pp_mapped_array_trim(struct pp_mapped_array *array);

static inline void *pp_mapped_array_at(const struct pp_mapped_array *array, uint64_t i)
{
	return array->data + i * array->item_bytes;
}

#endif
