/* SPDX-License-Identifier: MIT */
/*
 * The blocks of the heap, by address: their sizes, and the calls that allocated them.
 *
 * A granule of 16 bytes has a word of 32 bits. The word of a block's first granule describes it;
 * the next two are the block's, too, and have its size if that does not fit. For a page that begins
 * inside a block, `covers` has the block's address; likewise for a unit of 2 MiB that the block
 * covers as a whole. So a block is found by searching backwards in one page.
 *
 * The thread that gets a block writes its words, and the one that frees it clears them before the
 * memory is given back: between these there is one writer, and no lock is needed. Searching for an
 * address that the caller does not own may find a block that is just being made or freed.
 *
 * Not known are blocks that do not begin at a multiple of 16 (of 8 bytes, with some allocators),
 * those of which the memory for the words is missing, and what is allocated at more than 65,000
 * call sites.
 */
#include <emmintrin.h>

#include "access/access.h"

#define GRANULE_BYTES 16u
#define PAGE_BYTES    4096u
#define PAGE_GRANULES (PAGE_BYTES / GRANULE_BYTES)
#define UNIT_BYTES    ((uintptr_t)2 << 20)
#define UNIT_GRANULES (UNIT_BYTES / GRANULE_BYTES)
#define UNIT_PAGES    (UNIT_BYTES / PAGE_BYTES)
#define AREA_UNITS    ((uintptr_t)8192)
#define AREA_BYTES    (AREA_UNITS * UNIT_BYTES) /* 16 GiB */
#define ADDRESS_MAX   ((uintptr_t)1 << 47)
#define N_AREAS	      (ADDRESS_MAX / AREA_BYTES)
#define COVER_MAX     AREA_BYTES /* the rest of a larger block is not known */

#define SITES_MAX   65536u /* a power of two; as many as fit the word */
#define SITE_SHIFT  15
#define SITE_MASK   (SITES_MAX - 1)
#define SITE_PROBES 32u

/* The word: a bit, the number of the site, the epoch (collector.h), and the size or one of these.
 */
#define IS_START  0x80000000u
#define SIZE_MASK ((1u << ST_EPOCH_SHIFT) - 1)
#define SIZE_NEXT 0u  /* in the next word */
#define SIZE_WIDE 31u /* in the next two */
#define SIZE_BITS 31
_Static_assert(SITE_SHIFT == ST_EPOCH_SHIFT + ST_EPOCH_BITS && SITES_MAX << SITE_SHIFT == IS_START,
	       "the word is full");
_Static_assert(GRANULE_BYTES < SIZE_WIDE, "sizes within a granule fit");

struct unit {
	/* The last four are for the size of a block that begins in the last granule. */
	uint32_t words[UNIT_GRANULES + 4];
	uintptr_t covers[UNIT_PAGES];
};

struct area {
	struct {
		struct unit *unit;
		uintptr_t cover;
	} units[AREA_UNITS];
};

static struct area *areas[N_AREAS];
static bool is_stopped;
static uintptr_t sites[SITES_MAX];

/* --- the map ---------------------------------------------------------------------------------- */

/* Returns what is there, or puts new memory there. NULL: there is none. */
static __attribute__((noinline, cold)) void *make(void **place, size_t n_bytes)
{
	void *there = NULL, *made = st_access_memory(n_bytes);

	if (made == NULL)
		return NULL;
	/* release: publishes the zeroed memory; pairs with the acquires below */
	if (__atomic_compare_exchange_n(place, &there, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return made;
	/* Another thread was faster. Its memory counts; ours is address space only. */
	return there;
}

static inline struct area *area_at(uintptr_t address)
{
	/* acquire: pairs with the release in make() */
	return __atomic_load_n(&areas[address / AREA_BYTES], __ATOMIC_ACQUIRE);
}

static inline struct unit *unit_at(const struct area *area, uintptr_t address)
{
	/* acquire: pairs with the release in make() */
	return __atomic_load_n(&area->units[address / UNIT_BYTES % AREA_UNITS].unit,
			       __ATOMIC_ACQUIRE);
}

static struct area *area_make(uintptr_t address)
{
	struct area *area = area_at(address);

	return area != NULL ? area
			    : make((void **)&areas[address / AREA_BYTES], sizeof(struct area));
}

static struct unit *unit_make(struct area *area, uintptr_t address)
{
	struct unit *unit = unit_at(area, address);

	return unit != NULL ? unit
			    : make((void **)&area->units[address / UNIT_BYTES % AREA_UNITS].unit,
				   sizeof(struct unit));
}

static inline uint32_t *word_in(struct unit *unit, uintptr_t address)
{
	return &unit->words[address % UNIT_BYTES / GRANULE_BYTES];
}

/* The words may be in use by another thread, if the program accesses memory that it has freed. */
static inline uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void store(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* --- call sites ------------------------------------------------------------------------------- */

/* Returns the number of the site; 0: there is no room. */
static uint32_t site_number(uintptr_t site)
{
	uint32_t at = (uint32_t)((site * ST_LINE_HASH) >> 48);

	for (unsigned i = 0; i < SITE_PROBES; i++, at = (at + 1) & SITE_MASK) {
		uintptr_t there = __atomic_load_n(&sites[at], __ATOMIC_RELAXED);

		if (at == 0)
			continue;
		if (there == site)
			return at;
		if (there == 0 && __atomic_compare_exchange_n(&sites[at], &there, site, false,
							      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return at;
		if (there == site)
			return at;
	}
	return 0;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* Stores `value` for all pages and units whose begin is inside the block. */
static void cover(uintptr_t address, size_t n_bytes, uintptr_t value)
{
	uintptr_t at = (address / PAGE_BYTES + 1) * PAGE_BYTES;
	uintptr_t end = address + (n_bytes < COVER_MAX ? n_bytes : COVER_MAX);

	while (at < end) {
		struct area *area = area_make(at);
		struct unit *unit;

		if (area == NULL)
			return;
		if (at % UNIT_BYTES == 0 && end - at >= UNIT_BYTES) {
			__atomic_store_n(&area->units[at / UNIT_BYTES % AREA_UNITS].cover, value,
					 __ATOMIC_RELAXED);
			at += UNIT_BYTES;
			continue;
		}
		unit = unit_make(area, at);
		if (unit == NULL)
			return;
		do {
			__atomic_store_n(&unit->covers[at / PAGE_BYTES % UNIT_PAGES], value,
					 __ATOMIC_RELAXED);
			at += PAGE_BYTES;
		} while (at < end && at % UNIT_BYTES != 0);
	}
}

static inline bool crosses_page(uintptr_t address, size_t n_bytes)
{
	return address % PAGE_BYTES + n_bytes > PAGE_BYTES;
}

static inline bool is_possible(uintptr_t address)
{
	return address % GRANULE_BYTES == 0 && address < ADDRESS_MAX;
}

void access_blocks_stop(void)
{
	is_stopped = true;
}

void access_block_begin(uintptr_t address, size_t n_bytes, uintptr_t site)
{
	struct area *area;
	struct unit *unit;
	uint32_t *word, value = IS_START;

	if (is_stopped || n_bytes == 0 || !is_possible(address) || n_bytes > ADDRESS_MAX - address)
		return;
	area = area_make(address);
	unit = area != NULL ? unit_make(area, address) : NULL;
	if (unit == NULL)
		return;
	word = word_in(unit, address);
	value |= site_number(site) << SITE_SHIFT;
	if (n_bytes <= GRANULE_BYTES) {
		value |= (uint32_t)n_bytes;
	} else {
		store(word + 1, (uint32_t)n_bytes & ~IS_START);
		if (n_bytes >> SIZE_BITS != 0) {
			store(word + 2, (uint32_t)(n_bytes >> SIZE_BITS));
			value |= SIZE_WIDE;
		}
	}
	if (crosses_page(address, n_bytes))
		cover(address, n_bytes, address);
	/* release: pairs with the acquire in block_read(), for the size */
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline bool block_read(uint32_t *word, uintptr_t address, struct st_block *ret)
{
	/* acquire: pairs with the release in access_block_begin() */
	uint32_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE), size = value & SIZE_MASK;

	if ((value & IS_START) == 0)
		return false;
	ret->address = address;
	ret->n_bytes = size;
	if (size == SIZE_NEXT || size == SIZE_WIDE)
		ret->n_bytes = load(word + 1);
	if (size == SIZE_WIDE)
		ret->n_bytes |= (size_t)load(word + 2) << SIZE_BITS;
	ret->site = __atomic_load_n(&sites[value >> SITE_SHIFT & SITE_MASK], __ATOMIC_RELAXED);
	ret->word = word;
	ret->value = value;
	return true;
}

bool access_block_at(uintptr_t address, struct st_block *ret)
{
	const struct area *area = is_possible(address) ? area_at(address) : NULL;
	struct unit *unit = area != NULL ? unit_at(area, address) : NULL;

	return unit != NULL && block_read(word_in(unit, address), address, ret);
}

/* Searches the page backwards. */
static bool find_in_page(struct unit *unit, uintptr_t address, struct st_block *ret)
{
	uintptr_t page = address / PAGE_BYTES * PAGE_BYTES;
	uint32_t *words = word_in(unit, page);
	uint32_t last = (uint32_t)(address - page) / GRANULE_BYTES;

	for (uint32_t i = last / 4 * 4;; i -= 4) {
		__m128i four = _mm_load_si128((const __m128i *)&words[i]);
		unsigned starts = (unsigned)_mm_movemask_ps(_mm_castsi128_ps(four));

		if (i + 4 > last)
			starts &= (2u << (last - i)) - 1;
		for (; starts != 0; starts &= ~(1u << (31 - __builtin_clz(starts)))) {
			unsigned k = 31 - (unsigned)__builtin_clz(starts);

			if (block_read(&words[i + k], page + (i + k) * GRANULE_BYTES, ret) &&
			    address - ret->address < ret->n_bytes)
				return true;
		}
		if (i == 0)
			return false;
	}
}

static bool is_covered_by(uintptr_t cover_address, uintptr_t address, struct st_block *ret)
{
	return cover_address != 0 && access_block_at(cover_address, ret) &&
	       address - ret->address < ret->n_bytes;
}

bool access_block_find(uintptr_t address, struct st_block *ret)
{
	const struct area *area = address < ADDRESS_MAX ? area_at(address) : NULL;
	struct unit *unit;

	if (area == NULL)
		return false;
	unit = unit_at(area, address);
	if (unit != NULL && find_in_page(unit, address, ret))
		return true;
	if (unit != NULL &&
	    is_covered_by(
		__atomic_load_n(&unit->covers[address / PAGE_BYTES % UNIT_PAGES], __ATOMIC_RELAXED),
		address, ret))
		return true;
	return is_covered_by(__atomic_load_n(&area->units[address / UNIT_BYTES % AREA_UNITS].cover,
					     __ATOMIC_RELAXED),
			     address, ret);
}

bool access_mapping_find(uintptr_t start, uintptr_t end, struct st_block *ret)
{
	while (start < end && start < ADDRESS_MAX) {
		const struct area *area = area_at(start);

		if (area == NULL) {
			start = (start / AREA_BYTES + 1) * AREA_BYTES;
			continue;
		}
		if (access_block_find(start, ret) && ret->address % PAGE_BYTES == 0)
			return true;
		if (unit_at(area, start) == NULL)
			start = (start / UNIT_BYTES + 1) * UNIT_BYTES;
		else
			start += PAGE_BYTES;
	}
	return false;
}

void access_block_end(const struct st_block *block)
{
	store(block->word, 0);
	if (crosses_page(block->address, block->n_bytes))
		cover(block->address, block->n_bytes, 0);
}
