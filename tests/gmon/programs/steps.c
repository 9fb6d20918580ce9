/* SPDX-License-Identifier: MIT */
/*
 * steps ACTION: interrupts the counting of a call after each of its instructions in turn, by the
 * processor's trap flag; the handler performs ACTION:
 *
 *	grow    calls `target` from 1024 new call sites: the thread's table is replaced
 *	fork    forks; the child continues from the handler, finishes `worker` and exits
 *	large   the same with a table of megabytes, by a child and by its child
 *	_Fork   as large, by _Fork(), which runs no handlers
 *	pause   turns counting off and on again
 *	unwind  walks the stack, as an exception or a cancellation does
 *	sample  raises the sample's signal; also after other instructions of the library
 *	jump    raises a signal whose handler jumps out; also in the first of these
 *	call    calls `target`; also after every third of the library's other instructions, in
 *		a handler whose signal is never blocked; no signal is blocked afterwards
 *
 * Each instruction is interrupted in a thread of its own, with an empty table (except for `large`).
 * Prints the number of calls of each function in the parent.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "gmon-mt/format.h"

#define NOINLINE   __attribute__((noinline, noipa))
#define UNPROFILED __attribute__((noinline, noipa, no_instrument_function))

#define TRAP_FLAG    0x100
#define MCOUNT_BYTES 512
#define SIGTIMER     33 /* of the C library; the sampler comes before it */
#define N_LARGE	     65536
#define FIRST_STEPS  250

extern void ENTRY(void); /* mcount or __fentry__ */
extern void moncontrol(int mode);
extern void __cyg_profile_func_enter(void *function, void *site);
extern const char sites[N_LARGE];
__asm__(".text\nsites:\t.skip 262144\n");

static const char *action;
static unsigned long n_target, n_worker;
static int position, seen;
static volatile pid_t child;
static struct gm_threads_header header; /* of the capture */
static bool is_everywhere;		/* the action also runs outside mcount */
static bool is_large, is_bare;
static sigjmp_buf back;

NOINLINE void target(void)
{
	n_target++;
}

NOINLINE void worker(void)
{
	n_worker++;
}

#define SITE	  target();
#define SITES_4	  SITE SITE SITE SITE
#define SITES_16  SITES_4 SITES_4 SITES_4 SITES_4
#define SITES_64  SITES_16 SITES_16 SITES_16 SITES_16
#define SITES_256 SITES_64 SITES_64 SITES_64 SITES_64

UNPROFILED static void call_worker(long flags);

UNPROFILED static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *data)
{
	void *function = _Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(context));
	int *found = data;

	if (function == (void *)worker && *found == 0)
		*found = 1;
	else if (*found == 1)
		*found = function == (void *)call_worker ? 2 : 3;
	/* Stops here: call_worker moves its stack pointer without unwind information. */
	return *found >= 2 ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

UNPROFILED static void unwind(void)
{
	int found = 0;

	_Unwind_Backtrace(visit, &found);
	if (found != 2) {
		printf("no unwinding from instruction %d to worker and its caller\n", position);
		exit(1);
	}
}

/* The signal that the kernel sends when a timer of the library expires. */
UNPROFILED static void sample(void)
{
	siginfo_t expired = {.si_signo = SIGTIMER, .si_code = SI_TIMER};

	expired.si_ptr = (void *)header.sampler;
	syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGTIMER, &expired);
}

UNPROFILED static void read_header(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "gprof-mt.data/%d/threads", (int)getpid());
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, &header, sizeof(header)) != sizeof(header) || header.sampler == 0) {
		printf("no sampler in %s\n", path);
		exit(1);
	}
	close(fd);
}

/* Runs in the child; the child's own child returns. */
UNPROFILED static void fork_again(void)
{
	int status = 0;
	pid_t own;

	worker();
	own = is_bare ? _Fork() : fork();
	if (own == 0)
		return;
	waitpid(own, &status, 0);
	_exit(status == 3 << 8 ? 3 : 4);
}

UNPROFILED static void fill(void)
{
	for (int i = 0; i < N_LARGE; i++)
		__cyg_profile_func_enter((void *)target, (void *)(sites + i));
	n_target += N_LARGE;
}

UNPROFILED static void jump(int number)
{
	siglongjmp(back, number);
}

/* The thread continues to record. */
UNPROFILED static void *run_jump(void *unused)
{
	target(); /* now the thread is registered */
	seen = 0;
	if (sigsetjmp(back, 1) == 0)
		call_worker(TRAP_FLAG);
	target();
	target();
	return unused;
}

UNPROFILED static void *run_call(void *unused)
{
	sigset_t before = {0}, after = {0};

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	target();
	seen = 0;
	call_worker(TRAP_FLAG);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	if (memcmp(&before, &after, sizeof(before)) != 0) {
		printf("expected no blocked signals after instruction %d\n", position);
		exit(1);
	}
	return unused;
}

UNPROFILED static void act(void)
{
	if (strcmp(action, "grow") == 0) {
		SITES_256 SITES_256 SITES_256 SITES_256
	} else if (strcmp(action, "fork") == 0) {
		child = fork();
	} else if (is_large) {
		child = is_bare ? _Fork() : fork();
		if (child == 0)
			fork_again();
	} else if (strcmp(action, "unwind") == 0) {
		unwind();
	} else if (strcmp(action, "jump") == 0) {
		syscall(SYS_tgkill, getpid(), gettid(), SIGALRM);
	} else if (strcmp(action, "call") == 0) {
		target();
	} else {
		moncontrol(0);
		moncontrol(1);
	}
}

UNPROFILED static void trapped(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t at = (uint64_t)registers[REG_RIP] - (uint64_t)ENTRY;

	if (strcmp(action, "sample") == 0) {
		if (at < MCOUNT_BYTES)
			seen++;
		if (seen > position)
			sample();
	} else if ((at < MCOUNT_BYTES || is_everywhere) && seen++ == position) {
		registers[REG_EFL] &= ~TRAP_FLAG;
		act();
	}
}

/* The only call site of `worker`: with `flags` = TRAP_FLAG, one trap per instruction. */
UNPROFILED static void call_worker(long flags)
{
	__asm__ volatile("sub $256, %%rsp\n\t" /* below the red zone */
			 "pushfq\n\t"
			 "orq %0, (%%rsp)\n\t"
			 "popfq\n\t"
			 "call worker\n\t"
			 "pushfq\n\t"
			 "andq %1, (%%rsp)\n\t"
			 "popfq\n\t"
			 "add $256, %%rsp"
			 :
			 : "r"(flags), "i"(~TRAP_FLAG)
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory",
			   "cc");
}

UNPROFILED static void *run(void *unused)
{
	child = -1;
	seen = 0;
	if (strcmp(action, "sample") == 0)
		target(); /* now the thread is registered */
	else
		call_worker(0); /* and the arc too */
	call_worker(TRAP_FLAG);
	if (child == 0)
		_exit(3);
	return unused;
}

UNPROFILED int main(int argc, char **argv)
{
	struct sigaction on_trap = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
	void *(*run_thread)(void *) = run;
	pthread_t thread;
	int stride;

	action = argc > 1 ? argv[1] : "grow";
	is_bare = strcmp(action, "_Fork") == 0;
	is_large = is_bare || strcmp(action, "large") == 0;
	sigaction(SIGTRAP, &on_trap, NULL);
	signal(SIGALRM, jump);
	if (strcmp(action, "jump") == 0)
		run_thread = run_jump;
	else if (strcmp(action, "call") == 0)
		run_thread = run_call;
	is_everywhere = run_thread != run;
	stride = run_thread == run_call ? 3 : 1;
	if (strcmp(action, "sample") == 0) {
		call_worker(0);
		read_header();
	}
	if (is_large)
		fill();
	for (; position == 0 || seen > position - stride; position += stride) {
		if (run_thread == run_jump && position > FIRST_STEPS)
			break;
		int status = 3 << 8;

		if (is_large) {
			run(NULL);
		} else {
			pthread_create(&thread, NULL, run_thread, NULL);
			pthread_join(thread, NULL);
		}
		if (child > 0 && waitpid(child, &status, 0) == child && status != 3 << 8) {
			printf("the child forked at instruction %d has status %#x\n", position,
			       (unsigned)status);
			return 1;
		}
	}
	if (n_target > 0)
		printf("target %lu\n", n_target);
	if (strcmp(action, "jump") != 0) /* all calls but one are counted and do not return */
		printf("worker %lu\n", n_worker);
	fprintf(stderr, "%d instructions\n", position - 1);
	return 0;
}
