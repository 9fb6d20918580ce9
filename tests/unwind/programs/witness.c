/* SPDX-License-Identifier: MIT */
/*
 * A library to preload: stops a program often, and compares the call path that gm_unwind() finds
 * with that of libunwind at each stop.
 *
 * After each tick of the CPU clock it single-steps the thread through WITNESS_STEPS instructions,
 * and compares after each, so that prologues, epilogues and PLT entries are among them. At the end
 * of the process it appends to the file WITNESS_FILE: a line "stops N, equal N, refuted N", how
 * often our paths ended for which reason, and the first paths that differ. libunwind is refuted
 * where it continues with an address that does not follow a call, and ours ends before that with a
 * reason: _Unwind_Resume() replaces return addresses on the stack, and no table describes its last
 * instructions.
 */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <fcntl.h>
#include <libunwind.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/process/loadmap.h"
#include "runtime/unwind/rule.h"
#include "runtime/unwind/unwind.h"

#define FRAMES_MAX 128u
#define SHOWN_MAX  20u
#define TRAP_FLAG  0x100

struct path {
	unsigned n;
	enum gm_unwind_end end;
	uint64_t addresses[FRAMES_MAX];
};

static uint64_t n_stops, n_equal, n_refuted, n_ends[GM_N_ENDS];
static struct {
	struct path ours, theirs;
} shown[SHOWN_MAX];
static unsigned n_shown;
static int steps_per_tick;
static __thread int steps_left;
static __thread struct gm_stack stack;
static char file[4096];

/* The library's own definition looks for the loader's list at our constructor. */
bool gm_module_is_permanent(const struct link_map *module)
{
	return module != NULL && getenv("WITNESS_TRANSIENT") == NULL;
}

static void find_ours(const ucontext_t *context, struct path *ret)
{
	static const uint8_t words[GM_N_REGISTERS] = {
	    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
	    REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	struct gm_registers start = {.interrupted = true, .known = (1u << GM_N_REGISTERS) - 1};

	for (unsigned i = 0; i < GM_N_REGISTERS; i++)
		start.value[i] = (uint64_t)context->uc_mcontext.gregs[words[i]];
	if (stack.end == 0)
		stack = gm_stack_around(start.value[GM_RSP]);
	ret->n = gm_unwind(&start, &stack, ret->addresses, FRAMES_MAX, &ret->end);
}

static void find_theirs(ucontext_t *context, struct path *ret)
{
	unw_cursor_t cursor;
	bool interrupted = true, has_caller;

	ret->n = 0;
	if (unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME) != 0)
		return;
	do {
		unw_word_t ip = 0;

		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) != 0 || ip == 0)
			break;
		ret->addresses[ret->n++] = ip + interrupted;
		has_caller = unw_step(&cursor) > 0;
		/* libunwind says so of the frame that the signal interrupted. */
		interrupted = unw_is_signal_frame(&cursor) > 0;
	} while (ret->n < FRAMES_MAX && has_caller);
}

/* The first `n` addresses of both are equal. */
static uint64_t *verdict_of(const struct path *ours, const struct path *theirs, unsigned n)
{
	if (ours->n == theirs->n)
		return &n_equal;
	if (ours->end != GM_END_OUTERMOST && ours->n == n && !gm_follows_call(theirs->addresses[n]))
		return &n_refuted;
	return NULL;
}

static void compare(ucontext_t *context)
{
	static __thread struct path ours, theirs;
	uint64_t *verdict = NULL;
	unsigned n;

	find_ours(context, &ours);
	find_theirs(context, &theirs);
	n = ours.n < theirs.n ? ours.n : theirs.n;
	__atomic_fetch_add(&n_stops, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&n_ends[ours.end], 1, __ATOMIC_RELAXED);
	if (memcmp(ours.addresses, theirs.addresses, n * sizeof(ours.addresses[0])) == 0)
		verdict = verdict_of(&ours, &theirs, n);
	if (verdict != NULL) {
		__atomic_fetch_add(verdict, 1, __ATOMIC_RELAXED);
		return;
	}
	n = __atomic_fetch_add(&n_shown, 1, __ATOMIC_RELAXED);
	if (n < SHOWN_MAX) {
		shown[n].ours = ours;
		shown[n].theirs = theirs;
	}
}

static void on_step(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)number;
	(void)info;
	compare(interrupted);
	if (--steps_left <= 0)
		interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static void on_tick(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)number;
	(void)info;
	compare(interrupted);
	if (steps_left <= 0 && steps_per_tick > 0) {
		steps_left = steps_per_tick;
		interrupted->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
	}
}

static void print_path(int fd, const char *whose, const struct path *path)
{
	dprintf(fd, "  %s (end %d):\n", whose, (int)path->end);
	for (unsigned i = 0; i < path->n; i++) {
		Dl_info info = {0};

		dladdr((void *)(path->addresses[i] - 1), &info);
		dprintf(fd, "    %2u %#lx %s+%#lx %s\n", i, path->addresses[i],
			info.dli_fname != NULL ? info.dli_fname : "?",
			path->addresses[i] - (uint64_t)info.dli_fbase,
			info.dli_sname != NULL ? info.dli_sname : "");
	}
}

static void set_timer(long us)
{
	struct itimerval timer = {{0, us}, {0, us}};

	setitimer(ITIMER_PROF, &timer, NULL);
}

__attribute__((destructor)) static void end(void)
{
	int fd;

	if (file[0] == '\0')
		return;
	set_timer(0);
	fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	dprintf(fd, "stops %lu, equal %lu, refuted %lu\nends", n_stops, n_equal, n_refuted);
	for (unsigned i = 0; i < GM_N_ENDS; i++)
		dprintf(fd, " %lu", n_ends[i]);
	dprintf(fd, "\n");
	for (unsigned i = 0; i < n_shown && i < SHOWN_MAX; i++) {
		dprintf(fd, "different:\n");
		print_path(fd, "ours", &shown[i].ours);
		print_path(fd, "libunwind's", &shown[i].theirs);
	}
	close(fd);
}

__attribute__((constructor)) static void begin(void)
{
	struct sigaction tick = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction step = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_RESTART};
	const char *name = getenv("WITNESS_FILE"), *steps = getenv("WITNESS_STEPS");

	if (name == NULL || strlen(name) >= sizeof(file))
		return;
	strcpy(file, name);
	steps_per_tick = steps != NULL ? atoi(steps) : 0;
	sigfillset(&tick.sa_mask);
	sigfillset(&step.sa_mask);
	gm_maps_update();
	/* Its cache does not distinguish a return address from an interrupted instruction. */
	unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE);
	sigaction(SIGTRAP, &step, NULL);
	sigaction(SIGPROF, &tick, NULL);
	set_timer(4000);
}
