/* SPDX-License-Identifier: MIT */
/*
 * Samples: a timer on each thread's CPU clock interrupts the thread [sample] hz times per second of
 * its CPU time, and the handler counts the interrupted address.
 *
 * The program must not notice. The timer's signal is not SIGPROF: a program may handle, block or
 * wait for it, or reset it to its default action, which kills. It is number 33, the C library's own
 * signal for setuid() among threads. sigaction(), sigfillset(), sigprocmask() and sigwait() exclude
 * it, so no program can block, catch or receive our signal. glibc installs its handler at the first
 * pthread_create(), over ours; we put ours back in front of it at the next new arc or thread, and
 * pass on every signal that does not come from our timers. glibc's handler ignores signals that no
 * setuid() has sent, so samples are missed in between, and nothing else happens.
 *
 * Since Linux 5.10 an expired CPU timer sends its signal on the return to user mode: a blocked
 * system call is not woken, and its result does not change. On older kernels no samples are taken.
 * exec() drops the timers and their pending signals; the child of fork() has no timers.
 *
 * Like the slow path, the handler blocks all signals except those that the kernel forces, and no
 * sample is taken within the slow path. It counts addresses in the way mcount counts arcs, in
 * separate tables of the thread in the same file; with [sample] stacks = on it also writes the call
 * path to a stream (stacks.c).
 *
 * A thread gets its timer at its first call. With [sample] stacks = on it gets it when it begins
 * ("early"), also in a program without -pg, and its first sample makes what a first call would.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/utsname.h>
#include <ucontext.h>

#include "internal.h"
#include "runtime/files/file.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define SIGNAL	       33 /* SIGRTMIN of the kernel, plus 1: glibc's SIGSETXID */
#define SA_RESTORER    0x04000000
#define SECOND_NS      1000000000u
#define THREAD_CPU(id) ((int)(~(unsigned)(id) << 3 | 6)) /* CPUCLOCK_SCHED, of a thread */

/* The kernel's structure, which differs from the C library's. */
struct kernel_sigaction {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

void gm_sigreturn(void); /* sigreturn.S */

static enum gm_sample_state state; /* UNASKED: not decided yet */
static bool is_sampler;		   /* this copy of the library samples, not another one */
static bool is_early;		   /* threads get a timer when they begin */
static uint64_t period_ns;
static uint32_t n_timers, n_timers_max;

static struct kernel_sigaction next; /* glibc's handler, which ours calls */
static __thread bool passing_on;

/* The value that our timers send along. */
static const char cookie;

/* --- the handler -------------------------------------------------------------------------- */

static struct gm_control *samples_of(struct gm_control *control)
{
	struct gm_control *samples = control->samples;

	if (samples != NULL)
		return samples;
	samples = gm_control_new(&(struct gm_control){.flags = GM_CALLS_SAMPLES,
						      .index = control->index,
						      .tid = control->tid,
						      .slot = control->slot});
	if (samples == NULL)
		return NULL;
	/* release: pairs with the acquire in visit_thread(), histogram.c */
	__atomic_store_n(&control->samples, samples, __ATOMIC_RELEASE);
	return samples;
}

static void miss(const struct gm_control *control, uint64_t n)
{
	__atomic_fetch_add(&control->slot->samples_missed, n, __ATOMIC_RELAXED);
}

static void miss_because(const struct gm_control *control, uint64_t n, uint16_t why)
{
	miss(control, n);
	gm_loss_add(&control->slot->samples_why, &control->slot->stalled, GM_STALLED_SAMPLES, why);
}

static void add(struct gm_control *control, uint64_t n_late, const ucontext_t *interrupted)
{
	struct gm_control *samples = samples_of(control);
	uint64_t pc = (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP], missed;

	if (samples == NULL) {
		miss_because(control, 1 + n_late, gm_calls_why());
		return;
	}
	missed = control->slot->samples_missed;
	gm_calls_add(samples, 0, pc, 1 + n_late);
	/* The stream has no more samples than the table, which may be full. */
	if (control->slot->samples_missed != missed)
		return;
	control->slot->samples_late += (uint32_t)n_late;
	if (gm_process_get()->config.sample_stacks == GM_STACKS_ON)
		gm_stacks_take(control, 1 + n_late, interrupted);
}

/* Makes what a first call would make. Returns NULL if the thread is not sampled, or not now. */
static struct gm_control *control_of_thread(void)
{
	if (gm_tls.control != NULL || gm_process_waits(GM_LIB_CALLS))
		return gm_tls.control;
	if (gm_thread_may_start())
		gm_thread_start(true);
	if (gm_tls.state == GM_STATE_OFF ||
	    (gm_tls.state == GM_STATE_LOST && gm_tls.retry_ns == GM_RETRY_NEVER))
		gm_sample_end_early();
	return gm_tls.control;
}

static bool may_count(void)
{
	switch (gm_tls.state) {
	case GM_STATE_NOMINAL:
	case GM_STATE_HISTORY:
		return true;
	case GM_STATE_NEWBORN:
		return !gm_seal_newborn();
	case GM_STATE_LOST:
		return gm_tls.control == NULL;
	default: /* moncontrol(0) */
		return false;
	}
}

static void see(struct gm_control *control, uint64_t n_late)
{
	__atomic_store_n(&control->timer.n_seen, control->timer.n_seen + 1 + n_late,
			 __ATOMIC_RELAXED);
}

/*
 * A signal that the kernel forces on the thread, such as SIGSYS, may interrupt this function. Its
 * handler may call functions, which find the thread inside, or jump out. The sample itself may have
 * interrupted gm_calls_miss() before that blocked signals, or come after a jump out of it;
 * gm_calls_miss() detects such a jump when it is entered again.
 */
static void take(struct gm_control *control, uint64_t n_late, const ucontext_t *interrupted)
{
	uintptr_t frame = gm_tls.inside.frame;
	uint64_t mask = gm_tls.mask;
	enum gm_entry entry;

	if (control != NULL)
		see(control, n_late);
	if (!may_count())
		return;
	/* Busy: a handler of a forced signal interrupted the slow path and unblocked our signal. */
	if (gm_tls.is_busy || gm_seal_is_set()) {
		if (control != NULL)
			miss_because(control, 1 + n_late, GM_LOSS_COUNTING_ONLY);
		return;
	}
	entry = gm_inside_enter(&gm_tls.inside, gm_frame());
	__builtin_memcpy(&gm_tls.mask, &interrupted->uc_sigmask, sizeof(gm_tls.mask));
	__atomic_store_n(&gm_tls.is_busy, true, __ATOMIC_RELAXED);
	if (control == NULL) {
		control = control_of_thread();
		if (control != NULL)
			see(control, n_late);
	}
	if (control != NULL && gm_tls.state != GM_STATE_PAUSED)
		add(control, n_late, interrupted);
	if (entry == GM_ENTRY_FIRST) {
		gm_calls_leave();
		return;
	}
	__atomic_store_n(&gm_tls.is_busy, false, __ATOMIC_RELAXED);
	gm_tls.mask = mask;
	gm_tls.inside.frame = frame;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	void (*handler)(int, siginfo_t *, void *) =
	    __atomic_load_n(&next.handler, __ATOMIC_ACQUIRE);

	/* Two copies of this library in one program may each be in front of the other. */
	if (handler == NULL || passing_on)
		return;
	passing_on = true;
	handler(number, info, context);
	passing_on = false;
}

static bool is_timed(void)
{
	return gm_tls.control != NULL ? gm_tls.control->timer.on : gm_tls.early.on;
}

static void handle(int number, siginfo_t *info, void *context)
{
	if (info->si_code != SI_TIMER || info->si_ptr != &cookie)
		pass_on(number, info, context);
	else if (is_timed()) /* otherwise it comes late */
		take(gm_tls.control, info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0,
		     context);
}

static long exchange_handler(const struct kernel_sigaction *new, struct kernel_sigaction *old)
{
	return gm_syscall6(SYS_rt_sigaction, SIGNAL, (long)new, (long)old, sizeof(new->mask), 0, 0);
}

/*
 * The caller holds the lock. There is no race with glibc, which installs its handler once, before
 * the second thread exists.
 */
static bool install_handler(void)
{
	static const struct kernel_sigaction ours = {handle, SA_SIGINFO | SA_RESTART | SA_RESTORER,
						     gm_sigreturn, ~GM_SIGNALS_FORCED};
	struct kernel_sigaction old;

	/* glibc's handler was there already, and it is installed only once. */
	if (next.handler != NULL)
		return true;
	if (exchange_handler(NULL, &old) != 0)
		return false;
	if (old.handler == handle)
		return true;
	/* release: pairs with the acquire in pass_on() */
	if ((uint64_t)old.handler > 1) /* neither SIG_DFL nor SIG_IGN */
		__atomic_store_n(&next.handler, old.handler, __ATOMIC_RELEASE);
	return exchange_handler(&ours, NULL) == 0;
}

/* --- the process -------------------------------------------------------------------------- */

/* Returns true if expired CPU timers wait for the return to user mode. */
static bool kernel_is_new_enough(void)
{
	struct utsname kernel;
	const char *rest;
	uint64_t major, minor;

	if (gm_syscall3(SYS_uname, (long)&kernel, 0, 0) != 0)
		return false;
	major = gm_parse_u64(kernel.release, &rest);
	minor = *rest == '.' ? gm_parse_u64(rest + 1, NULL) : 0;
	return major > 5 || (major == 5 && minor >= 10);
}

/* The kernel checks CPU clocks once per tick: samples at a higher rate would only be missed. */
static uint64_t choose_period(uint64_t hz)
{
	struct timespec tick = {0, 0};
	uint64_t wanted_ns = SECOND_NS / hz;

	gm_syscall3(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, (long)&tick, 0);
	return wanted_ns > (uint64_t)tick.tv_nsec ? wanted_ns : (uint64_t)tick.tv_nsec;
}

/*
 * Each timer takes one of the signals that the user may have queued. Three quarters are left to the
 * program.
 */
static uint32_t choose_max_timers(void)
{
	struct rlimit limit;

	if (gm_syscall6(SYS_prlimit64, 0, RLIMIT_SIGPENDING, 0, (long)&limit, 0, 0) != 0)
		return 0;
	return limit.rlim_cur / 4 < UINT32_MAX ? (uint32_t)(limit.rlim_cur / 4) : UINT32_MAX;
}

static void decide(const struct gm_process *process)
{
	uint64_t hz = process->config.sample_hz;

	period_ns = 0;
	if (hz == 0) {
		state = GM_SAMPLE_OFF;
	} else if (!kernel_is_new_enough()) {
		state = GM_SAMPLE_OLD_KERNEL;
	} else {
		state = GM_SAMPLE_ON;
		period_ns = choose_period(hz);
		n_timers_max = choose_max_timers();
	}
	is_sampler = gm_process_set_sampling((uint64_t)&cookie, state, period_ns);
}

uint32_t gm_sample_rate_hz(void)
{
	return period_ns == 0 ? GM_HISTOGRAM_RATE_HZ
			      : (uint32_t)((SECOND_NS + period_ns / 2) / period_ns);
}

void gm_sample_forget(void)
{
	state = GM_SAMPLE_UNASKED;
	n_timers = 0;
	gm_samples_forget();
}

/* --- a thread ----------------------------------------------------------------------------- */

/*
 * Returns a time within the first period of the thread's CPU time, so that threads shorter than a
 * period get their share of samples. The golden ratio spreads it evenly, since thread ids are
 * consecutive.
 */
static uint64_t phase_ns(uint32_t tid)
{
	return 1 + ((uint64_t)(tid * 2654435769u) * period_ns >> 32);
}

static int timer_start(struct gm_timer *timer, uint32_t tid)
{
	uint64_t now_ns = gm_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID), n_before = 0;
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
				 .sigev_signo = SIGNAL,
				 .sigev_value.sival_ptr = (void *)&cookie};
	struct itimerspec spec = {
	    .it_interval = {(time_t)(period_ns / SECOND_NS), (long)(period_ns % SECOND_NS)}};
	long code;

	if (__atomic_load_n(&n_timers, __ATOMIC_RELAXED) >= n_timers_max)
		return -EAGAIN;
	event._sigev_un._tid = (int)tid;
	code =
	    gm_syscall3(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, (long)&event, (long)&timer->id);
	if (code < 0)
		return (int)code;
	timer->first_ns = phase_ns(tid);
	if (now_ns >= timer->first_ns) /* CPU time of the thread before its first call */
		n_before = 1 + (now_ns - timer->first_ns) / period_ns;
	timer->first_ns += n_before * period_ns;
	spec.it_value.tv_sec = (time_t)(timer->first_ns / SECOND_NS);
	spec.it_value.tv_nsec = (long)(timer->first_ns % SECOND_NS);
	code = gm_syscall6(SYS_timer_settime, timer->id, TIMER_ABSTIME, (long)&spec, 0, 0, 0);
	if (code < 0) {
		gm_syscall3(SYS_timer_delete, timer->id, 0, 0);
		return (int)code;
	}
	timer->n_before = n_before;
	timer->n_seen = 0;
	timer->on = true;
	__atomic_fetch_add(&n_timers, 1, __ATOMIC_RELAXED);
	return 0;
}

/*
 * From the first pthread_create() until our next check, glibc's handler is in front of ours. It
 * asks for the process id at each tick: a system call that a sealed thread must not make.
 */
void gm_sample_pause(const struct gm_control *control)
{
	struct itimerspec never = {{0, 0}, {0, 0}};

	if (control->timer.on)
		gm_syscall6(SYS_timer_settime, control->timer.id, 0, (long)&never, 0, 0, 0);
}

void gm_sample_resume(const struct gm_control *control)
{
	const struct gm_timer *timer = &control->timer;
	struct itimerspec spec = {
	    .it_interval = {(time_t)(period_ns / SECOND_NS), (long)(period_ns % SECOND_NS)}};
	uint64_t now_ns = gm_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID), next_ns = timer->first_ns;

	if (!timer->on)
		return;
	if (now_ns >= next_ns)
		next_ns += (1 + (now_ns - next_ns) / period_ns) * period_ns;
	spec.it_value.tv_sec = (time_t)(next_ns / SECOND_NS);
	spec.it_value.tv_nsec = (long)(next_ns % SECOND_NS);
	gm_syscall6(SYS_timer_settime, timer->id, TIMER_ABSTIME, (long)&spec, 0, 0, 0);
}

void gm_sample_keep_handler(void)
{
	uint64_t mask;

	if (next.handler != NULL || state != GM_SAMPLE_ON || !is_sampler || __libc_single_threaded)
		return;
	if (!gm_flush_lock(&mask))
		return;
	install_handler();
	gm_flush_unlock(mask);
}

void gm_sample_start(struct gm_control *control)
{
	int code = -EBUSY;

	if (state == GM_SAMPLE_UNASKED)
		decide(gm_process_get());
	if (state != GM_SAMPLE_ON)
		return;
	if (is_sampler && gm_tls.early.on) {
		control->timer = gm_tls.early;
		gm_tls.early.on = false;
		code = 0;
	} else if (is_sampler) {
		code = install_handler() ? timer_start(&control->timer, control->tid) : -ENOSYS;
	}
	if (code == 0)
		miss(control, control->timer.n_before);
	control->slot->sample_error = (uint16_t)-code;
}

/* Expirations that did not reach the handler, by the thread's CPU clock since its last sample. */
static uint64_t unhandled(const struct gm_timer *timer, uint64_t now_ns)
{
	uint64_t seen = __atomic_load_n(&timer->n_seen, __ATOMIC_RELAXED), due = 0;

	if (now_ns >= timer->first_ns)
		due = 1 + (now_ns - timer->first_ns) / period_ns;
	return due > seen ? due - seen : 0;
}

void gm_sample_settle(struct gm_control *control)
{
	uint64_t missed;

	if (!control->timer.on)
		return;
	missed = unhandled(&control->timer, gm_sys_clock_ns(THREAD_CPU(control->tid)));
	miss(control, missed - control->timer.settled);
	control->timer.settled = missed;
}

void gm_sample_end(struct gm_control *control)
{
	if (!control->timer.on)
		return;
	gm_syscall3(SYS_timer_delete, control->timer.id, 0, 0);
	control->timer.on = false;
	__atomic_fetch_sub(&n_timers, 1, __ATOMIC_RELAXED);
	miss(control, unhandled(&control->timer, gm_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID)) -
			  control->timer.settled);
}

/* --- threads without a call ------------------------------------------------------------------- */

void gm_sample_early(void)
{
	struct gm_thread_slot *slot;
	uint32_t index;
	uint64_t mask;
	int code;

	if (!is_early || gm_tls.state != GM_STATE_NEWBORN || gm_tls.early.on || gm_seal_newborn() ||
	    !gm_flush_lock(&mask))
		return;
	code = install_handler() ? timer_start(&gm_tls.early, (uint32_t)gm_sys_gettid()) : -ENOSYS;
	if (code == 0)
		gm_thread_watch();
	else if (gm_process_get() != NULL && (slot = gm_thread_self(&index)) != NULL)
		slot->sample_error = (uint16_t)-code;
	gm_flush_unlock(mask);
}

void gm_sample_begin(const struct gm_process *process)
{
	uint64_t mask;

	if (process->config.sample_stacks != GM_STACKS_ON ||
	    process->config.calls_mode == GM_CALLS_OFF || !gm_flush_lock(&mask))
		return;
	if (state == GM_SAMPLE_UNASKED)
		decide(process);
	is_early = state == GM_SAMPLE_ON && is_sampler;
	gm_flush_unlock(mask);
	if (is_early)
		gm_thread_watch_begin(GM_LIB_CALLS, gm_sample_early);
	gm_sample_early();
}

void gm_sample_end_early(void)
{
	struct gm_timer *timer = &gm_tls.early;
	struct gm_thread_slot *slot;
	uint64_t missed;
	uint32_t index;

	if (!timer->on)
		return;
	timer->on = false;
	gm_syscall3(SYS_timer_delete, timer->id, 0, 0);
	__atomic_fetch_sub(&n_timers, 1, __ATOMIC_RELAXED);
	missed = timer->n_before + unhandled(timer, gm_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID));
	if (missed == 0)
		return;
	slot = gm_process_get() != NULL ? gm_thread_self(&index) : NULL;
	if (slot != NULL)
		__atomic_fetch_add(&slot->samples_missed, missed, __ATOMIC_RELAXED);
	else
		gm_threads_count_missed(missed);
}

/* The CPU time at the thread's end is unknown. */
bool gm_sample_abandon(struct gm_control *control)
{
	if (!control->timer.on)
		return false;
	gm_syscall3(SYS_timer_delete, control->timer.id, 0, 0);
	control->timer.on = false;
	__atomic_fetch_sub(&n_timers, 1, __ATOMIC_RELAXED);
	return true;
}
