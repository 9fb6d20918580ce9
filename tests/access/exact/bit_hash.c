/* SPDX-License-Identifier: MIT */
/* A hash table with open addressing, whose entries are bit-fields; and a bitmap. */
#include "access/exact/region.h"

#define PLACES 64u

struct entry {
	uint32_t key : 20, is_used : 1, is_deleted : 1, hits : 10, : 0;
	uint16_t color : 5, size : 6, : 0;
	uint16_t value;
};

#define table  AT(struct entry, 128)
#define bitmap AT(uint64_t, 4096)
#define flags  AT(uint8_t, 8192)
#define result AT(uint32_t, 8448)

static struct entry *find(uint32_t key)
{
	for (uint32_t at = key * 2654435761u >> 26;; at = (at + 1) % PLACES)
		if (!table[at].is_used || (table[at].key == key && !table[at].is_deleted))
			return &table[at];
}

static NOINLINE void bit_insertions(void)
{
	for (uint32_t key = 1; key < 40; key++) {
		struct entry *entry = find(key * 977 & 0xfffff);

		entry->is_used = 1;
		entry->key = key * 977 & 0xfffff;
		entry->color = key & 31;
		entry->size += 3;
		entry->value = (uint16_t)(key << 3);
	}
}

static NOINLINE void bit_hits(void)
{
	for (uint32_t key = 1; key < 60; key += 4) {
		struct entry *entry = find(key * 977 & 0xfffff);

		if (entry->is_used) {
			entry->hits++;
			*result += entry->value + entry->color;
		}
	}
}

static NOINLINE void bit_deletions(void)
{
	for (uint32_t key = 2; key < 20; key += 3)
		find(key * 977 & 0xfffff)->is_deleted = 1;
}

static NOINLINE void bitmaps(void)
{
	for (unsigned bit = 3; bit < 600; bit += 41) {
		bitmap[bit / 64] |= UINT64_C(1) << bit % 64;
		flags[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (unsigned i = 0; i < 9; i++)
		*result += (uint32_t)__builtin_popcountll(bitmap[i]);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		SECTION(bit_insertions);
		SECTION(bit_hits);
		SECTION(bit_deletions);
		SECTION(bitmaps);
	}
	return finish(argc, argv);
}
