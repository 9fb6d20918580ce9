/* SPDX-License-Identifier: MIT */
/*
 * CLOCK_MONOTONIC for the price of one rdtsc and one multiplication.
 *
 * A thread follows a straight line from (tsc_base, ns_base) for tsc_limit ticks, then asks the
 * kernel (through the vDSO) where it truly is and starts the next line there.  The slope comes from
 * the last half to whole second of the process, so it follows NTP; a line is never longer than
 * 20 ms nor than a quarter of the stretch its slope was measured on, which keeps its error near
 * that of reading two clocks one after the other (some 20 ns).  The largest error seen is kept.
 *
 * All threads follow the one clock of the kernel: what happened before on one CPU is stamped before
 * on another, up to the sum of the two errors and of the instructions that an out-of-order core
 * lets pass rdtsc (gm_clock_read_ordered() lets none).
 *
 * Where the kernel itself does not trust the TSC every reading asks the kernel.
 */
#ifndef GM_RUNTIME_CLOCK_H
#define GM_RUNTIME_CLOCK_H

#include <stdint.h>

#define GM_CLOCK_SHIFT 32

/* All zero is a clock that has not been read yet. */
struct gm_clock {
	uint64_t tsc_base;
	uint64_t ns_base;
	uint64_t tsc_limit; /* ticks; 0: each reading starts a new line */
	uint64_t mult;	    /* nanoseconds per tick, times 2^GM_CLOCK_SHIFT */
	uint64_t error_ns;  /* largest distance of a line's end from the kernel's time */
};

/* Looks at the machine and takes the first reference.  Once, before any clock is read. */
void gm_clock_init(void);

/* The time, by the kernel, and a new line from there. */
uint64_t gm_clock_anchor(struct gm_clock *clock);

static inline uint64_t gm_tsc(void)
{
	return __builtin_ia32_rdtsc();
}

/* After all earlier instructions. */
static inline uint64_t gm_tsc_ordered(void)
{
	__asm__ volatile("lfence" ::: "memory");
	return gm_tsc();
}

/*
 * Nanoseconds.  Readings of one clock do not decrease.  Only its own thread reads a clock, and no
 * signal handler may read it while gm_clock_anchor() is at work on it.
 */
static inline uint64_t gm_clock_read(struct gm_clock *clock)
{
	uint64_t ticks = gm_tsc() - clock->tsc_base;

	if (__builtin_expect(ticks >= clock->tsc_limit, 0))
		return gm_clock_anchor(clock);
	return clock->ns_base + (ticks * clock->mult >> GM_CLOCK_SHIFT);
}

/* The same, when all instructions before it are complete. */
static inline uint64_t gm_clock_read_ordered(struct gm_clock *clock)
{
	__asm__ volatile("lfence" ::: "memory");
	return gm_clock_read(clock);
}

#endif
