/* SPDX-License-Identifier: MIT */
/*
 * Lines fitted to the kernel's clock (clock.h).
 *
 * All threads share two references: readings of both counters, the older one at least half a second
 * old once the process has run that long. A sequence number guards them. A reader that finds a
 * writer active does not wait (it may have interrupted the writer) but asks the kernel again at its
 * next reading; a writer that finds another one active leaves the update to it.
 */
#include <cpuid.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <time.h>

#include "runtime/files/helper_task.h"
#include "runtime/stream/clock.h"
#include "runtime/sys/auxv.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define LINE_MAX_NS	 20000000u
#define REFERENCE_AGE_NS 500000000u
#define READ_ATTEMPTS	 4
#define DOUBT_NS	 2000u /* no line is off by more, except by slewing and a wide reading */
#define DOUBT_SLEW	 1000u /* the kernel's clock may slew by 1/DOUBT_SLEW */
#define AGREEMENTS	 4u    /* consecutive references that end a doubt; doubled each time */
#define AGREEMENTS_MAX	 1024u
#define READ_MAX_TICKS	 1000u /* a wider pair of readings was interrupted */

struct reading {
	uint64_t tsc;
	uint64_t ns;
	uint64_t
	    width; /* in ticks: distance between the readings of the TSC around the kernel's time */
};

__thread bool gm_clock_faults __attribute__((tls_model("initial-exec")));

/* References that must agree before the TSC is trusted again; 0: it is trusted. */
static uint32_t doubt;
static uint32_t next_doubt = AGREEMENTS;

/* The slope between the last two references at which the TSC was trusted; 0: not known yet. */
static uint64_t trusted_mult;

typedef long clock_gettime_fn(clockid_t clock, struct timespec *ret);

static bool tsc_usable;
static clock_gettime_fn *vdso_clock_gettime; /* NULL: none, or not looked up yet */
static uint32_t sequence;		     /* of the references; odd: being changed */
static struct reading older, newer;

/* How the kernel's clock source gets the time. */
enum source {
	SOURCE_OTHER, /* from another device, or not known */
	SOURCE_TSC,   /* from the TSC, which the kernel has checked */
	SOURCE_HOST,  /* from the TSC, by a line of the hypervisor */
};

static enum source kernel_source(void)
{
	char name[32] = "";
	long n = gm_files_read("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			       name, sizeof(name) - 1);

	if (n == 4 && memcmp(name, "tsc\n", 4) == 0)
		return SOURCE_TSC;
	if ((n == 10 && memcmp(name, "kvm-clock\n", 10) == 0) ||
	    (n == 28 && memcmp(name, "hyperv_clocksource_tsc_page\n", 28) == 0))
		return SOURCE_HOST;
	return SOURCE_OTHER;
}

static bool tsc_is_invariant(void)
{
	unsigned eax, ebx, ecx, edx = 0;

	return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & 1u << 8) != 0;
}

/*
 * The kernel's clock by the vDSO's function itself: a clock_gettime() of the program may take locks
 * or be compiled with -pg.
 */
static uint64_t kernel_ns(void)
{
	struct timespec now;

	if (vdso_clock_gettime == NULL || vdso_clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		return gm_clock_ns();
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * Returns true if the vDSO reads the kernel's clock without a system call. With a hypervisor's
 * clock it does so only if the host vouches for the TSC: that it has the same value on all CPUs, at
 * a constant rate (PVCLOCK_TSC_STABLE_BIT of KVM; a sequence number other than 0 in Hyper-V's
 * page). User space cannot see the host's bit, but a system call takes longer. The shortest of some
 * readings is compared with the shortest of some short system calls.
 */
static bool vdso_reads_tsc(void)
{
	uint64_t reading = UINT64_MAX, call = UINT64_MAX;

	if (gm_clock_faults || gm_sealed || vdso_clock_gettime == NULL)
		return false;
	for (unsigned i = 0; i < READ_ATTEMPTS; i++) {
		uint64_t start = gm_tsc_ordered(), middle, end;
		int mode;

		kernel_ns();
		middle = gm_tsc_ordered();
		gm_syscall3(SYS_prctl, PR_GET_TSC, (long)&mode, 0);
		end = gm_tsc_ordered();
		reading = middle - start < reading ? middle - start : reading;
		call = end - middle < call ? end - middle : call;
	}
	return reading < call / 4 * 3;
}

static bool kernel_trusts_tsc(void)
{
	enum source source = kernel_source();

	return source == SOURCE_TSC || (source == SOURCE_HOST && vdso_reads_tsc());
}

/* Reads both counters at nearly the same instant. */
static struct reading read_both(void)
{
	struct reading best = {0, 0, UINT64_MAX};

	for (unsigned i = 0; i < (tsc_usable ? READ_ATTEMPTS : 1) && best.width > READ_MAX_TICKS;
	     i++) {
		uint64_t before, now_ns, after;

		before = gm_tsc_ordered();
		now_ns = kernel_ns();
		after = gm_tsc_ordered();
		if (after - before < best.width) {
			best.width = after - before;
			best.tsc = before + best.width / 2;
			best.ns = now_ns;
		}
	}
	return best;
}

void gm_clock_init(void)
{
	*(void **)&vdso_clock_gettime = gm_vdso_function("__vdso_clock_gettime");
	gm_clock_thread_look();
	tsc_usable = tsc_is_invariant() && kernel_trusts_tsc();
	if (!gm_clock_faults)
		older = newer = read_both();
}

void gm_clock_set_faults(bool faults)
{
	gm_clock_faults = faults;
}

void gm_clock_thread_look(void)
{
	int mode = PR_TSC_ENABLE;

	if (!gm_sealed)
		gm_clock_faults = gm_syscall3(SYS_prctl, PR_GET_TSC, (long)&mode, 0) == 0 &&
				  mode == PR_TSC_SIGSEGV;
}

void gm_clock_pin(struct gm_clock *clock)
{
	uint64_t ticks = gm_tsc() - clock->tsc_base;

	if (ticks < clock->tsc_limit)
		clock->ns_base += ticks * clock->mult >> GM_CLOCK_SHIFT;
	clock->tsc_limit = 0;
}

uint64_t gm_clock_quiet_ns(void)
{
	return gm_clock_faults || vdso_clock_gettime == NULL || !tsc_usable ? 0 : kernel_ns();
}

uint64_t gm_clock_kernel_ns(void)
{
	return kernel_ns();
}

bool gm_clock_trusts_tsc(void)
{
	return tsc_usable && __atomic_load_n(&doubt, __ATOMIC_RELAXED) == 0;
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

/* Nanoseconds per tick, times 2^GM_CLOCK_SHIFT; 0: the TSC did not advance. */
static uint64_t slope(struct reading from, struct reading to)
{
	uint64_t ticks = to.tsc - from.tsc, ns = to.ns - from.ns;

	if (from.ns == 0 || to.tsc <= from.tsc || to.ns <= from.ns)
		return 0;
	while (ns >> 31 != 0) {
		ns >>= 1;
		ticks >>= 1;
	}
	return ticks == 0 ? 0 : (ns << GM_CLOCK_SHIFT) / ticks;
}

/* Returns true if both slopes agree, within the slewing of the kernel's clock. */
static bool is_same_pace(uint64_t mult, uint64_t other)
{
	uint64_t difference = mult > other ? mult - other : other - mult;

	return mult != 0 && other != 0 && difference <= other / DOUBT_SLEW;
}

/* Under the sequence number: trusts the TSC again after it has been steady long enough. */
static void doubt_check(struct reading now)
{
	uint32_t left = __atomic_load_n(&doubt, __ATOMIC_RELAXED);
	uint64_t mult = slope(newer, now);

	if (left > 0) {
		left = is_same_pace(slope(older, newer), mult) ? left - 1 : next_doubt;
		__atomic_store_n(&doubt, left, __ATOMIC_RELAXED);
	}
	if (left == 0)
		__atomic_store_n(&trusted_mult, mult, __ATOMIC_RELAXED);
}

/* Called when a line was found wrong. */
static void doubt_begin(void)
{
	if (__atomic_load_n(&doubt, __ATOMIC_RELAXED) == 0 && next_doubt < AGREEMENTS_MAX)
		next_doubt *= 2;
	__atomic_store_n(&doubt, next_doubt, __ATOMIC_RELAXED);
}

static void reference_put(struct reading now)
{
	uint32_t even = __atomic_load_n(&sequence, __ATOMIC_RELAXED);

	if ((even & 1) ||
	    now.ns - __atomic_load_n(&newer.ns, __ATOMIC_RELAXED) < REFERENCE_AGE_NS ||
	    !__atomic_compare_exchange_n(&sequence, &even, even + 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	doubt_check(now);
	__atomic_store_n(&older.tsc, newer.tsc, __ATOMIC_RELAXED);
	__atomic_store_n(&older.ns, newer.ns, __ATOMIC_RELAXED);
	__atomic_store_n(&newer.tsc, now.tsc, __ATOMIC_RELAXED);
	__atomic_store_n(&newer.ns, now.ns, __ATOMIC_RELAXED);
	/* release: pairs with the acquire in reference_get() */
	__atomic_store_n(&sequence, even + 2, __ATOMIC_RELEASE);
}

/* Computes slope and length of the next line, from a reference and now. */
static void line_measure(struct gm_clock *clock, struct reading now)
{
	struct reading from;
	uint64_t mult, trusted = __atomic_load_n(&trusted_mult, __ATOMIC_RELAXED), line_max_ticks;

	clock->tsc_limit = 0;
	if (!tsc_usable || __atomic_load_n(&doubt, __ATOMIC_RELAXED) > 0 || !reference_get(&from))
		return;
	mult = slope(from, now);
	if (trusted != 0 && !is_same_pace(mult, trusted)) {
		doubt_begin(); /* it jumped since the reference, or changed its frequency */
		return;
	}
	if (mult == 0)
		return;
	clock->mult = mult;
	clock->tsc_limit = (now.tsc - from.tsc) / 4;
	line_max_ticks = ((uint64_t)LINE_MAX_NS << GM_CLOCK_SHIFT) / (clock->mult + 1);
	if (clock->tsc_limit > line_max_ticks)
		clock->tsc_limit = line_max_ticks;
}

static uint64_t line_at(const struct gm_clock *clock, uint64_t ticks)
{
	return clock->ns_base + (ticks * clock->mult >> GM_CLOCK_SHIFT);
}

/* For threads that must not read the TSC. A sealed thread (strict seccomp) has no clock at all. */
static uint64_t anchor_without_tsc(struct gm_clock *clock)
{
	uint64_t now_ns = gm_sealed ? 0 : gm_clock_ns();

	clock->tsc_limit = 0;
	if (now_ns > clock->ns_base)
		clock->ns_base = now_ns;
	return clock->ns_base;
}

/*
 * Returns true if the error is larger than reading two clocks and slewing since the line began
 * explain.
 */
static bool is_implausible(uint64_t error_ns, uint64_t line_ns, uint64_t width_ns)
{
	return error_ns > DOUBT_NS + width_ns + line_ns / DOUBT_SLEW;
}

uint64_t gm_clock_anchor(struct gm_clock *own)
{
	struct gm_clock next = *own, *clock = &next;
	struct reading now;
	uint64_t ticks, end_ns = clock->ns_base, ahead_ns, error_ns;

	if (gm_clock_faults)
		return anchor_without_tsc(own);
	now = read_both();
	ticks = now.tsc - clock->tsc_base;
	if (clock->tsc_limit > 0) {
		end_ns = line_at(clock, clock->tsc_limit);

		/* Long after its end, the line says nothing about the stamps that it gave. */
		if (ticks < 2 * clock->tsc_limit) {
			uint64_t line_ns = line_at(clock, ticks);

			error_ns = line_ns > now.ns ? line_ns - now.ns : now.ns - line_ns;
			if (error_ns > clock->error_ns)
				clock->error_ns = error_ns;
			if (is_implausible(error_ns, line_ns - clock->ns_base,
					   now.width * clock->mult >> GM_CLOCK_SHIFT))
				doubt_begin();
		}
	}
	ahead_ns = end_ns > now.ns ? end_ns - now.ns : 0; /* of the largest stamp given */
	line_measure(clock, now);
	reference_put(now);
	clock->tsc_base = now.tsc;
	clock->ns_base = now.ns + ahead_ns;
	if (ahead_ns > 0 && clock->tsc_limit > 0) {
		/* Run slower, to be right at the end of this line; never backwards. */
		uint64_t length_ns = clock->tsc_limit * clock->mult >> GM_CLOCK_SHIFT;

		clock->mult -=
		    ahead_ns < length_ns ? clock->mult * ahead_ns / length_ns : clock->mult;
	}
	/* A handler may use the clock here: tsc_limit 0 makes an incomplete line invalid. */
	own->tsc_limit = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	own->tsc_base = next.tsc_base;
	own->ns_base = next.ns_base;
	own->mult = next.mult;
	own->error_ns = next.error_ns;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	own->tsc_limit = next.tsc_limit;
	return next.ns_base;
}
