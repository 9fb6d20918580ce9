/* SPDX-License-Identifier: MIT */
/*
 * The vector registers that mcount.S saves around the slow path.
 *
 * Our own code uses general registers only. The few libc functions that it calls, or functions of
 * the program that replace them, may use and clear every vector register completely, and these may
 * hold the arguments of the profiled function. XSAVEC or XSAVE saves SSE, AVX and AVX-512 state.
 * Not saved are registers that carry no arguments in any calling convention of x86-64: x87, zmm16
 * to zmm31 (1 KiB, on a stack that may be of minimal size) and AMX tiles (8 KiB).
 */
#include <cpuid.h>

#include "internal.h"

/* Bits of XCR0: SSE, AVX, AVX-512's mask registers and the upper halves of zmm0 to zmm15. */
#define SAVED	       0x66u
#define AVX	       0x4u
#define FIRST_EXTENDED 2u
#define LAST_EXTENDED  7u
#define LEGACY_BYTES   576u /* size of the legacy area with its header */
#define ALIGNMENT      64u

/* For mcount.S. Bytes: 0: not known yet, 1: the processor has only xmm0 to xmm15. */
uint32_t gm_vectors_bytes, gm_vectors_mask;
bool gm_vectors_compact;

uint32_t gm_vectors_measure(void);

static uint32_t enabled(void)
{
	uint32_t eax, edx;

	__asm__ volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
	return eax;
}

static bool has_xsave(void)
{
	unsigned eax, ebx, ecx = 0, edx;

	return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_OSXSAVE) != 0;
}

/* Threads that run this at the same time compute the same values. */
uint32_t gm_vectors_measure(void)
{
	uint32_t mask = has_xsave() ? enabled() & SAVED : 0, bytes = LEGACY_BYTES;
	unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
	bool compact;

	if ((mask & AVX) == 0) {
		__atomic_store_n(&gm_vectors_bytes, 1, __ATOMIC_RELEASE);
		return 1;
	}
	__cpuid_count(0xd, 1, eax, ebx, ecx, edx);
	compact = (eax & bit_XSAVEC) != 0;
	for (unsigned i = FIRST_EXTENDED; i <= LAST_EXTENDED; i++) {
		if ((mask & 1u << i) == 0)
			continue;
		__cpuid_count(0xd, i, eax, ebx, ecx, edx);
		if (compact && (ecx & 2) != 0)
			bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
		if (compact)
			bytes += eax;
		else if (ebx + eax > bytes)
			bytes = ebx + eax;
	}
	gm_vectors_mask = mask;
	gm_vectors_compact = compact;
	/*
	 * release: mcount.S reads the other variables after the bytes; x86 keeps the order of loads
	 */
	__atomic_store_n(&gm_vectors_bytes, bytes, __ATOMIC_RELEASE);
	return bytes;
}
