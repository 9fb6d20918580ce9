/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of prctl() and syscall(), by which a program forbids system calls (seccomp) or reading
 * the TSC (PR_SET_TSC, strict seccomp) in a thread. The next function of that name does the work;
 * the runtime only notes the effect.
 *
 * Not part of libgmon_mt.a: there the program's own C library defines these names.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "runtime/lifecycle/interpose.h"
#include "runtime/stream/clock.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define EXPORTED __attribute__((visibility("default")))

typedef int prctl_fn(int option, unsigned long a, unsigned long b, unsigned long c,
		     unsigned long d);

static prctl_fn *next_prctl;

/* Used by the assembly code below. */
gm_syscall_fn *gm_next_syscall;
__attribute__((weak)) gm_syscall_fn *gm_syscall_futex;

/* Jump targets of the assembly code. */
long gm_syscall_noted(long number, long a, long b, long c, long d, long e);
long gm_syscall_failed(long result);

static void resolve(void)
{
	if (gm_next_syscall != NULL)
		return;
	*(void **)&next_prctl = dlsym(RTLD_NEXT, "prctl");
	*(void **)&gm_next_syscall = dlsym(RTLD_NEXT, "syscall");
}

__attribute__((constructor(101))) static void begin(void)
{
	resolve();
}

/*
 * Seals a thread before the kernel installs its filter, because a signal may arrive right
 * afterwards. Returns whether it was sealed already.
 */
static bool seal_begin(void)
{
	bool before = gm_sealed;

	if (!before)
		gm_sealing(true);
	gm_sealed = true;
	return before;
}

/* `program`: the filter that was installed; NULL: none. */
static void seal_end(bool before, const struct sock_fprog *program, bool of_all)
{
	if (program != NULL && gm_seal_filter(program, of_all))
		return;
	gm_sealed = before;
	if (!before)
		gm_sealing(false);
}

static void set_faults(bool faults)
{
	bool pin = faults && !gm_clock_faults;

	gm_clock_set_faults(faults);
	gm_interposed(pin);
}

/*
 * In strict mode a thread has no system calls and no TSC. It is sealed before the call, since the
 * clock cannot be read afterwards. `is_strict`: the call requests strict mode; a failure undoes the
 * sealing.
 */
struct before {
	bool sealed, faults;
};

static struct before strict_begin(void)
{
	struct before before = {.faults = gm_clock_faults};

	before.sealed = seal_begin();
	set_faults(true);
	return before;
}

static void strict_failed(struct before before)
{
	seal_end(before.sealed, NULL, false);
	set_faults(before.faults);
}

EXPORTED int prctl(int option, ...);

EXPORTED int prctl(int option, ...)
{
	bool is_strict, is_filter, is_tsc = option == PR_SET_TSC, faulted = gm_clock_faults;
	struct before before = {false, false};
	unsigned long a, b, c, d;
	__builtin_va_list list;
	int result;

	__builtin_va_start(list, option);
	a = __builtin_va_arg(list, unsigned long);
	b = __builtin_va_arg(list, unsigned long);
	c = __builtin_va_arg(list, unsigned long);
	d = __builtin_va_arg(list, unsigned long);
	__builtin_va_end(list);
	resolve();
	is_strict = option == PR_SET_SECCOMP && a == SECCOMP_MODE_STRICT;
	is_filter = option == PR_SET_SECCOMP && a == SECCOMP_MODE_FILTER;
	if (is_strict)
		before = strict_begin();
	if (is_filter)
		before.sealed = seal_begin();
	if (is_tsc && a == PR_TSC_SIGSEGV)
		set_faults(true);
	result = next_prctl(option, a, b, c, d);
	if (is_strict && result != 0)
		strict_failed(before);
	if (is_tsc && result != 0)
		set_faults(faulted);
	if (is_tsc && result == 0 && a == PR_TSC_ENABLE)
		set_faults(false);
	if (is_filter) {
		seal_end(before.sealed, result == 0 ? (const struct sock_fprog *)b : NULL, false);
		gm_interposed(false);
	}
	return result;
}

/*
 * With SECCOMP_FILTER_FLAG_TSYNC, a positive result is the id of the thread that prevented the
 * installation, unless it is the descriptor of a listener.
 */
static bool filter_is_in(long result, long flags)
{
	return result == 0 || (result > 0 && ((flags & SECCOMP_FILTER_FLAG_TSYNC) == 0 ||
					      (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0));
}

/* Handles seccomp(), which has no wrapper in the C library, and prctl() called by number. */
__attribute__((used, visibility("hidden"))) long gm_syscall_noted(long number, long a, long b,
								  long c, long d, long e)
{
	bool is_strict = number == SYS_seccomp && a == SECCOMP_SET_MODE_STRICT;
	bool is_filter = number == SYS_seccomp && a == SECCOMP_SET_MODE_FILTER;
	struct before before = {false, false};
	long result;

	resolve();
	if (number == SYS_prctl)
		return prctl((int)a, b, c, d, e);
	if (is_strict)
		before = strict_begin();
	if (is_filter)
		before.sealed = seal_begin();
	result = gm_next_syscall(number, a, b, c, d, e, 0);
	if (is_strict && result != 0)
		strict_failed(before);
	if (is_filter) {
		seal_end(before.sealed,
			 filter_is_in(result, b) ? (const struct sock_fprog *)c : NULL,
			 (b & SECCOMP_FILTER_FLAG_TSYNC) != 0);
		gm_interposed(false);
	}
	return result;
}

/*
 * A jump instead of a call: no frame of ours may be on the stack of a call that returns on another
 * stack (clone), or twice (vfork).
 */
__asm__("	.text\n"
	"	.globl	syscall\n"
	"	.type	syscall, @function\n"
	"syscall:\n"
	"	.cfi_startproc\n"
	"	cmpq	$157, %rdi\n" /* prctl */
	"	je	gm_syscall_noted\n"
	"	cmpq	$317, %rdi\n" /* seccomp */
	"	je	gm_syscall_noted\n"
	"	cmpq	$202, %rdi\n" /* futex */
	"	je	3f\n"
	"	cmpq	$449, %rdi\n" /* futex_waitv */
	"	je	3f\n"
	"0:	movq	gm_next_syscall(%rip), %rax\n"
	"	testq	%rax, %rax\n"
	"	jz	1f\n"
	"	jmp	*%rax\n"
	/* Before our constructor: the same as in the C library. */
	"1:	movq	%rdi, %rax\n"
	"	movq	%rsi, %rdi\n"
	"	movq	%rdx, %rsi\n"
	"	movq	%rcx, %rdx\n"
	"	movq	%r8, %r10\n"
	"	movq	%r9, %r8\n"
	"	movq	8(%rsp), %r9\n"
	"	syscall\n"
	"	cmpq	$-4095, %rax\n"
	"	jae	2f\n"
	"	ret\n"
	"2:	movq	%rax, %rdi\n"
	"	jmp	gm_syscall_failed\n"
	"3:	movq	gm_syscall_futex(%rip), %rax\n"
	"	testq	%rax, %rax\n"
	"	jz	0b\n"
	"	jmp	*%rax\n"
	"	.cfi_endproc\n"
	"	.size	syscall, . - syscall\n");
_Static_assert(SYS_prctl == 157 && SYS_seccomp == 317 && SYS_futex == 202 && GM_FUTEX_WAITV == 449,
	       "the numbers above");

__attribute__((used, visibility("hidden"))) long gm_syscall_failed(long result)
{
	errno = (int)-result;
	return -1;
}
