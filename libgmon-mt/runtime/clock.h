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
 * If the kernel does not trust the TSC, every reading asks the kernel.  So it does for some seconds
 * after a line was off by more than reading and slewing explain, or after the slope has changed (a
 * TSC that jumps, changes its frequency or differs between CPUs).  A thread that may not read the
 * TSC at all (PR_SET_TSC, strict seccomp) asks by a system call, since the vDSO reads the TSC, too.
 */
#ifndef GM_RUNTIME_CLOCK_H
#define GM_RUNTIME_CLOCK_H

#include <stdbool.h>
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

/* Reading the TSC raises SIGSEGV in the calling thread.  Writers ask before they do. */
extern __thread bool gm_clock_faults __attribute__((tls_model("initial-exec")));

/* At a thread's first event: it may have inherited that. */
void gm_clock_thread_look(void);
void gm_clock_set_faults(bool faults);

/* With `pin`: later readings are not below earlier ones. */
void gm_clock_pin(struct gm_clock *clock);
/* The kernel's time by the vDSO, which makes no system call if it can; 0: there is none here. */
uint64_t gm_clock_quiet_ns(void);

/*
 * Defined by each library: the calling thread may have been sealed, or may read the TSC no more, or
 * again (interpose.c).  `pin`: it may read it for the last time.
 */
void gm_interposed(bool pin);

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
	uint64_t ticks;

	if (__builtin_expect(gm_clock_faults, 0))
		return gm_clock_anchor(clock);
	ticks = gm_tsc() - clock->tsc_base;
	if (__builtin_expect(ticks >= clock->tsc_limit, 0))
		return gm_clock_anchor(clock);
	return clock->ns_base + (ticks * clock->mult >> GM_CLOCK_SHIFT);
}

/* The next reading begins a new line.  Of a thread that may read the TSC. */
static inline bool gm_clock_is_due(const struct gm_clock *clock)
{
	return gm_tsc() - clock->tsc_base >= clock->tsc_limit;
}

/* The same, when all instructions before it are complete. */
static inline uint64_t gm_clock_read_ordered(struct gm_clock *clock)
{
	__asm__ volatile("lfence" ::: "memory");
	return gm_clock_read(clock);
}

#endif
