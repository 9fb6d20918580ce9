/* SPDX-License-Identifier: MIT */
/*
 * An array that only grows, up to billions of items: a mapping of memory, or of a file, so that
 * what is not looked at need not be in memory.
 */
#ifndef PP_INDEX_PILE_H
#define PP_INDEX_PILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pp_pile {
	char *data;
	uint64_t n;
	size_t item_bytes;
	size_t mapped_bytes;
	int fd; /* -1: memory */
	bool on_disk;
};

/* Takes fd: an empty file, open for reading and writing; or -1. */
void pp_pile_init(struct pp_pile *pile, size_t item_bytes, int fd);
void pp_pile_done(struct pp_pile *pile);

/* Room for n more items, zeroed; the first of them.  On a full disk it moves to memory. */
void *pp_pile_add(struct pp_pile *pile, uint64_t n);

/* No file, or one that was given up. */
bool pp_pile_in_memory(const struct pp_pile *pile);

/* Makes the n items of that file, which it takes, those of an empty pile, to be read; -errno. */
int pp_pile_map(struct pp_pile *pile, uint64_t n, int fd);

/* From now on it is a file that is looked at here and there: what is near is not read with it. */
void pp_pile_scatter(struct pp_pile *pile);

/*
 * What is going to be looked at, in order of position: it is on its way from the disk, all of it at
 * once, before the first is looked at.  Nothing, if it is in memory anyway.
 */
struct pp_wish {
	const struct pp_pile *pile;
	size_t first, end; /* bytes, not asked for yet */
};

static inline struct pp_wish pp_wish(const struct pp_pile *pile)
{
	return (struct pp_wish){pile, 0, 0};
}

void pp_wish_add(struct pp_wish *wish, uint64_t i, uint64_t n);
void pp_wish_end(struct pp_wish *wish);

/* The file has what was added, and no room for more. */
int pp_pile_trim(struct pp_pile *pile);

static inline void *pp_pile_at(const struct pp_pile *pile, uint64_t i)
{
	return pile->data + i * pile->item_bytes;
}

#endif
