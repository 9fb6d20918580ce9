/* SPDX-License-Identifier: MIT */
/*
 * Interned sets of memory accesses: the cache lines that a segment or a critical section accessed,
 * with the bytes read, written and changed (sync-trace/accesses.h).
 *
 * Equal sets have the same pointer while they exist, and a `serial` that is never used again, so
 * that it can be a key.  Two sets are equal if all members of their lines are.  The number of the
 * accesses in the segment (ordinals) is not kept: it differs each time in loops, and the same
 * accesses would be thousands of sets.
 *
 * Sets are counted references, so that memory is bounded by the sets in use: an event or a callback
 * lends its set, and a pass that keeps it takes a reference.  Addresses belong to one process,
 * which the set does not know.  Not thread-safe.
 */
#ifndef PP_CORE_ACCESS_SET_H
#define PP_CORE_ACCESS_SET_H

#include <stdbool.h>
#include <stdint.h>

/* Bit i of a mask stands for the byte at address + i. */
struct pp_access_line {
	uint64_t address; /* a multiple of ST_LINE_BYTES */
	uint64_t read, written;
	uint64_t changed;		/* written, with another value at the end */
	uint64_t first_site, last_site; /* of the first and last access; 0: not known */
};

struct pp_access_set {
	uint64_t serial; /* 1, 2, ... */
	struct pp_access_sets *owner;
	struct pp_access_set *next; /* in the owner's table */
	uint32_t hash;
	unsigned n_refs;
	unsigned n; /* lines */
	/* of n, each address once, in increasing order; a byte is read or written in each */
	struct pp_access_line lines[];
};

/*
 * The first and the last access of a line, numbered from 1 within its segment.  Not part of a set,
 * see above; in any order, and of no other lines than those of the segment's set.
 */
struct pp_access_order {
	uint64_t address;
	uint32_t first, last;
};

/* All sets of a capture; the model has one. */
struct pp_access_sets;

struct pp_access_sets *pp_access_sets_new(void);

/* Sets with references stay valid. */
void pp_access_sets_free(struct pp_access_sets *sets);

/* Number of sets that exist. */
unsigned pp_access_sets_count(const struct pp_access_sets *sets);

/*
 * Returns a new reference to the set of these lines, which are sorted in place.  Lines with the
 * same address are joined, lines without a byte left out.
 */
struct pp_access_set *pp_access_set_get(struct pp_access_sets *sets, struct pp_access_line *lines,
					unsigned n);

/*
 * New references: to the union of two sets, of which the second was accessed later, and to the
 * parts of the set outside and inside of [address, address + size).  Repeated calls take the time
 * of a look-up.
 */
struct pp_access_set *pp_access_set_union(struct pp_access_set *a, struct pp_access_set *b);
struct pp_access_set *pp_access_set_without(struct pp_access_set *set, uint64_t address,
					    uint64_t size);
struct pp_access_set *pp_access_set_within(struct pp_access_set *set, uint64_t address,
					   uint64_t size);

/* Does the set have a line that overlaps [address, address + size)? */
bool pp_access_set_overlaps(const struct pp_access_set *set, uint64_t address, uint64_t size);

struct pp_access_set *pp_access_set_ref(struct pp_access_set *set);
void pp_access_set_unref(struct pp_access_set *set); /* NULL: nothing */

/* The bytes of the line at that address which lie in [address, end). */
uint64_t pp_access_bytes_in(uint64_t line, uint64_t address, uint64_t end);

/* The line at that address; NULL: it is not in the set. */
const struct pp_access_line *pp_access_set_line(const struct pp_access_set *set, uint64_t address);

/* The address of the first byte that is read or written. */
static inline uint64_t pp_access_line_first(const struct pp_access_line *line)
{
	return line->address + (unsigned)__builtin_ctzll(line->read | line->written);
}

/* The bytes of a line that one set writes and the other one accesses. */
static inline uint64_t pp_access_conflicting(const struct pp_access_line *a,
					     const struct pp_access_line *b)
{
	return (a->written & (b->read | b->written)) | (b->written & a->read);
}

/*
 * Goes on from lines i and k to the next line that both sets have.  Returns false if there is none.
 */
static inline bool pp_access_sets_meet(const struct pp_access_set *a, const struct pp_access_set *b,
				       unsigned *i, unsigned *k)
{
	while (*i < a->n && *k < b->n) {
		if (a->lines[*i].address == b->lines[*k].address)
			return true;
		if (a->lines[*i].address < b->lines[*k].address)
			++*i;
		else
			++*k;
	}
	return false;
}

#endif
