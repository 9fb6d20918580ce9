/* SPDX-License-Identifier: MIT */
/*
 * Samples: a timer on each thread's CPU clock tells where the thread is, [sample] hz times a
 * second of its CPU time.
 *
 * The program must not notice.  The timer's signal is not SIGPROF, which is the program's to
 * handle, block, wait for or reset to its default (which kills), but number 33, the C library's own
 * for setuid() among threads: sigaction(), sigfillset(), sigprocmask() and sigwait() leave it
 * alone, so no program can block, catch or receive ours.  glibc installs its handler at the first
 * pthread_create(), over ours; we put ours back before it at the next new call or thread, and pass
 * on all that no timer of ours has sent.  glibc's, for its part, ignores what no setuid() has sent,
 * so meanwhile samples are missed and no more.
 *
 * Since Linux 5.10 an expired CPU timer sends its signal on the way back to user mode: a system
 * call that goes to sleep is not woken, and ends with the result that it had.  On older kernels no
 * samples are taken.  exec() drops the timers and what they sent; the child of fork() has none.
 *
 * The handler blocks all signals but those that the kernel forces, as the slow path does, and takes
 * no sample within that.  It counts addresses as mcount counts arcs: in tables of the thread's own,
 * in the same file.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/utsname.h>
#include <ucontext.h>

#include "internal.h"
#include "runtime/seal.h"
#include "runtime/sys.h"

#define SIGNAL	       33 /* SIGRTMIN of the kernel, plus 1: glibc's SIGSETXID */
#define SA_RESTORER    0x04000000
#define SECOND_NS      1000000000u
#define THREAD_CPU(id) ((int)(~(unsigned)(id) << 3 | 6)) /* CPUCLOCK_SCHED, of a thread */

/* The kernel's, not the C library's. */
struct kernel_sigaction {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

void gm_sigreturn(void); /* sigreturn.S */

static enum gm_sample_state state; /* UNASKED: not decided yet */
static bool is_sampler;		   /* and not another copy of this library */
static uint64_t period_ns;
static uint32_t n_timers, n_timers_max;

static struct kernel_sigaction next; /* whose handler ours stands before */
static __thread bool passing_on;

/* What a timer of ours sends along. */
static const char cookie;

/* --- the handler -------------------------------------------------------------------------- */

static struct gm_control *samples_of(struct gm_control *control)
{
	struct gm_control *samples = control->samples;

	if (samples != NULL)
		return samples;
	samples = gm_control_new();
	if (samples == NULL)
		return NULL;
	samples->flags = GM_CALLS_SAMPLES;
	samples->index = control->index;
	samples->tid = control->tid;
	samples->slot = control->slot;
	if (!gm_calls_start(samples)) {
		gm_control_free(samples);
		return NULL;
	}
	/* release: pairs with the acquire in gm_samples_gather() */
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

static void add(struct gm_control *control, uint64_t n_late, uint64_t pc)
{
	struct gm_control *samples = samples_of(control);

	if (samples == NULL) {
		miss_because(control, 1 + n_late, (uint16_t)(gm_arena_why() | GM_LOSS_MEMORY));
		return;
	}
	control->slot->samples_late += (uint32_t)n_late;
	gm_calls_add(samples, 0, pc, 1 + n_late);
}

/*
 * A signal that the kernel forces on the thread, SIGSYS for one, may come in here: its handler may
 * call functions, which find the thread inside, or jump out.  The sample may itself have
 * interrupted gm_calls_miss(), before that blocked signals, or come after a jump out of that: then
 * it is for the next to come there to see.
 */
static void take(struct gm_control *control, uint64_t n_late, const ucontext_t *interrupted)
{
	uint64_t pc = (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP];
	uintptr_t frame = gm_tls.inside.frame;
	uint64_t mask = gm_tls.mask;
	enum gm_entry entry;

	__atomic_store_n(&control->timer.n_seen, control->timer.n_seen + 1 + n_late,
			 __ATOMIC_RELAXED);
	if (gm_tls.state != GM_STATE_NOMINAL && gm_tls.state != GM_STATE_HISTORY)
		return; /* moncontrol(0) */
	/* Busy: by way of a handler that could not be blocked, and that unblocked the signal. */
	if (gm_tls.is_busy || gm_seal_is_set()) {
		miss_because(control, 1 + n_late, GM_LOSS_COUNTING_ONLY);
		return;
	}
	entry = gm_inside_enter(&gm_tls.inside, gm_frame());
	__builtin_memcpy(&gm_tls.mask, &interrupted->uc_sigmask, sizeof(gm_tls.mask));
	__atomic_store_n(&gm_tls.is_busy, true, __ATOMIC_RELAXED);
	add(control, n_late, pc);
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

	/* With two copies of this library in a program each may stand before the other. */
	if (handler == NULL || passing_on)
		return;
	passing_on = true;
	handler(number, info, context);
	passing_on = false;
}

static void handle(int number, siginfo_t *info, void *context)
{
	if (info->si_code != SI_TIMER || info->si_ptr != &cookie)
		pass_on(number, info, context);
	else if (gm_tls.control != NULL && gm_tls.control->timer.on) /* else a late one */
		take(gm_tls.control, info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0,
		     context);
}

static long exchange_handler(const struct kernel_sigaction *new, struct kernel_sigaction *old)
{
	return gm_syscall6(SYS_rt_sigaction, SIGNAL, (long)new, (long)old, sizeof(new->mask), 0, 0);
}

/*
 * Under the lock.  No race with glibc: it installs its handler once, before there is a second
 * thread.
 */
static bool install_handler(void)
{
	static const struct kernel_sigaction ours = {handle, SA_SIGINFO | SA_RESTART | SA_RESTORER,
						     gm_sigreturn, ~GM_SIGNALS_FORCED};
	struct kernel_sigaction old;

	if (next.handler != NULL) /* glibc's was there already, and it installs it only once */
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

/* Whether expired CPU timers wait for the return to user mode. */
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

/* The kernel looks at CPU clocks once a tick: what is asked for beyond would only be missed. */
static uint64_t choose_period(uint64_t hz)
{
	struct timespec tick = {0, 0};
	uint64_t wanted_ns = SECOND_NS / hz;

	gm_syscall3(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, (long)&tick, 0);
	return wanted_ns > (uint64_t)tick.tv_nsec ? wanted_ns : (uint64_t)tick.tv_nsec;
}

/* Each timer takes one of the signals that the user may have queued: leave the program most. */
static uint32_t choose_max_timers(void)
{
	struct rlimit limit;

	if (gm_syscall6(SYS_prlimit64, 0, RLIMIT_SIGPENDING, 0, (long)&limit, 0, 0) != 0)
		return 0;
	return limit.rlim_cur / 4 < UINT32_MAX ? (uint32_t)(limit.rlim_cur / 4) : UINT32_MAX;
}

static void decide(void)
{
	uint64_t hz = gm_process_get()->config.sample_hz;

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
 * Anywhere in the first period of the thread's CPU time, so that threads which are shorter get
 * their share; evenly, by the golden ratio, since thread ids follow each other.
 */
static uint64_t phase_ns(uint32_t tid)
{
	return 1 + ((uint64_t)(tid * 2654435769u) * period_ns >> 32);
}

static int timer_start(struct gm_control *control)
{
	struct gm_timer *timer = &control->timer;
	uint64_t now_ns = gm_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID), n_before = 0;
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
				 .sigev_signo = SIGNAL,
				 .sigev_value.sival_ptr = (void *)&cookie};
	struct itimerspec spec = {
	    .it_interval = {(time_t)(period_ns / SECOND_NS), (long)(period_ns % SECOND_NS)}};
	long code;

	if (__atomic_load_n(&n_timers, __ATOMIC_RELAXED) >= n_timers_max)
		return -EAGAIN;
	event._sigev_un._tid = (int)control->tid;
	code =
	    gm_syscall3(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, (long)&event, (long)&timer->id);
	if (code < 0)
		return (int)code;
	timer->first_ns = phase_ns(control->tid);
	if (now_ns >= timer->first_ns) /* the thread's life before its first call */
		n_before = 1 + (now_ns - timer->first_ns) / period_ns;
	timer->first_ns += n_before * period_ns;
	spec.it_value.tv_sec = (time_t)(timer->first_ns / SECOND_NS);
	spec.it_value.tv_nsec = (long)(timer->first_ns % SECOND_NS);
	code = gm_syscall6(SYS_timer_settime, timer->id, TIMER_ABSTIME, (long)&spec, 0, 0, 0);
	if (code < 0) {
		gm_syscall3(SYS_timer_delete, timer->id, 0, 0);
		return (int)code;
	}
	miss(control, n_before);
	timer->on = true;
	__atomic_fetch_add(&n_timers, 1, __ATOMIC_RELAXED);
	return 0;
}

/*
 * glibc's handler, which stands before ours from the first pthread_create() until we look again,
 * asks for the process id at each tick: a system call that a sealed thread may not make.
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
		decide();
	if (state != GM_SAMPLE_ON)
		return;
	if (is_sampler)
		code = install_handler() ? timer_start(control) : -ENOSYS;
	control->slot->sample_error = (uint16_t)-code;
}

/* Expirations that nobody has met, by the thread's CPU clock: after its last sample. */
static uint64_t unmet(const struct gm_control *control, uint64_t now_ns)
{
	const struct gm_timer *timer = &control->timer;
	uint64_t seen = __atomic_load_n(&timer->n_seen, __ATOMIC_RELAXED), due = 0;

	if (now_ns >= timer->first_ns)
		due = 1 + (now_ns - timer->first_ns) / period_ns;
	return due > seen ? due - seen : 0;
}

void gm_sample_settle(struct gm_control *control)
{
	uint64_t missed;

	if (control->samples != NULL)
		gm_calls_settle(control->samples);
	if (!control->timer.on)
		return;
	missed = unmet(control, gm_sys_clock_ns(THREAD_CPU(control->tid)));
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
	miss(control,
	     unmet(control, gm_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID)) - control->timer.settled);
}

/* How much CPU time it had when it ended is not known. */
void gm_sample_abandon(struct gm_control *control)
{
	if (!control->timer.on)
		return;
	gm_syscall3(SYS_timer_delete, control->timer.id, 0, 0);
	control->timer.on = false;
	__atomic_fetch_sub(&n_timers, 1, __ATOMIC_RELAXED);
}
