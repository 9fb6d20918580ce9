/* SPDX-License-Identifier: MIT */
/*
 * SIGTRAP: our handler beside the program's.
 *
 * The handler is installed if SIGTRAP has its default action. The functions with which a program
 * changes that are interposed. They show the program what it would see without us, and when it
 * installs a handler, or ignores the signal, no thread begins to be stepped any more. Threads that
 * are being stepped then may still trap, so our handler remains in the kernel, and calls the
 * program's for every other signal; its flags and its mask are the program's.
 *
 * A program that makes the system call itself replaces our handler: threads look before each
 * section.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "access/step/step.h"

#define RESTORER 0x04000000

/* As the kernel has it. */
struct kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static enum { ACTION_NONE, ACTION_OURS, ACTION_PROGRAMS } state;

/* With ACTION_PROGRAMS: what the program has set. */
static struct sigaction programs;
static uint32_t n_stepped; /* threads that may trap */
static step_handler *handle;

static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);

static long kernel_get(struct kernel_action *ret)
{
	return step_syscall(SYS_rt_sigaction, SIGTRAP, 0, (long)ret, sizeof(ret->mask));
}

/* --- installing ------------------------------------------------------------------------------- */

static void find_real(void)
{
	if (real_sigaction == NULL)
		*(void **)&real_sigaction = dlsym(RTLD_NEXT, "sigaction");
}

/* All signals are blocked in the handler, by way of libc, which has the code to return from it. */
static int install(void)
{
	struct sigaction ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};

	sigfillset(&ours.sa_mask);
	return real_sigaction(SIGTRAP, &ours, NULL);
}

void step_signals_prepare(step_handler *handler)
{
	struct kernel_action now;

	handle = handler;
	find_real();
	if (real_sigaction == NULL || kernel_get(&now) != 0 || now.handler != NULL)
		return;
	if (install() == 0)
		state = ACTION_OURS;
}

static unsigned check(void)
{
	struct kernel_action now;
	uint64_t mask;

	/* seq_cst: pairs with set_action(): it sees this thread, or this thread its action */
	if (__atomic_load_n(&state, __ATOMIC_SEQ_CST) != ACTION_OURS || kernel_get(&now) != 0 ||
	    now.handler != handle)
		return ST_STEP_HANDLED;
	if (step_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, sizeof(mask)) != 0)
		return ST_STEP_SEALED;
	return (mask >> (SIGTRAP - 1) & 1) != 0 ? ST_STEP_BLOCKED : 0;
}

unsigned step_signals_begin(void)
{
	unsigned barred;

	__atomic_fetch_add(&n_stepped, 1, __ATOMIC_SEQ_CST);
	barred = check();
	if (barred != 0)
		step_signals_end();
	return barred;
}

void step_signals_end(void)
{
	/* release: the thread does not trap any more */
	__atomic_fetch_sub(&n_stepped, 1, __ATOMIC_RELEASE);
}

/* --- other traps ------------------------------------------------------------------------------ */

/* As without a handler: ends the process, by the signal itself, once this handler returns. */
static void act_by_default(void)
{
	struct kernel_action none = {0};

	step_syscall(SYS_rt_sigaction, SIGTRAP, (long)&none, 0, sizeof(none.mask));
	step_syscall(SYS_tgkill, step_syscall(SYS_getpid, 0, 0, 0, 0),
		     step_syscall(SYS_gettid, 0, 0, 0, 0), SIGTRAP, 0);
}

void step_signal_pass(int signal, siginfo_t *info, void *context)
{
	struct sigaction action = programs;

	/* acquire: pairs with the store in set_action() */
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != ACTION_PROGRAMS ||
	    action.sa_handler == SIG_DFL) {
		act_by_default();
		return;
	}
	if (action.sa_handler == SIG_IGN)
		return;
	if ((action.sa_flags & (int)SA_RESETHAND) != 0)
		programs.sa_handler = SIG_DFL;
	action.sa_sigaction(signal, info, context);
}

/* --- the program's functions ------------------------------------------------------------------ */

/* The program's action, behind our handler as long as a thread may trap. */
static int set_action(const struct sigaction *action)
{
	struct sigaction ours = *action;

	programs = *action;
	programs.sa_flags |= RESTORER; /* libc shows it, too */
	/* seq_cst: pairs with check(); also publishes `programs` to step_signal_pass() */
	__atomic_store_n(&state, ACTION_PROGRAMS, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&n_stepped, __ATOMIC_SEQ_CST) == 0)
		return real_sigaction(SIGTRAP, action, NULL);
	ours.sa_sigaction = handle;
	ours.sa_flags = (int)(((unsigned)action->sa_flags & ~SA_RESETHAND) | SA_SIGINFO);
	return real_sigaction(SIGTRAP, &ours, NULL);
}

static int act_on_trap(const struct sigaction *action, struct sigaction *old)
{
	struct sigaction before;
	int result = 0;

	if (state == ACTION_PROGRAMS)
		before = programs;
	else
		memset(&before, 0, sizeof(before));
	/* The default action needs our handler as before. */
	if (action != NULL && (action->sa_handler != SIG_DFL || state == ACTION_PROGRAMS))
		result = set_action(action);
	if (result == 0 && old != NULL)
		*old = before;
	return result;
}

static int act(int signal, const struct sigaction *action, struct sigaction *old)
{
	find_real();
	if (real_sigaction == NULL) {
		errno = ENOSYS;
		return -1;
	}
	if (signal != SIGTRAP || state == ACTION_NONE)
		return real_sigaction(signal, action, old);
	return act_on_trap(action, old);
}

EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	return act(signal, action, old);
}

EXPORT int __sigaction(int signal, const struct sigaction *action, struct sigaction *old);
EXPORT int __sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	return act(signal, action, old);
}

/* signal() and its kin for SIGTRAP, by way of sigaction(); others as libc does them. */
static __sighandler_t set_handler(int signal, __sighandler_t handler, int flags, const char *name)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
	__sighandler_t (*real)(int, __sighandler_t);

	if (signal != SIGTRAP || state == ACTION_NONE || handler == SIG_ERR) {
		*(void **)&real = dlsym(RTLD_NEXT, name);
		return real != NULL ? real(signal, handler) : SIG_ERR;
	}
	if ((flags & SA_RESTART) != 0)
		sigaddset(&action.sa_mask, signal);
	return act(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

#define SETTER(name, flags)                                                                        \
	EXPORT __sighandler_t name(int signal, __sighandler_t handler);                            \
	EXPORT __sighandler_t name(int signal, __sighandler_t handler)                             \
	{                                                                                          \
		return set_handler(signal, handler, flags, #name);                                 \
	}

SETTER(signal, SA_RESTART)
SETTER(bsd_signal, SA_RESTART)
SETTER(ssignal, SA_RESTART)
SETTER(sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))
SETTER(__sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))
