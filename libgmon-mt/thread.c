/* SPDX-License-Identifier: MIT */
/*
 * The life of a thread as this library sees it: newborn until its first counted call, nominal,
 * ending.
 *
 * The end is noticed by a pthread key's destructor in its last round (threads.h). This covers
 * return, pthread_exit() and cancellation, of joinable and detached threads. Destructors of other
 * keys and signal handlers may still call profiled functions, so the thread's tables stay until the
 * kernel no longer knows its id; the next threads that start check this, and finally the end of the
 * process. The walk over the thread table finds the threads that still run when the process ends,
 * and those that pthreads does not know.
 *
 * Control blocks are pooled: their number is bounded by the number of threads that live at the same
 * time.
 */
#include <errno.h>
#include <pthread.h>

#include "internal.h"
#include "runtime/process/children.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define POOL_BYTES 65536u
#define NESTED_MAX 4u /* nested forks, each in a handler of a child */

#define RETRY_NS      100000000u
#define RETRY_AT_LOST 16u /* the time is checked once in so many lost calls */

static struct gm_lock flush_lock;

/*
 * A thread that ends must not wait while another writes files: the program may be about to give its
 * stack to another thread. It takes only this lock, within which nothing waits; the lock keeps
 * other threads from its timer and its thread-local storage. Lock order: flush_lock before
 * end_lock.
 */
static struct gm_lock end_lock;

static struct gm_control *free_controls;

/* Control blocks that were never used. A child of fork continues with its parent's. */
static struct pool {
	struct gm_control *controls;
	struct gm_view *views;
	uint32_t n_left; /* at the end of the pool */
} pool;

/* In memory of its own, which is zeroed in the child of a fork. */
static struct alive {
	struct gm_lock lock;
	uint32_t is_known; /* 0: a child that has not noticed the fork yet */
} * alive;
static bool alive_is_wiped; /* Linux 4.14: the kernel zeroes it in every child */

static bool watched;
static bool paused; /* changed under the lock, if that is not stuck */

bool gm_flush_is_stuck(void)
{
	return flush_lock.is_stuck;
}

bool gm_flush_lock(uint64_t *ret_mask)
{
	gm_signals_block(ret_mask);
	if (gm_lock_take(&flush_lock))
		return true;
	gm_signals_restore(*ret_mask);
	return false;
}

void gm_flush_unlock(uint64_t mask)
{
	gm_lock_release(&flush_lock);
	gm_signals_restore(mask);
}

void gm_threads_give_up(struct gm_thread_slot *slot, enum gm_stalled what)
{
	struct gm_threads_header *header = gm_threads_table();

	if (slot != NULL)
		__atomic_fetch_or(&slot->stalled, (uint8_t)what, __ATOMIC_RELAXED);
	else if (header != NULL)
		__atomic_fetch_or(&header->stalled, (uint8_t)what, __ATOMIC_RELAXED);
}

/* Makes a pool of control blocks and one of their views; the caller holds the lock. */
static void pool_new(void)
{
	const uint32_t n = POOL_BYTES / sizeof(struct gm_control);
	const size_t view_bytes = (n + 1) * sizeof(struct gm_view);
	struct gm_control *controls = gm_sys_mmap(POOL_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gm_view *views = gm_sys_mmap(view_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (controls == NULL || views == NULL)
		return;
	/* Without MADV_WIPEONFORK (before Linux 4.14) only fork() is noticed, by its handler. */
	gm_syscall3(SYS_madvise, (long)views, (long)view_bytes, MADV_WIPEONFORK);
	pool.controls = controls;
	pool.views = views;
	/*
	 * release: pairs with the acquire in gm_threads_check_fork(); a child made by another
	 * thread finds a complete pool or none
	 */
	__atomic_store_n(&pool.n_left, n, __ATOMIC_RELEASE);
}

/* The caller holds the lock. */
static struct gm_control *pool_take(void)
{
	const uint32_t n = POOL_BYTES / sizeof(struct gm_control);
	struct gm_control *control;
	uint32_t number;

	if (pool.n_left == 0)
		pool_new();
	if (pool.n_left == 0)
		return NULL;
	number = n - pool.n_left;
	control = &pool.controls[number];
	control->view = &pool.views[number];
	pool.n_left--;
	return control;
}

/*
 * Called before the process is opened, so that a child which counts the first call is not taken for
 * its parent. Returns false if it must be tried again.
 */
static bool alive_begin(void)
{
	struct alive *made;
	uint64_t mask;

	/* acquire: pairs with the release below */
	if (__atomic_load_n(&alive, __ATOMIC_ACQUIRE) != NULL)
		return true;
	if (!gm_flush_lock(&mask))
		return false;
	made =
	    alive == NULL ? gm_sys_mmap(sizeof(*made), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;
	if (made != NULL) {
		alive_is_wiped =
		    gm_syscall3(SYS_madvise, (long)made, sizeof(*made), MADV_WIPEONFORK) == 0;
		made->is_known = 1;
		/*
		 * release: pairs with the acquire above; threads that see it without the lock must
		 * not read 0, which means a fork
		 */
		__atomic_store_n(&alive, made, __ATOMIC_RELEASE);
	}
	gm_flush_unlock(mask);
	return true;
}

static struct gm_control *new_locked(void)
{
	struct gm_control *control;

	control = free_controls;
	if (control != NULL)
		free_controls = control->next_free;
	else
		control = pool_take();
	if (control == NULL)
		return NULL;
	*control = (struct gm_control){.view = control->view};
	return control;
}

struct gm_control *gm_control_new(const struct gm_control *with)
{
	struct gm_control *control;
	struct gm_view *view;
	uint64_t mask;

	if (!gm_flush_lock(&mask))
		return NULL;
	control = new_locked();
	if (control != NULL) {
		view = control->view;
		*control = *with;
		control->view = view;
		if (!gm_calls_begin(control)) {
			gm_control_free_locked(control);
			control = NULL;
		}
	}
	gm_flush_unlock(mask);
	return control;
}

void gm_control_free_locked(struct gm_control *control)
{
	control->next_free = free_controls;
	free_controls = control;
}

static void thread_ended(void);

/* Called by the first thread that counts, which may come before our constructor. */
static void watch_begin(void)
{
	uint64_t mask;

	/* acquire: pairs with the release below */
	if (__atomic_load_n(&watched, __ATOMIC_ACQUIRE) || !gm_flush_lock(&mask))
		return;
	if (!watched)
		gm_thread_watch_init(GM_LIB_CALLS, thread_ended);
	__atomic_store_n(&watched, true, __ATOMIC_RELEASE);
	gm_flush_unlock(mask);
}

/* Returns the view that the thread's mcount must search, and the thread's state. */
static const struct gm_view *aim_of(const struct gm_control *control, bool has_history,
				    uint8_t *ret_state)
{
	/* The thread may see both in any order: a miss checks the state. */
	if (paused)
		*ret_state = GM_STATE_PAUSED;
	else
		*ret_state = has_history ? GM_STATE_HISTORY : GM_STATE_NOMINAL;
	return *ret_state == GM_STATE_NOMINAL && !control->shares_tls ? control->view : &gm_no_view;
}

/* Points the calling thread's mcount to its view; the caller holds the lock. */
static void aim(struct gm_control *control)
{
	struct gm_tls *tls = control->tls;

	if (control->is_ending)
		return;
	gm_tls_aim(tls, aim_of(control, tls->history != NULL, &tls->state));
}

/*
 * The same for another thread. Its thread-local storage may be unmapped at any time if its end was
 * not noticed; therefore the kernel does the write.
 */
static void aim_other(struct gm_control *control)
{
	struct gm_tls *tls = control->tls;
	uint64_t view;
	uint8_t state;

	if (control->is_ending) /* its thread-local storage may be unmapped */
		return;
	view = (uint64_t)aim_of(control, control->history != NULL, &state) - (uint64_t)&gm_no_view;
	gm_memory_write((uint64_t)&tls->state, &state, sizeof(state));
	gm_memory_write((uint64_t)&tls->view, &view, sizeof(view));
}

/*
 * Makes the block visible to the walk, moncontrol() and the end of the thread; the caller holds the
 * lock.
 */
static void publish(struct gm_control *control, bool sampled)
{
	gm_tls.control = control;
	if (gm_process_get()->config.calls_mode == GM_CALLS_HISTORY && gm_history_start(control))
		gm_tls.history = control->history;
	aim(control);
	control->slot->local[GM_LIB_CALLS] = (uint64_t)control;
	if (sampled)
		gm_sampled = true;
	else
		gm_started = true;
	gm_lives_add(control);
	gm_sample_start(control);
}

/*
 * Gives the thread of this slot what it needs to count. Returns false, with the reason in why_lost,
 * if that fails.
 */
static bool equip(struct gm_thread_slot *slot, uint32_t index, bool sampled)
{
	struct gm_control *control;
	bool is_made = false;
	uint64_t mask;

	if (!gm_flush_lock(&mask)) {
		gm_tls.why_lost = GM_LOSS_STALLED;
		return false;
	}
	control = new_locked();
	if (control != NULL) {
		control->tls = &gm_tls;
		control->slot = slot;
		control->index = index;
		control->tid = slot->tid;
		control->flags = sampled ? GM_CALLS_NONE : 0;
		is_made = gm_calls_begin(control);
		if (is_made) {
			publish(control, sampled);
		} else {
			gm_control_free_locked(control);
			gm_tls.why_lost = gm_arena_why() | GM_LOSS_MEMORY;
		}
	}
	gm_flush_unlock(mask);
	return is_made;
}

/* Sets the thread lost until the next attempt, which costs a few system calls. */
static void lose_for_now(uint16_t why)
{
	gm_tls.state = GM_STATE_LOST;
	gm_tls.why_lost = why;
	gm_tls.retry_ns = gm_clock_ns() + RETRY_NS;
}

static void lose_for_ever(uint16_t why)
{
	gm_tls.why_lost = why;
	gm_tls.retry_ns = GM_RETRY_NEVER;
}

bool gm_thread_may_start(void)
{
	return gm_tls.state == GM_STATE_NEWBORN ||
	       (gm_tls.state == GM_STATE_LOST && gm_tls.retry_ns != GM_RETRY_NEVER &&
		++gm_tls.n_lost % RETRY_AT_LOST == 0 && gm_clock_ns() >= gm_tls.retry_ns);
}

void gm_thread_start(bool sampled)
{
	const struct gm_process *process;
	uint32_t index;

	if (!alive_begin()) {
		lose_for_now(GM_LOSS_STALLED);
		return;
	}
	process = gm_process_open();
	if (process == NULL && !gm_process_is_off())
		return;
	if (process == NULL || process->config.calls_mode == GM_CALLS_OFF) {
		gm_tls.state = GM_STATE_OFF;
		return;
	}
	lose_for_now(GM_LOSS_MEMORY);
	watch_begin();
	gm_tls.slot = gm_thread_self(&index);
	if (gm_tls.slot == NULL)
		gm_tls.why_lost = gm_threads_why();
	/*
	 * Another copy of this library, linked into the program or preloaded, has taken the slot.
	 */
	else if (gm_tls.slot->local[GM_LIB_CALLS] != 0)
		lose_for_ever(GM_LOSS_SECOND_COPY);
	else if (equip(gm_tls.slot, index, sampled))
		gm_thread_watch();
}

/* For a task that uses the thread-local storage of another thread: found by its id each time. */
static struct gm_control *control_of_task(uint32_t tid)
{
	uint32_t index = 0;
	struct gm_thread_slot *slot = gm_thread_self(&index);
	struct gm_control *control;

	if (slot == NULL || slot->local[GM_LIB_CALLS] != 0)
		return slot == NULL ? NULL : (struct gm_control *)slot->local[GM_LIB_CALLS];
	slot->sample_error =
	    EOPNOTSUPP; /* its handler would use the other thread's control block */
	control = gm_control_new(&(struct gm_control){
	    .tls = &gm_tls, .shares_tls = true, .slot = slot, .index = index, .tid = tid});
	/* release: pairs with the acquire in gm_control_at() */
	__atomic_store_n(&slot->local[GM_LIB_CALLS], (uint64_t)control, __ATOMIC_RELEASE);
	return control;
}

struct gm_control *gm_thread_control(void)
{
	struct gm_control *control = gm_tls.control;
	uint32_t tid = (uint32_t)gm_sys_gettid();
	uint64_t mask;

	/* The child of vfork() is another process in our memory; it counts as its parent. */
	if (tid == control->tid || gm_sys_getpid() != gm_process_get()->pid)
		return control;
	/* From now on both miss, and both come here. */
	if (!gm_flush_lock(&mask))
		return NULL;
	control->shares_tls = true;
	gm_tls_aim(&gm_tls, &gm_no_view);
	gm_flush_unlock(mask);
	return control_of_task(tid);
}

bool gm_thread_counts(void)
{
	if (gm_tls.state != GM_STATE_NOMINAL && gm_tls.state != GM_STATE_HISTORY)
		return false;
	return !gm_tls.control->is_ending || !paused;
}

/* Sends all further calls of the thread to the slow path. */
static void linger(struct gm_control *control)
{
	/* release: pairs with the acquire in living_check() */
	__atomic_store_n(&control->is_ending, true, __ATOMIC_RELEASE);
	gm_tls.state = gm_tls.history != NULL ? GM_STATE_HISTORY : GM_STATE_NOMINAL;
	gm_tls_aim(&gm_tls, &gm_no_view);
	gm_history_linger(control);
	gm_lives_ended(control);
}

/*
 * Without delay: some of its calls may find room in the file now, and none later. Returns false if
 * the lock is stuck.
 */
static bool finish_at_once(struct gm_control *control)
{
	uint64_t mask;

	if (!gm_flush_lock(&mask))
		return false;
	gm_sample_end(control);
	gm_tls = (struct gm_tls){.state = GM_STATE_LOST,
				 .why_lost = gm_arena_why(),
				 .retry_ns = GM_RETRY_NEVER,
				 .slot = control->slot};
	gm_lives_finish(control);
	gm_flush_unlock(mask);
	return true;
}

/* If the lock is stuck, its holder may be about to count the samples that the thread missed. */
static void end(struct gm_control *control)
{
	bool is_locked = gm_lock_take(&end_lock);

	if (is_locked)
		gm_sample_end(control);
	else if (gm_sample_abandon(control))
		gm_threads_give_up(control->slot, GM_STALLED_LAST_SAMPLES);
	linger(control);
	if (is_locked)
		gm_lock_release(&end_lock);
}

/* Runs in the ending thread, as the last of its destructors. */
static void thread_ended(void)
{
	struct gm_control *control;
	uint64_t mask;

	if (gm_seal_is_set())
		return;
	gm_threads_check_fork();
	/* A handler may have left the slow path by pthread_exit(). */
	gm_tls_leave();
	gm_signals_block(&mask);
	control = gm_tls.control;
	if (control == NULL)
		gm_sample_end_early();
	if (control != NULL && !control->is_ending) {
		gm_thread_end(control->slot);
		if (gm_calls_are_kept(control) || !finish_at_once(control))
			end(control);
	}
	gm_signals_restore(mask);
}

/*
 * The storage of a thread whose end was not noticed may be unmapped, or belong to another thread.
 */
static bool has_its_storage(const struct gm_control *control)
{
	struct gm_control *user;

	return gm_memory_read(&user, (uint64_t)&control->tls->control, sizeof(user)) &&
	       user == control;
}

void gm_threads_settle(bool is_locked)
{
	uint32_t n = gm_threads_count();
	bool may_use_timers = is_locked && gm_lock_take(&end_lock);

	for (uint32_t i = 0; i < n; i++) {
		struct gm_control *control = gm_control_at(i);

		if (control == NULL)
			continue;
		gm_calls_settle(control);
		if (control->samples != NULL)
			gm_calls_settle(control->samples);
		if (may_use_timers)
			gm_sample_settle(control);
		else if (control->timer.on)
			gm_threads_give_up(gm_thread_at(i), GM_STALLED_LAST_SAMPLES);
	}
	if (may_use_timers)
		gm_lock_release(&end_lock);
}

/* The caller holds the lock. Returns false if the other one is stuck. */
static bool aim_others(void)
{
	uint32_t n = gm_threads_count();

	if (!gm_lock_take(&end_lock))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct gm_control *control = gm_control_at(i);

		if (control != NULL && control != gm_tls.control && has_its_storage(control))
			aim_other(control);
	}
	gm_lock_release(&end_lock);
	return true;
}

void gm_threads_pause(bool pause)
{
	uint64_t mask;
	bool has_all;

	gm_threads_check_fork();
	gm_signals_block(&mask);
	has_all = gm_lock_take(&flush_lock);
	/* Without the lock: for this thread, and for those that start. */
	paused = pause;
	if (gm_tls.control != NULL)
		aim(gm_tls.control);
	if (has_all) {
		has_all = aim_others();
		gm_lock_release(&flush_lock);
	}
	if (!has_all)
		gm_threads_give_up(gm_tls.slot, GM_STALLED_MONCONTROL);
	gm_signals_restore(mask);
}

struct gm_control *gm_control_at(uint32_t index)
{
	struct gm_thread_slot *slot = gm_thread_at(index);

	return slot == NULL ? NULL
			    : (struct gm_control *)__atomic_load_n(&slot->local[GM_LIB_CALLS],
								   __ATOMIC_ACQUIRE);
}

/*
 * A handler that forked may have interrupted mcount after it loaded its slot mask. All views it may
 * have used are zeroed. They get their tables back, which gm_arena_forget() empties, under a mask
 * of zero. After a fork within a fork this includes the views of the parent's parent.
 */
static void view_keep_table(void)
{
	static struct gm_control *interrupted; /* linked by next_free */
	struct gm_control *control = gm_tls.control;
	unsigned n = 0;

	if (control != NULL && control->table != NULL) {
		control->next_free = interrupted;
		interrupted = control;
	}
	for (control = interrupted; control != NULL && n < NESTED_MAX; n++) {
		control->view->table = (uint64_t)control->table - (uint64_t)control->view;
		control = control->next_free;
	}
}

/*
 * The child of fork() has one thread and starts at zero. The state of the parent's other threads at
 * the time of the fork is unknown, so their blocks are never used again.
 */
static void process_begin_anew(void)
{
	flush_lock = end_lock = (struct gm_lock){0};
	free_controls = NULL;
	view_keep_table();
	/* The view behind that of the forking thread is the slot of its empty table. */
	if (pool.n_left > 0)
		pool.n_left--;
	gm_lives_forget();
	gm_arena_forget();
	gm_history_forget(gm_tls.control);
	gm_gmon_forget();
	gm_sample_forget();
	gm_stacks_forget();
	gm_process_forked();
}

static void thread_begin_anew(void)
{
	gm_tls.history = NULL;
	gm_tls_aim(&gm_tls, &gm_no_view);
	gm_tls.control = NULL;
	gm_tls.slot = NULL;
	gm_tls.early.on = false;
	if (gm_tls.state != GM_STATE_OFF)
		gm_tls.state = GM_STATE_NEWBORN;
}

bool gm_threads_check_fork(void)
{
	bool is_known = true;
	uint64_t mask;

	/* acquire: pairs with the release in pool_new() */
	if (__atomic_load_n(&alive, __ATOMIC_ACQUIRE) == NULL)
		return true;
	/* acquire: pairs with the release below, by another thread of the child */
	if (__atomic_load_n(&alive->is_known, __ATOMIC_ACQUIRE) == 0) {
		gm_signals_block(&mask);
		is_known = gm_lock_take(&alive->lock);
		if (is_known) {
			if (alive->is_known == 0) {
				process_begin_anew();
				thread_begin_anew();
			}
			__atomic_store_n(&alive->is_known, 1, __ATOMIC_RELEASE);
			gm_lock_release(&alive->lock);
		}
		gm_signals_restore(mask);
	}
	/* This thread had a table before the fork, and another thread may have handled the fork. */
	if (gm_tls.control != NULL && gm_tls.control->view->slot_mask == 0)
		thread_begin_anew();
	return is_known;
}

/*
 * The fork handler. Fork handlers of other libraries may have run before it; their calls are
 * counted already, and the counts must not be reset.
 */
void gm_threads_forked(void)
{
	if (gm_seal_is_set()) {
		thread_begin_anew();
		return;
	}
	gm_child_note_pid();
	if (alive == NULL) {
		process_begin_anew();
		thread_begin_anew();
		return;
	}
	if (!alive_is_wiped)
		alive->is_known = 0;
	/* Writing at once costs one page fault, reading first costs two. */
	__atomic_fetch_add(&alive->is_known, 0, __ATOMIC_RELAXED);
	gm_threads_check_fork();
	gm_sample_early();
}

void gm_threads_init(void)
{
	alive_begin();
	pthread_atfork(gm_children_prepare, NULL, gm_threads_forked);
	watch_begin();
}
