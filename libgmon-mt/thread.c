/* SPDX-License-Identifier: MIT */
/*
 * A thread's life as this library sees it: newborn until its first counted call, nominal, ending.
 *
 * The end is noticed by a pthread key's destructor in its last round (runtime.h), which covers
 * return, pthread_exit and cancellation, detached or not.  Destructors of other keys and handlers
 * of signals may still call profiled functions: so the thread's tables stay until the kernel no
 * longer knows its id, which the next threads to end look for, and then the process.  Threads that
 * are still running when that ends, or that pthreads knows nothing of, are met by the walk over the
 * thread table.
 *
 * Control blocks are pooled: bounded by the number of threads at once, never by how many there
 * were.
 */
#include <errno.h>
#include <pthread.h>

#include "internal.h"
#include "runtime/futex.h"

#define POOL_BYTES     65536u
#define ENDING_CHECKED 4u /* by each thread that ends: more than come */

static uint32_t flush_locked;
static struct gm_control *free_controls;

/* Threads whose end was noticed, in its order, linked by next_free. */
static struct gm_control *ending, **ending_last = &ending;

/* In the memory of the views: zeros in the child of a fork. */
static struct alive {
	uint32_t lock;
	uint32_t is_known; /* 0: a child, and nobody has noticed yet */
} * alive;

static bool watched;
static bool paused; /* changed under the lock */

void gm_flush_lock(uint64_t *ret_mask)
{
	gm_signals_block(ret_mask);
	gm_futex_lock(&flush_locked);
}

void gm_flush_unlock(uint64_t mask)
{
	gm_futex_unlock(&flush_locked);
	gm_signals_restore(mask);
}

/* A pool of control blocks and one of their views; under the lock. */
static void pool_new(void)
{
	const unsigned n = POOL_BYTES / sizeof(struct gm_control);
	const size_t view_bytes = (n + 2) * sizeof(struct gm_view);
	struct gm_control *pool = gm_sys_mmap(POOL_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gm_view *views = gm_sys_mmap(view_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pool == NULL || views == NULL)
		return;
	/* Before Linux 4.14 there is none, and only fork() is noticed, by its handler. */
	gm_syscall3(SYS_madvise, (long)views, (long)view_bytes, MADV_WIPEONFORK);
	for (unsigned i = 0; i < n; i++) {
		pool[i].view = &views[i];
		pool[i].next_free = free_controls;
		free_controls = &pool[i];
	}
	if (alive == NULL) {
		struct alive *made = (struct alive *)&views[n + 1];

		made->is_known = 1;
		/* release: other first threads look without the lock, and 0 would be a fork */
		__atomic_store_n(&alive, made, __ATOMIC_RELEASE);
	}
}

struct gm_control *gm_control_new(void)
{
	struct gm_control *control;
	uint64_t mask;

	gm_flush_lock(&mask);
	if (free_controls == NULL)
		pool_new();
	control = free_controls;
	if (control != NULL)
		free_controls = control->next_free;
	gm_flush_unlock(mask);
	if (control != NULL)
		*control = (struct gm_control){.view = control->view};
	return control;
}

static void free_locked(struct gm_control *control)
{
	control->next_free = free_controls;
	free_controls = control;
}

void gm_control_free(struct gm_control *control)
{
	uint64_t mask;

	gm_flush_lock(&mask);
	free_locked(control);
	gm_flush_unlock(mask);
}

static void thread_ended(void *arg);

/* From the first thread that counts, which may come before our constructor. */
static void watch_begin(void)
{
	uint64_t mask;

	gm_flush_lock(&mask);
	if (!watched)
		watched = gm_thread_watch_init(thread_ended) == 0;
	gm_flush_unlock(mask);
}

/* Points the thread's mcount to where it is to look; under the lock. */
static void aim(struct gm_control *control)
{
	struct gm_tls *tls = control->tls;
	bool counts;

	if (control->is_ending) /* its thread-local storage may be gone */
		return;
	/* In whatever order its thread sees them: a miss asks for the state. */
	if (paused)
		tls->state = GM_STATE_PAUSED;
	else
		tls->state = tls->history != NULL ? GM_STATE_HISTORY : GM_STATE_NOMINAL;
	counts = tls->state == GM_STATE_NOMINAL && !control->shares_tls;
	tls->view = counts ? control->view : &gm_no_view;
}

/* Lets the walk, moncontrol() and the end of the thread find it. */
static void publish(struct gm_control *control)
{
	uint64_t mask;

	gm_flush_lock(&mask);
	gm_tls.control = control;
	if (gm_process_get()->config.calls_mode == GM_CALLS_HISTORY && gm_history_start(control))
		gm_tls.history = control->history;
	aim(control);
	control->slot->local[GM_LIB_CALLS] = (uint64_t)control;
	gm_started = true;
	gm_sample_start(control);
	gm_flush_unlock(mask);
	gm_thread_watch(control);
}

/* Gives it what counting needs.  False: it cannot be, see why_lost. */
static bool equip(struct gm_control *control)
{
	control->slot = gm_thread_self(&control->index);
	gm_tls.slot = control->slot;
	if (control->slot == NULL) {
		gm_tls.why_lost = gm_threads_why();
		return false;
	}
	/* Taken already: by another copy of this library, linked into the program or preloaded. */
	if (control->slot->local[GM_LIB_CALLS] != 0) {
		gm_tls.why_lost = GM_LOSS_SECOND_COPY;
		return false;
	}
	if (gm_calls_start(control))
		return true;
	gm_tls.why_lost = gm_arena_why() | GM_LOSS_MEMORY;
	return false;
}

void gm_thread_start(void)
{
	const struct gm_process *process = gm_process_open();
	struct gm_control *control;

	if (process == NULL || process->config.calls_mode == GM_CALLS_OFF) {
		gm_tls.state = GM_STATE_OFF;
		return;
	}
	gm_tls.state = GM_STATE_LOST;
	gm_tls.why_lost = GM_LOSS_MEMORY;
	watch_begin();
	control = gm_control_new();
	if (control == NULL)
		return;
	control->tls = &gm_tls;
	control->tid = (uint32_t)gm_sys_gettid();
	if (equip(control))
		publish(control);
	else
		gm_control_free(control);
}

/* Of a task that shares the calling thread's thread-local storage: found by its id each time. */
static struct gm_control *control_of_task(uint32_t tid)
{
	uint32_t index = 0;
	struct gm_thread_slot *slot = gm_thread_self(&index);
	struct gm_control *control;
	uint64_t mask;

	if (slot == NULL || slot->local[GM_LIB_CALLS] != 0)
		return slot == NULL ? NULL : (struct gm_control *)slot->local[GM_LIB_CALLS];
	control = gm_control_new();
	if (control == NULL)
		return NULL;
	control->tls = &gm_tls;
	control->shares_tls = true;
	control->slot = slot;
	control->index = index;
	control->tid = tid;
	slot->sample_error = EOPNOTSUPP; /* its handler would take the other's control block */
	if (!gm_calls_start(control)) {
		gm_control_free(control);
		return NULL;
	}
	gm_flush_lock(&mask);
	slot->local[GM_LIB_CALLS] = (uint64_t)control;
	gm_flush_unlock(mask);
	return control;
}

struct gm_control *gm_thread_control(void)
{
	struct gm_control *control = gm_tls.control;
	uint32_t tid = (uint32_t)gm_sys_gettid();
	uint64_t mask;

	/* The child of vfork(), another process in our memory, counts as its parent. */
	if (tid == control->tid || gm_sys_getpid() != gm_process_get()->pid)
		return control;
	/* From now on neither finds anything, and both come here. */
	gm_flush_lock(&mask);
	control->shares_tls = true;
	gm_tls.view = &gm_no_view;
	gm_flush_unlock(mask);
	return control_of_task(tid);
}

bool gm_thread_counts(void)
{
	if (gm_tls.state != GM_STATE_NOMINAL && gm_tls.state != GM_STATE_HISTORY)
		return false;
	return !gm_tls.control->is_ending || !paused;
}

/* The thread is no more, or calls nothing that is to be kept. */
static void finish(struct gm_control *control)
{
	gm_history_end(control);
	gm_gmon_thread(control, true);
	control->slot->local[GM_LIB_CALLS] = 0;
	gm_calls_end(control);
	if (control->samples != NULL) {
		gm_calls_end(control->samples);
		free_locked(control->samples);
	}
	free_locked(control);
}

/* Ids mean the same in the process itself alone: not in a child of vfork() that has others. */
static bool is_gone(const struct gm_control *control)
{
	int pid = gm_process_get()->pid;

	return gm_sys_getpid() == pid &&
	       gm_syscall3(SYS_tgkill, pid, (long)control->tid, 0) == -ESRCH;
}

static void ending_add(struct gm_control *control)
{
	control->next_free = NULL;
	*ending_last = control;
	ending_last = &control->next_free;
}

/* Looks at so many of the ending threads; those that are not gone are the last to be asked next. */
static void ending_check(unsigned n)
{
	while (ending != NULL && n-- > 0) {
		struct gm_control *control = ending;

		ending = control->next_free;
		if (ending == NULL)
			ending_last = &ending;
		if (is_gone(control))
			finish(control);
		else
			ending_add(control);
	}
}

void gm_threads_finish(void)
{
	unsigned n = 0;

	for (const struct gm_control *control = ending; control != NULL;
	     control = control->next_free)
		n++;
	ending_check(n);
}

/* From here on its calls go the long way. */
static void linger(struct gm_control *control)
{
	control->is_ending = true;
	gm_tls.state = gm_tls.history != NULL ? GM_STATE_HISTORY : GM_STATE_NOMINAL;
	gm_tls.view = &gm_no_view;
	gm_history_linger(control);
	ending_add(control);
}

/* In the ending thread, last of its destructors. */
static void thread_ended(void *arg)
{
	struct gm_control *control = arg;
	uint64_t mask;

	gm_threads_check_fork();
	gm_flush_lock(&mask);
	if (gm_tls.control == control && !control->is_ending) {
		gm_sample_end(control);
		gm_thread_end(control->slot);
		ending_check(ENDING_CHECKED);
		if (gm_calls_are_kept(control)) {
			gm_gmon_thread(control, false);
			linger(control);
		} else {
			gm_tls = (struct gm_tls){.state = GM_STATE_LOST,
						 .why_lost = gm_arena_why(),
						 .view = &gm_no_view,
						 .slot = control->slot};
			finish(control);
		}
	}
	gm_flush_unlock(mask);
}

void gm_threads_pause(bool pause)
{
	uint32_t n;
	uint64_t mask;

	gm_threads_check_fork();
	n = gm_threads_count();
	gm_flush_lock(&mask);
	paused = pause;
	for (uint32_t i = 0; i < n; i++) {
		struct gm_control *control = gm_control_at(i);

		if (control != NULL)
			aim(control);
	}
	gm_flush_unlock(mask);
}

struct gm_control *gm_control_at(uint32_t index)
{
	struct gm_thread_slot *slot = gm_thread_at(index);

	return slot == NULL ? NULL
			    : (struct gm_control *)__atomic_load_n(&slot->local[GM_LIB_CALLS],
								   __ATOMIC_ACQUIRE);
}

/*
 * The child of fork() has one thread and starts at zero.  What other threads of the parent were at
 * when it was made is unknown, so their blocks are memory that nobody uses again.
 */
static void process_begin_anew(void)
{
	flush_locked = 0;
	free_controls = NULL;
	ending = NULL;
	ending_last = &ending;
	gm_arena_forget();
	gm_history_forget(gm_tls.control);
	gm_gmon_forget();
	gm_sample_forget();
	gm_process_forked();
}

static void thread_begin_anew(void)
{
	gm_tls.history = NULL;
	gm_tls.view = &gm_no_view;
	gm_tls.control = NULL;
	gm_tls.slot = NULL;
	if (gm_tls.state != GM_STATE_OFF)
		gm_tls.state = GM_STATE_NEWBORN;
}

/* The fork handler. */
static void forked(void)
{
	process_begin_anew();
	thread_begin_anew();
	if (alive != NULL)
		alive->is_known = 1;
}

void gm_threads_check_fork(void)
{
	uint64_t mask;

	/* acquire: pairs with the release in pool_new() */
	if (__atomic_load_n(&alive, __ATOMIC_ACQUIRE) == NULL)
		return;
	/* acquire: pairs with the release below, of another thread of the child */
	if (__atomic_load_n(&alive->is_known, __ATOMIC_ACQUIRE) == 0) {
		gm_signals_block(&mask);
		gm_futex_lock(&alive->lock);
		if (alive->is_known == 0) {
			process_begin_anew();
			thread_begin_anew();
		}
		__atomic_store_n(&alive->is_known, 1, __ATOMIC_RELEASE);
		gm_futex_unlock(&alive->lock);
		gm_signals_restore(mask);
	}
	/* This thread had a table before the fork, which another may have noticed. */
	if (gm_tls.control != NULL && gm_tls.control->view->slot_mask == 0)
		thread_begin_anew();
}

void gm_threads_init(void)
{
	pthread_atfork(NULL, NULL, forked);
	watch_begin();
}
