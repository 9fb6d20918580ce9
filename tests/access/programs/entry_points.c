/* SPDX-License-Identifier: MIT */
/*
 * Every kind of access for which compilers call a function with -fsanitize=thread, in a critical
 * section and outside of one. Prints the results of all operations.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct __attribute__((packed)) odd {
	char first;
	uint16_t two;
	uint32_t four;
	uint64_t eight;
	unsigned __int128 sixteen;
};

struct bits {
	unsigned a : 3, b : 13, c : 7;
	uint64_t d : 40;
};

struct large {
	char bytes[300];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct odd odd;
static volatile struct odd volatile_odd;
static struct bits bits;
static struct large large, other_large;
static volatile uint8_t v1;
static volatile uint16_t v2;
static volatile uint32_t v4;
static volatile uint64_t v8;
static volatile unsigned __int128 v16;

static __attribute__((noinline)) void accesses(struct odd *at, volatile struct odd *there,
					       struct bits *of, struct large *to,
					       const struct large *from)
{
	at->first++;
	at->two += 2;
	at->four += 4;
	at->eight += 8;
	at->sixteen += (unsigned __int128)16 << 64;
	there->two += 1;
	there->four += 1;
	there->eight += 1;
	there->sixteen += 1;
	of->a++;
	of->b += 3;
	of->c += of->a;
	of->d += (uint64_t)1 << 33;
	*to = *from;
	to->bytes[77]++;
	v1++;
	v2++;
	v4++;
	v8++;
	v16++;
}

static void show(const char *name, unsigned bits_of, unsigned __int128 value)
{
	printf("%s%u %016" PRIx64 "%016" PRIx64 "\n", name, bits_of, (uint64_t)(value >> 64),
	       (uint64_t)value);
}

#define ORDERS(X, ...)                                                                             \
	X(__ATOMIC_RELAXED, __VA_ARGS__)                                                           \
	X(__ATOMIC_ACQUIRE, __VA_ARGS__)                                                           \
	X(__ATOMIC_RELEASE, __VA_ARGS__)                                                           \
	X(__ATOMIC_ACQ_REL, __VA_ARGS__)                                                           \
	X(__ATOMIC_SEQ_CST, __VA_ARGS__)

#define MODIFY(order, bits_of, type)                                                               \
	show("exchange", bits_of, __atomic_exchange_n(at, (type)0x35 << (bits_of - 8), order));    \
	show("add", bits_of, __atomic_fetch_add(at, (type)-5, order));                             \
	show("sub", bits_of, __atomic_fetch_sub(at, (type)77, order));                             \
	show("and", bits_of, __atomic_fetch_and(at, (type)-2, order));                             \
	show("or", bits_of, __atomic_fetch_or(at, (type)1 << (bits_of - 2), order));               \
	show("xor", bits_of, __atomic_fetch_xor(at, (type)0x5a, order));                           \
	show("nand", bits_of, __atomic_fetch_nand(at, (type)0x3c, order));                         \
	show("weak", bits_of,                                                                      \
	     __atomic_compare_exchange_n(at, &expected, (type)9, 1, order, __ATOMIC_RELAXED));     \
	show("expected", bits_of, expected);                                                       \
	while (!__atomic_compare_exchange_n(at, &expected, (type)(expected + 9), 1, order,         \
					    __ATOMIC_RELAXED))                                     \
		;                                                                                  \
	show("strong", bits_of,                                                                    \
	     __atomic_compare_exchange_n(at, &expected, (type)3, 0, order, __ATOMIC_RELAXED));     \
	show("strong", bits_of,                                                                    \
	     __atomic_compare_exchange_n(at, &expected, (type)3, 0, order, __ATOMIC_ACQUIRE));     \
	show("loaded", bits_of, __atomic_load_n(at, __ATOMIC_ACQUIRE));                            \
	show("val", bits_of, __sync_val_compare_and_swap(at, (type)3, (type)11));                  \
	show("val", bits_of, __sync_val_compare_and_swap(at, (type)3, (type)11));

#define ATOMICS(bits_of, type)                                                                     \
	static __attribute__((noinline)) void atomics##bits_of(type *at)                           \
	{                                                                                          \
		type expected = 1;                                                                 \
                                                                                                   \
		ORDERS(MODIFY, bits_of, type)                                                      \
		__atomic_store_n(at, (type)1, __ATOMIC_RELAXED);                                   \
		show("stored", bits_of, __atomic_load_n(at, __ATOMIC_RELAXED));                    \
		__atomic_store_n(at, (type) ~(type)2, __ATOMIC_RELEASE);                           \
		show("stored", bits_of, __atomic_load_n(at, __ATOMIC_SEQ_CST));                    \
		__atomic_store_n(at, (type)3, __ATOMIC_SEQ_CST);                                   \
		__atomic_thread_fence(__ATOMIC_SEQ_CST);                                           \
		__atomic_signal_fence(__ATOMIC_SEQ_CST);                                           \
		show("stored", bits_of, __atomic_load_n(at, __ATOMIC_CONSUME));                    \
	}

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
#ifdef WIDE /* otherwise these need libatomic */
ATOMICS(128, unsigned __int128)
#endif

static __attribute__((noinline)) void all(void)
{
	static _Alignas(16) union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
		unsigned __int128 u128;
	} atomic;

	accesses(&odd, &volatile_odd, &bits, &large, &other_large);
	atomics8(&atomic.u8);
	atomics16(&atomic.u16);
	atomics32(&atomic.u32);
	atomics64(&atomic.u64);
#ifdef WIDE
	atomics128(&atomic.u128);
#endif
}

static __attribute__((noinline)) void texts(char *to, const char *from, size_t n)
{
	char *copy = strdup(from);

	memcpy(to, from, n);
	memmove(to + 1, to, n);
	memset(to + n, 'x', 3);
	to[n + 3] = '\0';
	printf("%s %s %zu %d %d\n", to, copy, strlen(to), memcmp(to, from, n) > 0,
	       strcmp(from, "thread") > 0);
	printf("%s %s %s %s\n", strchr(from, 't'), strrchr(from, 't'), strstr(from, "rit"),
	       (const char *)memchr(from, 'c', n));
	printf("%d %d\n", strchr(from, '!') == NULL, strstr(from, "rits") == NULL);
	strcpy(to, from);
	strcat(to, "!");
	strncpy(to + 20, from, 12);
	printf("%s %s %d\n", to, to + 20, strncmp(to, to + 20, 4));
	free(copy);
}

int main(void)
{
	char text[64] = "";

	all();
	texts(text, "critical", 8);
	pthread_mutex_lock(&mutex);
	all();
	texts(text, "critical", 8);
	pthread_mutex_unlock(&mutex);
	show("odd", 2, odd.two);
	show("odd", 4, odd.four);
	show("odd", 8, odd.eight);
	show("odd", 16, odd.sixteen);
	show("volatile", 2, volatile_odd.two + v1 + v2 + v4 + v8 + v16);
	show("bits", 1, bits.a + bits.b + bits.c + bits.d);
	show("large", 1, (unsigned char)large.bytes[77]);
	return 0;
}
