/* SPDX-License-Identifier: MIT */
/*
 * Atomic operations of code built with -fsanitize=thread, which calls these functions to perform
 * them. Each has at least the requested memory order: that of the processor, which orders loads and
 * read-modify-writes in any case, or a sequentially consistent one.
 *
 * A compare-and-exchange counts as a read and a write, whether or not it succeeds: the processor
 * takes the line for writing.
 */
#include "access/access.h"

#define BOTH (ACCESS_READ | ACCESS_WRITE)

#define DEFINE(result, name, ...)                                                                  \
	EXPORT result name(__VA_ARGS__);                                                           \
	EXPORT result name(__VA_ARGS__)

#define LOAD(bits, type)                                                                           \
	DEFINE(type, __tsan_atomic##bits##_load, const volatile type *at, int order)               \
	{                                                                                          \
		(void)order;                                                                       \
		access_touch(at, sizeof(type), ACCESS_READ, ACCESS_SITE());                        \
		return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                      \
	}

#define STORE(bits, type)                                                                          \
	DEFINE(void, __tsan_atomic##bits##_store, volatile type *at, type value, int order)        \
	{                                                                                          \
		access_touch(at, sizeof(type), ACCESS_WRITE, ACCESS_SITE());                       \
		if (order == __ATOMIC_RELAXED || order == __ATOMIC_RELEASE)                        \
			__atomic_store_n(at, value, __ATOMIC_RELEASE);                             \
		else                                                                               \
			__atomic_store_n(at, value, __ATOMIC_SEQ_CST);                             \
	}

#define MODIFY(bits, type, name, real)                                                             \
	DEFINE(type, __tsan_atomic##bits##_##name, volatile type *at, type value, int order)       \
	{                                                                                          \
		(void)order;                                                                       \
		access_touch(at, sizeof(type), BOTH, ACCESS_SITE());                               \
		return real(at, value, __ATOMIC_SEQ_CST);                                          \
	}

#define COMPARE(bits, type, name)                                                                  \
	DEFINE(int, __tsan_atomic##bits##_compare_exchange_##name, volatile type *at,              \
	       type *expected, type value, int order, int order_of_failure)                        \
	{                                                                                          \
		(void)order;                                                                       \
		(void)order_of_failure;                                                            \
		access_touch(at, sizeof(type), BOTH, ACCESS_SITE());                               \
		return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST,   \
						   __ATOMIC_SEQ_CST);                              \
	}

#define COMPARE_VALUE(bits, type)                                                                  \
	DEFINE(type, __tsan_atomic##bits##_compare_exchange_val, volatile type *at, type expected, \
	       type value, int order, int order_of_failure)                                        \
	{                                                                                          \
		(void)order;                                                                       \
		(void)order_of_failure;                                                            \
		access_touch(at, sizeof(type), BOTH, ACCESS_SITE());                               \
		__atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST,         \
					    __ATOMIC_SEQ_CST);                                     \
		return expected;                                                                   \
	}

#define ATOMICS(bits, type)                                                                        \
	LOAD(bits, type)                                                                           \
	STORE(bits, type)                                                                          \
	MODIFY(bits, type, exchange, __atomic_exchange_n)                                          \
	MODIFY(bits, type, fetch_add, __atomic_fetch_add)                                          \
	MODIFY(bits, type, fetch_sub, __atomic_fetch_sub)                                          \
	MODIFY(bits, type, fetch_and, __atomic_fetch_and)                                          \
	MODIFY(bits, type, fetch_or, __atomic_fetch_or)                                            \
	MODIFY(bits, type, fetch_xor, __atomic_fetch_xor)                                          \
	MODIFY(bits, type, fetch_nand, __atomic_fetch_nand)                                        \
	COMPARE(bits, type, strong)                                                                \
	COMPARE(bits, type, weak)                                                                  \
	COMPARE_VALUE(bits, type)

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* --- 128 bits ----------------------------------------------------------------------------------
 */

/* gcc calls libatomic for __atomic_*_16; this is cmpxchg16b. */
typedef unsigned __int128 wide;

static inline wide wide_compare(volatile wide *at, wide expected, wide value)
{
	return __sync_val_compare_and_swap(at, expected, value);
}

static inline wide exchange(wide old, wide value)
{
	(void)old;
	return value;
}

static inline wide add(wide old, wide value)
{
	return old + value;
}

static inline wide subtract(wide old, wide value)
{
	return old - value;
}

static inline wide both(wide old, wide value)
{
	return old & value;
}

static inline wide either(wide old, wide value)
{
	return old | value;
}

static inline wide differ(wide old, wide value)
{
	return old ^ value;
}

static inline wide not_both(wide old, wide value)
{
	return ~(old & value);
}

static inline __attribute__((always_inline)) wide wide_modify(volatile wide *at, wide value,
							      wide (*result_of)(wide, wide))
{
	/* Any first guess will do: it is corrected by the first comparison. */
	wide old = 0, found;

	while ((found = wide_compare(at, old, result_of(old, value))) != old)
		old = found;
	return old;
}

DEFINE(wide, __tsan_atomic128_load, const volatile wide *at, int order)
{
	(void)order;
	access_touch(at, sizeof(wide), ACCESS_READ, ACCESS_SITE());
	/* Stores the value that it finds, and so needs writable memory, like libatomic. */
	return wide_compare((volatile wide *)at, 0, 0);
}

DEFINE(void, __tsan_atomic128_store, volatile wide *at, wide value, int order)
{
	(void)order;
	access_touch(at, sizeof(wide), ACCESS_WRITE, ACCESS_SITE());
	wide_modify(at, value, exchange);
}

#define WIDE_MODIFY(name, result_of)                                                               \
	DEFINE(wide, __tsan_atomic128_##name, volatile wide *at, wide value, int order)            \
	{                                                                                          \
		(void)order;                                                                       \
		access_touch(at, sizeof(wide), BOTH, ACCESS_SITE());                               \
		return wide_modify(at, value, result_of);                                          \
	}

WIDE_MODIFY(exchange, exchange)
WIDE_MODIFY(fetch_add, add)
WIDE_MODIFY(fetch_sub, subtract)
WIDE_MODIFY(fetch_and, both)
WIDE_MODIFY(fetch_or, either)
WIDE_MODIFY(fetch_xor, differ)
WIDE_MODIFY(fetch_nand, not_both)

#define WIDE_COMPARE(name)                                                                         \
	DEFINE(int, __tsan_atomic128_compare_exchange_##name, volatile wide *at, wide *expected,   \
	       wide value, int order, int order_of_failure)                                        \
	{                                                                                          \
		wide wanted = *expected, found;                                                    \
                                                                                                   \
		(void)order;                                                                       \
		(void)order_of_failure;                                                            \
		access_touch(at, sizeof(wide), BOTH, ACCESS_SITE());                               \
		found = wide_compare(at, wanted, value);                                           \
		if (found != wanted)                                                               \
			*expected = found;                                                         \
		return found == wanted;                                                            \
	}

WIDE_COMPARE(strong)
WIDE_COMPARE(weak)

DEFINE(wide, __tsan_atomic128_compare_exchange_val, volatile wide *at, wide expected, wide value,
       int order, int order_of_failure)
{
	(void)order;
	(void)order_of_failure;
	access_touch(at, sizeof(wide), BOTH, ACCESS_SITE());
	return wide_compare(at, expected, value);
}

/* --- fences ------------------------------------------------------------------------------------
 */

DEFINE(void, __tsan_atomic_thread_fence, int order)
{
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

DEFINE(void, __tsan_atomic_signal_fence, int order)
{
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
