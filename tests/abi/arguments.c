/* SPDX-License-Identifier: MIT */
/*
 * Every register and stack slot that can carry an argument into a -pg function is preserved, on the
 * first call of an arc (the slow path) and on the second (the fast path). Compiled once with -pg
 * and once with -mfentry; each function is called from new call sites in a new thread.
 */
#include <complex.h>
#include <errno.h>
#include <immintrin.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((no_instrument_function))
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s: expected: %s\n", __func__, #condition);               \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

struct large {
	long words[40];
};

struct two_classes {
	double d;
	long l;
};

NOINLINE static long integers(long a, long b, long c, long d, long e, long f, long g, long h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

NOINLINE static double doubles(double a, double b, double c, double d, double e, double f, double g,
			       double h, double i)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

NOINLINE static double variadic(int n, ...)
{
	va_list list;
	double sum = 0;

	va_start(list, n);
	for (int i = 0; i < n; i++)
		sum += va_arg(list, double) * (i + 1) + va_arg(list, int);
	va_end(list);
	return sum;
}

NOINLINE static __int128 wide(__int128 a, unsigned __int128 b)
{
	return a * 3 + (__int128)b;
}

NOINLINE static long by_value(struct large large, int at, struct two_classes two)
{
	return large.words[at] + two.l + (long)two.d;
}

NOINLINE static struct large returned(long n)
{
	struct large large;

	for (int i = 0; i < 40; i++)
		large.words[i] = n + i;
	return large;
}

NOINLINE static long double x87(long double a, int n, long double b)
{
	return a * n + b;
}

NOINLINE static double complex rotated(double complex z)
{
	return z * I;
}

NOINLINE static double half(double a)
{
	_Float16 small = (_Float16)a;

	return (double)small * 2;
}

/* A nested function finds its frame by r10. */
UNPROFILED NOINLINE static int nested(int x)
{
	volatile int sum = x;

	NOINLINE int inner(int a, int b)
	{
		sum += a * b;
		return sum;
	}
	return inner(2, 3) + inner(4, 5);
}

#define VECTORS(bits, type, load, isa)                                                             \
	__attribute__((target(isa), noinline, noipa)) static int vectors##bits(                    \
	    type a, type b, type c, type d, type e, type f, type g, type h, const char *like)      \
	{                                                                                          \
		type all[8] = {a, b, c, d, e, f, g, h};                                            \
                                                                                                   \
		return memcmp(all, like, sizeof(all));                                             \
	}                                                                                          \
	__attribute__((target(isa), no_instrument_function)) static int call##bits(                \
	    const char *like)                                                                      \
	{                                                                                          \
		const type *v = (const type *)like;                                                \
                                                                                                   \
		return vectors##bits(load(v), load(v + 1), load(v + 2), load(v + 3), load(v + 4),  \
				     load(v + 5), load(v + 6), load(v + 7), like);                 \
	}

VECTORS(128, __m128i, _mm_loadu_si128, "sse2")
VECTORS(256, __m256i, _mm256_loadu_si256, "avx2")
VECTORS(512, __m512i, _mm512_loadu_si512, "avx512f")

/* A function whose locals need a larger alignment than the stack has. */
NOINLINE static uintptr_t realigned(long a, long b)
{
	_Alignas(64) volatile char locals[64] = {(char)a, (char)b};

	CHECK(locals[0] + locals[1] == (char)(a + b));
	return (uintptr_t)locals % 64;
}

UNPROFILED static void everything(void)
{
	static _Alignas(64) char bytes[8 * 64];
	struct large large = returned(5);
	struct two_classes two = {.d = 4, .l = 3};
	double complex z;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 + 1);
	errno = 4711;
	CHECK(integers(1, 2, 3, 4, 5, 6, 7, 8) == 204);
	CHECK(doubles(1, 2, 3, 4, 5, 6, 7, 8, 9) == 285);
	CHECK(variadic(4, 1.5, 1, 2.5, 2, 3.5, 3, 4.5, 4) == 1.5 + 5 + 10.5 + 18 + 10);
	CHECK(variadic(0) == 0);
	CHECK(wide((__int128)1 << 100, ((unsigned __int128)7 << 64) + 1) ==
	      ((__int128)3 << 100) + ((__int128)7 << 64) + 1);
	CHECK(large.words[39] == 44);
	CHECK(by_value(large, 39, two) == 51);
	CHECK(x87(1.25L, 4, 0.5L) == 5.5L);
	z = rotated(3 + 4 * I);
	CHECK(creal(z) == -4 && cimag(z) == 3);
	CHECK(half(1.5) == 3);
	CHECK(nested(1) == 7 + 27);
	CHECK(realigned(3, 4) == 0);
	CHECK(call128(bytes) == 0);
	if (__builtin_cpu_supports("avx2"))
		CHECK(call256(bytes) == 0);
	if (__builtin_cpu_supports("avx512f"))
		CHECK(call512(bytes) == 0);
	CHECK(errno == 4711);
}

/*
 * The first profiled call of a thread takes the longest path: each function gets to be the first.
 */
UNPROFILED static void *first(void *which)
{
	static _Alignas(64) char bytes[8 * 64];

	/* The upper parts of wide registers too. */
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 5 + 3);
	switch ((intptr_t)which) {
	case 0:
		CHECK(variadic(2, 1.5, 1, 2.5, 2) == 9.5);
		break;
	case 1:
		CHECK(integers(1, 2, 3, 4, 5, 6, 7, 8) == 204);
		break;
	case 2:
		CHECK(doubles(1, 2, 3, 4, 5, 6, 7, 8, 9) == 285);
		break;
	case 3:
		CHECK(call128(bytes) == 0);
		break;
	case 4:
		CHECK(!__builtin_cpu_supports("avx2") || call256(bytes) == 0);
		break;
	case 5:
		CHECK(nested(1) == 7 + 27);
		break;
	case 6:
		CHECK(!__builtin_cpu_supports("avx512f") || call512(bytes) == 0);
		break;
	default:
		break;
	}
	everything();
	everything();
	return NULL;
}

UNPROFILED int main(void)
{
	pthread_t thread;

	for (intptr_t i = 0; i < 7; i++) {
		pthread_create(&thread, NULL, first, (void *)i);
		pthread_join(thread, NULL);
	}
	return 0;
}
