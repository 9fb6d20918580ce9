/* SPDX-License-Identifier: MIT */
/* Atomic operations of all widths and kinds; a counter with a limit, and a stack. */
#include "access/exact/region.h"

/* Each operation at an address of its own. */
#define ALL(type, offset)                                                                          \
	do {                                                                                       \
		type *at = AT(type, offset), expected = 9;                                         \
                                                                                                   \
		(void)__atomic_fetch_add(at, 5, __ATOMIC_SEQ_CST);                                 \
		(void)__atomic_sub_fetch(at + 2, 5, __ATOMIC_RELAXED);                             \
		(void)__atomic_fetch_and(at + 4, 5, __ATOMIC_RELEASE);                             \
		(void)__atomic_or_fetch(at + 6, 5, __ATOMIC_ACQUIRE);                              \
		(void)__atomic_fetch_xor(at + 8, 5, __ATOMIC_ACQ_REL);                             \
		(void)__atomic_nand_fetch(at + 10, 5, __ATOMIC_SEQ_CST);                           \
		at[12] = __atomic_exchange_n(at + 14, 5, __ATOMIC_SEQ_CST);                        \
		at[16] = __atomic_load_n(at + 18, __ATOMIC_SEQ_CST);                               \
		__atomic_store_n(at + 20, 5, __ATOMIC_RELEASE);                                    \
		(void)__atomic_compare_exchange_n(at + 22, &expected, 1, 1, __ATOMIC_ACQUIRE,      \
						  __ATOMIC_RELAXED);                               \
		(void)__sync_bool_compare_and_swap(at + 24, 0, 3);                                 \
		(void)__sync_lock_test_and_set(at + 26, 1);                                        \
	} while (0)

static NOINLINE void bytes(void)
{
	ALL(uint8_t, 64);
}

static NOINLINE void shorts(void)
{
	ALL(uint16_t, 256);
}

static NOINLINE void ints(void)
{
	ALL(uint32_t, 512);
}

static NOINLINE void longs(void)
{
	ALL(uint64_t, 1024);
}

static NOINLINE void pairs(void)
{
	unsigned __int128 *at = AT(unsigned __int128, 2048);

	/* The second fails. */
	__sync_bool_compare_and_swap(at, 0, ((unsigned __int128)1 << 64) + 2);
	__sync_bool_compare_and_swap(at + 3, 7, 8);
}

/* Bounded: fails from the third time on. */
static NOINLINE void limits(void)
{
	int *n = AT(int, 4096), *failed = AT(int, 4160);

	for (int i = 0; i < 5; i++) {
		int before = __atomic_load_n(n, __ATOMIC_RELAXED);

		while (before < 3 &&
		       !__atomic_compare_exchange_n(n, &before, before + 1, 1, __ATOMIC_ACQ_REL,
						    __ATOMIC_RELAXED))
			;
		*failed += before >= 3;
	}
}

struct link {
	struct link *next;
	uint32_t number;
};

static NOINLINE void stacks(void)
{
	struct link **top = AT(struct link *, 8192), *links = AT(struct link, 8256);

	for (uint32_t i = 0; i < 10; i++) {
		links[i].number = i;
		links[i].next = __atomic_load_n(top, __ATOMIC_ACQUIRE);
		while (!__atomic_compare_exchange_n(top, &links[i].next, &links[i], 0,
						    __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
			;
	}
	for (uint32_t i = 0; i < 10; i++) {
		struct link *first = __atomic_load_n(top, __ATOMIC_ACQUIRE);

		*AT(uint32_t, 9000) += first->number;
		__atomic_store_n(top, first->next, __ATOMIC_RELEASE);
	}
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++) {
		SECTION(bytes);
		SECTION(shorts);
		SECTION(ints);
		SECTION(longs);
		SECTION(pairs);
		SECTION(limits);
		SECTION(stacks);
	}
	return finish(argc, argv);
}
