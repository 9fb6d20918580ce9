/* SPDX-License-Identifier: MIT */
/*
 * steps N START END...: interrupts the recording of a call, and of a return where the code reports
 * it, after each instruction in turn, by the processor's trap flag. The handler calls fh() N times,
 * and forks if N is 1. START and END, ... delimit the instructions to interrupt, as distances from
 * mcount. For each, fb() is called twice; the handler runs in the second call.
 *
 * Prints the number of interrupted instructions.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

#define TRAP_FLAG  0x100
#define RANGES_MAX 8

#define LIBRARY_BYTES 0x20000 /* at least the size of the library */

extern void mcount(void);

static struct range {
	uint64_t start, end;
} ranges[RANGES_MAX];
static int n_ranges, n_calls;
static uint64_t library;
static int position, seen;
static volatile sig_atomic_t slow;

NOINLINE void fh(void)
{
}

NOINLINE void fb(void)
{
}

UNPROFILED static int is_of_interest(uint64_t at)
{
	for (int i = 0; i < n_ranges; i++)
		if (at >= ranges[i].start && at < ranges[i].end)
			return 1;
	return 0;
}

UNPROFILED static void act(void)
{
	pid_t child = n_calls == 1 ? fork() : -1;
	int status;

	if (child == 0)
		_exit(7);
	if (child > 0 && (waitpid(child, &status, 0) != child || status != 7 << 8))
		_exit(1);
	for (int i = 0; i < n_calls; i++)
		fh();
}

/* The slow path blocks signals, including the trap: it is not stepped through. */
UNPROFILED static void trapped(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t at = (uint64_t)registers[REG_RIP];

	if (is_of_interest(at)) {
		if (seen++ == position) {
			registers[REG_EFL] &= ~TRAP_FLAG;
			act();
		}
	} else if (at - library < LIBRARY_BYTES) {
		slow = 1;
		registers[REG_EFL] &= ~TRAP_FLAG;
	}
}

UNPROFILED static void call_fb(long flags)
{
	__asm__ volatile("sub $256, %%rsp\n\t" /* below the red zone */
			 "pushfq\n\t"
			 "orq %0, (%%rsp)\n\t"
			 "popfq\n\t"
			 "call fb\n\t"
			 "pushfq\n\t"
			 "andq %1, (%%rsp)\n\t"
			 "popfq\n\t"
			 "add $256, %%rsp"
			 :
			 : "r"(flags), "i"(~TRAP_FLAG)
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory",
			   "cc");
}

UNPROFILED static void meet(void)
{
	seen = 0;
	slow = 0;
	call_fb(0); /* now the arc is known */
	call_fb(TRAP_FLAG);
}

UNPROFILED int main(int argc, char **argv)
{
	struct sigaction on_trap = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
	Dl_info info;

	n_calls = argc > 1 ? atoi(argv[1]) : 1;
	for (int i = 2; i + 1 < argc && n_ranges < RANGES_MAX; i += 2, n_ranges++) {
		ranges[n_ranges].start = (uint64_t)mcount + (uint64_t)strtol(argv[i], NULL, 0);
		ranges[n_ranges].end = (uint64_t)mcount + (uint64_t)strtol(argv[i + 1], NULL, 0);
	}
	if (dladdr((void *)mcount, &info) == 0)
		return 1;
	library = (uint64_t)info.dli_fbase;
	sigaction(SIGTRAP, &on_trap, NULL);
	for (position = 0; position == 0 || seen >= position; position++) {
		/* The clock may be recalibrated just then, on the slow path. */
		do {
			meet();
		} while (slow && seen <= position);
	}
	printf("%d\n", position - 1);
	return 0;
}
