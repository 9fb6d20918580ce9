/* SPDX-License-Identifier: MIT */
/*
 * An array that only grows, up to billions of items.  It is a mapping of memory or of a file; parts
 * of a file that are not accessed need no memory.
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

/* Takes ownership of fd: an empty file, open for reading and writing; or -1. */
void pp_mapped_array_init(struct pp_mapped_array *array, size_t item_bytes, int fd);
void pp_mapped_array_done(struct pp_mapped_array *array);

/*
 * Appends n zeroed items and returns the first of them.  If the disk is full, the array moves to
 * memory.
 */
void *pp_mapped_array_add(struct pp_mapped_array *array, uint64_t n);

/* True without a file, or after moving to memory. */
bool pp_mapped_array_in_memory(const struct pp_mapped_array *array);

/*
 * Maps a file with n items, whose ownership passes to the array, for reading; the array must be
 * empty.  Returns 0 or -errno.
 */
int pp_mapped_array_map(struct pp_mapped_array *array, uint64_t n, int fd);

/*
 * Unmaps the pages of the file until they are accessed again; their contents remain in the page
 * cache.  Has no effect for an array in memory.
 */
void pp_mapped_array_release(const struct pp_mapped_array *array);

/* Switches the file to random access: no readahead. */
void pp_mapped_array_scatter(struct pp_mapped_array *array);

/*
 * Reads the parts of an array that will be accessed, added in order of position: requests them all
 * from the disk before the first access.  Has no effect for an array in memory.
 */
struct pp_read_ahead {
	const struct pp_mapped_array *array;
	size_t first, end; /* range in bytes that is not requested yet */
};

static inline struct pp_read_ahead pp_read_ahead(const struct pp_mapped_array *array)
{
	return (struct pp_read_ahead){array, 0, 0};
}

void pp_read_ahead_add(struct pp_read_ahead *ahead, uint64_t i, uint64_t n);
void pp_read_ahead_end(struct pp_read_ahead *ahead);

/* Truncates the file to the items added.  Returns 0 or -errno. */
int pp_mapped_array_trim(struct pp_mapped_array *array);

static inline void *pp_mapped_array_at(const struct pp_mapped_array *array, uint64_t i)
{
	return array->data + i * array->item_bytes;
}

#endif
