/* SPDX-License-Identifier: MIT */
/*
 * Lines through the kernel's clock (clock.h).
 *
 * The references, shared by all threads, are two readings of both counters, the older at least
 * half a second old once the process is.  A sequence number guards them; a reader that meets a
 * writer does not wait (it may have interrupted it) but asks the kernel again at once, and a writer
 * that meets another leaves it the work.
 */
#include <cpuid.h>
#include <stdbool.h>
#include <time.h>

#include "runtime/clock.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

#define LINE_MAX_NS	 20000000u
#define REFERENCE_AGE_NS 500000000u
#define READ_ATTEMPTS	 4
#define READ_MAX_TICKS	 1000u /* a pair wider than this was interrupted */

struct reading {
	uint64_t tsc;
	uint64_t ns;
};

static bool tsc_usable;
static uint32_t sequence; /* of the references; odd: being changed */
static struct reading older, newer;

static bool kernel_trusts_tsc(void)
{
	char name[8] = "";
	int fd = gm_sys_open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			     O_RDONLY, 0);
	long n;

	if (fd < 0)
		return false;
	n = gm_sys_read(fd, name, sizeof(name) - 1);
	gm_sys_close(fd);
	return n == 4 && memcmp(name, "tsc\n", 4) == 0;
}

static bool tsc_is_invariant(void)
{
	unsigned eax, ebx, ecx, edx = 0;

	return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & 1u << 8) != 0;
}

/* Both counters at one instant, as nearly as can be. */
static struct reading read_both(void)
{
	struct reading best = {0, 0};
	uint64_t width = UINT64_MAX;

	for (unsigned i = 0; i < (tsc_usable ? READ_ATTEMPTS : 1) && width > READ_MAX_TICKS; i++) {
		struct timespec now;
		uint64_t before, after;

		before = gm_tsc_ordered();
		clock_gettime(CLOCK_MONOTONIC, &now);
		after = gm_tsc_ordered();
		if (after - before < width) {
			width = after - before;
			best.tsc = before + width / 2;
			best.ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
		}
	}
	return best;
}

void gm_clock_init(void)
{
	tsc_usable = kernel_trusts_tsc() && tsc_is_invariant();
	older = newer = read_both();
}

static bool reference_get(struct reading *ret_older)
{
	/* acquire: pairs with the release in reference_put() */
	uint32_t before = __atomic_load_n(&sequence, __ATOMIC_ACQUIRE);

	if (before & 1)
		return false;
	ret_older->tsc = __atomic_load_n(&older.tsc, __ATOMIC_RELAXED);
	ret_older->ns = __atomic_load_n(&older.ns, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&sequence, __ATOMIC_RELAXED) == before;
}

static void reference_put(struct reading now)
{
	uint32_t even = __atomic_load_n(&sequence, __ATOMIC_RELAXED);

	if ((even & 1) ||
	    now.ns - __atomic_load_n(&newer.ns, __ATOMIC_RELAXED) < REFERENCE_AGE_NS ||
	    !__atomic_compare_exchange_n(&sequence, &even, even + 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&older.tsc, newer.tsc, __ATOMIC_RELAXED);
	__atomic_store_n(&older.ns, newer.ns, __ATOMIC_RELAXED);
	__atomic_store_n(&newer.tsc, now.tsc, __ATOMIC_RELAXED);
	__atomic_store_n(&newer.ns, now.ns, __ATOMIC_RELAXED);
	/* release: pairs with the acquire in reference_get() */
	__atomic_store_n(&sequence, even + 2, __ATOMIC_RELEASE);
}

/* Slope and length of the next line, from the stretch between a reference and now. */
static void line_measure(struct gm_clock *clock, struct reading now)
{
	struct reading from;
	uint64_t ticks, ns, line_max_ticks;

	clock->tsc_limit = 0;
	if (!tsc_usable || !reference_get(&from) || now.tsc <= from.tsc || now.ns <= from.ns)
		return;
	ticks = now.tsc - from.tsc;
	ns = now.ns - from.ns;
	clock->tsc_limit = ticks / 4;
	while (ns >> 31 != 0) {
		ns >>= 1;
		ticks >>= 1;
	}
	if (ticks == 0)
		return;
	clock->mult = (ns << GM_CLOCK_SHIFT) / ticks;
	line_max_ticks = ((uint64_t)LINE_MAX_NS << GM_CLOCK_SHIFT) / (clock->mult + 1);
	if (clock->tsc_limit > line_max_ticks)
		clock->tsc_limit = line_max_ticks;
}

static uint64_t line_at(const struct gm_clock *clock, uint64_t ticks)
{
	return clock->ns_base + (ticks * clock->mult >> GM_CLOCK_SHIFT);
}

uint64_t gm_clock_anchor(struct gm_clock *clock)
{
	struct reading now = read_both();
	uint64_t ticks = now.tsc - clock->tsc_base, ahead_ns = 0, error_ns;

	if (clock->tsc_limit > 0) {
		uint64_t end_ns = line_at(clock, clock->tsc_limit);

		/* Long after its end the line says nothing about the readings that it gave. */
		if (ticks < 2 * clock->tsc_limit) {
			uint64_t line_ns = line_at(clock, ticks);

			error_ns = line_ns > now.ns ? line_ns - now.ns : now.ns - line_ns;
			if (error_ns > clock->error_ns)
				clock->error_ns = error_ns;
		}
		ahead_ns = end_ns > now.ns ? end_ns - now.ns : 0;
	}

	line_measure(clock, now);
	reference_put(now);
	clock->tsc_base = now.tsc;
	clock->ns_base = now.ns + ahead_ns;
	if (ahead_ns > 0 && clock->tsc_limit > 0) {
		/* Go slower, so as to be right at the end of this line, but never backwards. */
		uint64_t length_ns = clock->tsc_limit * clock->mult >> GM_CLOCK_SHIFT;

		clock->mult -=
		    ahead_ns < length_ns ? clock->mult * ahead_ns / length_ns : clock->mult;
	}
	return clock->ns_base;
}
