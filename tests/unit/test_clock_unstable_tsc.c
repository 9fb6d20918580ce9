/* SPDX-License-Identifier: MIT */
/*
 * Runs the libraries' clock on a simulated machine with an unstable TSC: it jumps forward or back,
 * changes its frequency, or differs between CPUs. Time stamps never go back, they are wrong for no
 * longer than documented (clock.h), and the clock uses the TSC again once it is stable.
 *
 * Under a hypervisor's clock source, the TSC is used if the vDSO needs no system call, and else
 * not.
 *
 * clock.c is compiled into this program; the simulation provides RDTSC and the vDSO function. Each
 * reading advances the time; between readings it advances as the case defines: at random, with a
 * fixed seed.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sys/sys.h"

static uint64_t simulated_tsc(void);
static long simulated_call(long number, long a, long b, long c);
#define __builtin_ia32_rdtsc simulated_tsc
#define gm_syscall3	     simulated_call
#include "../../libgmon-mt/runtime/stream/clock.c" /* NOLINT(bugprone-suspicious-include) */

#define TSC_READ_NS    8
#define KERNEL_READ_NS 25
#define CALL_NS	       80
#define SECOND	       1000000000u
#define DISTURBED_NS   (2ull * SECOND)
#define END_NS	       (25ull * SECOND)

static struct {
	uint64_t ns;  /* the true time */
	double ticks; /* of the TSC */
	double per_ns;
	double other_cpu; /* lead of the other CPU's TSC, in ticks */
	bool on_other;
	bool vdso_calls; /* the vDSO's function makes a system call */
	uint64_t n_tsc, n_kernel;
} machine;

static void pass(uint64_t ns)
{
	machine.ns += ns;
	machine.ticks += (double)ns * machine.per_ns;
}

static uint64_t simulated_tsc(void)
{
	pass(TSC_READ_NS);
	machine.n_tsc++;
	return (uint64_t)(int64_t)(machine.ticks + (machine.on_other ? machine.other_cpu : 0));
}

static long simulated_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	pass(KERNEL_READ_NS + (machine.vdso_calls ? CALL_NS : 0));
	machine.n_kernel++;
	ret->tv_sec = (time_t)(machine.ns / SECOND);
	ret->tv_nsec = (long)(machine.ns % SECOND);
	return 0;
}

/* prctl(PR_GET_TSC): the TSC may be read. */
static long simulated_call(long number, long a, long b, long c)
{
	pass(CALL_NS);
	if (number != SYS_prctl || a != PR_GET_TSC || c != 0) {
		printf("unexpected system call %ld\n", number);
		exit(1);
	}
	*(int *)b = PR_TSC_ENABLE; /* NOLINT(performance-no-int-to-ptr) */
	return 0;
}

/* Functions and variables of other files that clock.c uses. */
__thread bool gm_sealed __attribute__((tls_model("initial-exec")));

void *gm_vdso_function(const char *name)
{
	return strcmp(name, "__vdso_clock_gettime") == 0 ? (void *)simulated_gettime : NULL;
}

uint64_t gm_clock_ns(void)
{
	struct timespec now;

	simulated_gettime(CLOCK_MONOTONIC, &now);
	return machine.ns;
}

static const char *source = "tsc\n";

long gm_files_read(const char *path, void *buffer, size_t n)
{
	size_t length = strlen(source);

	(void)path;
	length = length < n ? length : n;
	memcpy(buffer, source, length);
	return (long)length;
}

/* --- the cases ------------------------------------------------------------------------------ */

static void disturb_nothing(void)
{
}

static void disturb_jump_forward(void)
{
	machine.ticks += 10.0 * SECOND * machine.per_ns;
}

static void disturb_jump_little(void)
{
	machine.ticks += 3e6 * machine.per_ns; /* 3 ms: less than the length of a line */
}

static void disturb_jump_back(void)
{
	machine.ticks -= 2.0 * SECOND * machine.per_ns;
}

static void disturb_halve(void)
{
	machine.per_ns /= 2;
}

static void disturb_double(void)
{
	machine.per_ns *= 2;
}

static void disturb_tenth(void)
{
	machine.per_ns /= 10;
}

/* For 30 ms of every 60 ms the thread reads the TSC of the other CPU. */
static void disturb_differ(void)
{
	machine.other_cpu = 1e6 * machine.per_ns;
}

static const struct disturbance {
	const char *name;
	void (*begin)(void);
	uint64_t lasts_ns;     /* 0: instantaneous */
	uint64_t wrong_max_ns; /* total time with stamps that are wrong by more than OFF_NS */
} disturbances[] = {
    {"none", disturb_nothing, 0, 0},
    {"jump forward", disturb_jump_forward, 0, LINE_MAX_NS},
    {"jump of 3 ms", disturb_jump_little, 0, LINE_MAX_NS},
    {"jump back", disturb_jump_back, 0, LINE_MAX_NS},
    {"frequency halved", disturb_halve, 0, 3 * LINE_MAX_NS},
    {"frequency doubled", disturb_double, 0, 3 * LINE_MAX_NS},
    {"a tenth of it", disturb_tenth, 0, 11 * LINE_MAX_NS},
    {"CPUs differ", disturb_differ, 4ull * SECOND, 8 * LINE_MAX_NS},
};

#define OFF_NS 2500

static uint64_t random_below(uint64_t n)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

static void clock_reset(void)
{
	doubt = sequence = 0;
	next_doubt = AGREEMENTS;
	older = newer = (struct reading){0, 0, 0};
	trusted_mult = 0;
	memset(&machine, 0, sizeof(machine));
	machine.per_ns = 2.1;
	machine.ns = 1000 * (uint64_t)SECOND;
	machine.ticks = 5e12;
	gm_clock_init();
}

static int run(const struct disturbance *d, uint64_t gap_ns)
{
	struct gm_clock clock = {0};
	uint64_t begin, last = 0, before_ns, wrong_ns = 0, worst_ns = 0, n = 0, n_back = 0;
	uint64_t last_wrong_ns = 0, kernel_in_the_end = 0, n_in_the_end = 0;
	bool disturbed = false, over = false;
	int bad = 0;

	clock_reset();
	begin = machine.ns;
	before_ns = begin;
	while (machine.ns - begin < END_NS) {
		uint64_t stamp, at, off, asked = machine.n_kernel;

		pass(random_below(2 * gap_ns));
		at = machine.ns - begin;
		if (!disturbed && at > DISTURBED_NS) {
			d->begin();
			disturbed = true;
		}
		if (disturbed && !over && d->lasts_ns > 0 && at > DISTURBED_NS + d->lasts_ns) {
			machine.other_cpu = 0;
			over = true;
		}
		machine.on_other = (at / 30000000) % 2 != 0;
		stamp = gm_clock_read(&clock);
		off = stamp > machine.ns ? stamp - machine.ns : machine.ns - stamp;
		if (off > OFF_NS) {
			wrong_ns += machine.ns - before_ns;
			last_wrong_ns = at;
		}
		worst_ns = off > worst_ns ? off : worst_ns;
		n_back += stamp < last;
		last = stamp;
		before_ns = machine.ns;
		n++;
		if (at > END_NS - 2ull * SECOND) {
			n_in_the_end++;
			kernel_in_the_end += machine.n_kernel - asked;
		}
	}
	printf("%-18s %7" PRIu64 " ns apart: %9" PRIu64 " stamps, %" PRIu64
	       " went back, worst %.3f ms, off for %.3f ms, last %.3f s in, in the end %.4f"
	       " questions to the kernel a stamp\n",
	       d->name, gap_ns, n, n_back, (double)worst_ns / 1e6, (double)wrong_ns / 1e6,
	       (double)last_wrong_ns / 1e9, (double)kernel_in_the_end / (double)n_in_the_end);
	bad += n_back > 0;
	bad += wrong_ns > d->wrong_max_ns + (d->wrong_max_ns > 0 ? 2 * gap_ns : 0);
	/* The clock uses the TSC again. */
	if (gap_ns < 10000)
		bad += kernel_in_the_end * 10 > n_in_the_end;
	return bad;
}

/* Which clock sources make the clock use the TSC. */
static int check_sources(void)
{
	static const struct {
		const char *source;
		bool vdso_calls, uses_tsc;
	} cases[] = {
	    {"tsc\n", false, true},
	    {"kvm-clock\n", false, true},
	    {"kvm-clock\n", true, false},
	    {"hyperv_clocksource_tsc_page\n", false, true},
	    {"hyperv_clocksource_tsc_page\n", true, false},
	    {"hyperv_clocksource_msr\n", false, false},
	    {"hpet\n", false, false},
	    {"", false, false},
	};
	int bad = 0;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gm_clock clock = {0};
		uint64_t n = 10000, asked;

		source = cases[i].source;
		clock_reset();
		machine.vdso_calls = cases[i].vdso_calls;
		gm_clock_init();
		asked = machine.n_kernel;
		for (uint64_t k = 0; k < n; k++) {
			pass(1000);
			gm_clock_read(&clock);
		}
		asked = machine.n_kernel - asked;
		printf("%-30.*s vDSO %s: %" PRIu64 " questions to the kernel for %" PRIu64
		       " stamps\n",
		       (int)strcspn(source, "\n"), source, machine.vdso_calls ? "calls" : "reads",
		       asked, n);
		if ((asked < n / 10) != cases[i].uses_tsc) {
			printf("FAIL: %s\n", source);
			bad++;
		}
	}
	source = "tsc\n";
	return bad;
}

int main(void)
{
	static const uint64_t gaps_ns[] = {1000, 5000, 200000, 30000000};
	int bad;

	if (!tsc_is_invariant()) {
		puts("this machine's TSC is not invariant: the clock would not use it");
		return 77;
	}
	bad = check_sources();
	for (unsigned i = 0; i < sizeof(disturbances) / sizeof(disturbances[0]); i++)
		for (unsigned k = 0; k < sizeof(gaps_ns) / sizeof(gaps_ns[0]); k++)
			if (run(&disturbances[i], gaps_ns[k]) > 0) {
				printf("FAIL: %s, %" PRIu64 " ns apart\n", disturbances[i].name,
				       gaps_ns[k]);
				bad++;
			}
	return bad > 0;
}
