/* SPDX-License-Identifier: MIT */
/*
 * CLOCK_MONOTONIC for the cost of one rdtsc and one multiplication.
 *
 * A thread follows a straight line from (tsc_base, ns_base) for tsc_limit ticks, then reads the
 * kernel's time (through the vDSO) and starts the next line there. The slope is measured over the
 * last half to whole second of the process, so it follows NTP. A line is no longer than 20 ms and
 * no longer than a quarter of the interval in which its slope was measured, which keeps its error
 * near that of reading two clocks in sequence (some 20 ns). The largest error seen is kept.
 *
 * All threads follow the kernel's one clock: if one event precedes another on a different CPU, so
 * does its stamp, up to the sum of the two errors and of the instructions that an out-of-order core
 * lets pass rdtsc (none with gm_clock_read_ordered()).
 *
 * If the kernel does not trust the TSC (its clock source is another one, and not a hypervisor's
 * that the vDSO computes from the TSC), every reading uses the kernel's clock. The same applies for
 * some seconds after a line was off by more than reading and slewing explain, or after the slope
 * has changed (a TSC that jumps, changes its frequency or differs between CPUs). A thread that must
 * not read the TSC at all (PR_SET_TSC, strict seccomp) uses the system call, since the vDSO reads
 * the TSC, too.
 */
#ifndef GM_RUNTIME_CLOCK_H
#define GM_RUNTIME_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define GM_CLOCK_SHIFT 32

/* All zero: a clock that has not been read yet. */
struct gm_clock {
	uint64_t tsc_base;
	uint64_t ns_base;
	uint64_t tsc_limit; /* ticks; 0: each reading starts a new line */
	uint64_t mult;	    /* nanoseconds per tick, times 2^GM_CLOCK_SHIFT */
	uint64_t error_ns;  /* largest distance of a line's end from the kernel's time */
};

/* Checks the machine and takes the first reference. Called once, before any clock is read. */
void gm_clock_init(void);

/* Reading the TSC raises SIGSEGV in the calling thread. Writers check this before they read it. */
extern __thread bool gm_clock_faults __attribute__((tls_model("initial-exec")));

/* At a thread's first event, since the setting is inherited. */
void gm_clock_thread_look(void);
void gm_clock_set_faults(bool faults);

/* With `pin`, later readings are not below earlier ones. */
void gm_clock_pin(struct gm_clock *clock);
/* The kernel's time by the vDSO, without a system call if possible; 0: no vDSO. */
uint64_t gm_clock_quiet_ns(void);

/* The kernel's time, by the vDSO if there is one. Not if reading the TSC raises SIGSEGV. */
uint64_t gm_clock_kernel_ns(void);

/* False: the TSC is not used, or not at present. */
bool gm_clock_trusts_tsc(void);

/*
 * Defined by each library: the calling thread may have been sealed, or its permission to read the
 * TSC may have changed (interpose.c). `pin`: this may be its last reading.
 */
void gm_interposed(bool pin);

/* Reads the kernel's time and begins a new line there. Returns the time. */
uint64_t gm_clock_anchor(struct gm_clock *clock);

static inline uint64_t gm_tsc(void)
{
	return __builtin_ia32_rdtsc();
}

/* Waits for all earlier instructions. */
static inline uint64_t gm_tsc_ordered(void)
{
	__asm__ volatile("lfence" ::: "memory");
	return gm_tsc();
}

/*
 * Returns nanoseconds. Readings of one clock do not decrease. Only the owning thread reads a clock,
 * and no signal handler may read it during gm_clock_anchor().
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

/* True if the next reading begins a new line. For a thread that may read the TSC. */
static inline bool gm_clock_is_due(const struct gm_clock *clock)
{
	return gm_tsc() - clock->tsc_base >= clock->tsc_limit;
}

/* The same, after all earlier instructions have completed. */
static inline uint64_t gm_clock_read_ordered(struct gm_clock *clock)
{
	__asm__ volatile("lfence" ::: "memory");
	return gm_clock_read(clock);
}

#endif
