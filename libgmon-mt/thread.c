/* SPDX-License-Identifier: MIT */
/*
 * A thread's life as this library sees it: newborn until its first counted call, nominal, ending.
 *
 * The end is noticed by a pthread key's destructor in its last round (runtime.h), which covers
 * return, pthread_exit and cancellation, detached or not.  Destructors of other keys and handlers
 * of signals may still call profiled functions: so the thread's tables stay until the kernel no
 * longer knows its id, which the next threads to start look for, and then the process.  Threads
 * that are still running when that ends, or that pthreads knows nothing of, are met by the walk
 * over the thread table.
 *
 * Control blocks are pooled: bounded by the number of threads at once, never by how many there
 * were.
 */
#include <errno.h>
#include <pthread.h>

#include "internal.h"
#include "runtime/children.h"
#include "runtime/seal.h"
#include "runtime/sys.h"

#define POOL_BYTES 65536u
#define NESTED_MAX 4u /* forks, each in a handler of a child */

#define RETRY_NS      100000000u
#define RETRY_AT_LOST 16u /* each so many that are lost, the time is asked for */

static struct gm_lock flush_lock;

/*
 * A thread that ends waits for nobody's files: the program may be about to give its stack to
 * another.  It takes this lock alone, within which nothing waits, and which keeps others from its
 * timer and its thread-local storage.  Under the other lock, if both are taken.
 */
static struct gm_lock end_lock;

static struct gm_control *free_controls;

/* Control blocks that were never used.  A child of fork goes on with its parent's. */
static struct pool {
	struct gm_control *controls;
	struct gm_view *views;
	uint32_t n_left; /* the last ones */
} pool;

/* In memory of its own: zeros in the child of a fork. */
static struct alive {
	struct gm_lock lock;
	uint32_t is_known; /* 0: a child, and nobody has noticed yet */
} * alive;
static bool alive_is_wiped; /* Linux 4.14: by the kernel, in every child */

static bool watched;
static bool paused; /* changed under the lock */

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

/* A pool of control blocks and one of their views; under the lock. */
static void pool_new(void)
{
	const uint32_t n = POOL_BYTES / sizeof(struct gm_control);
	const size_t view_bytes = (n + 1) * sizeof(struct gm_view);
	struct gm_control *controls = gm_sys_mmap(POOL_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gm_view *views = gm_sys_mmap(view_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (controls == NULL || views == NULL)
		return;
	/* Before Linux 4.14 there is none, and only fork() is noticed, by its handler. */
	gm_syscall3(SYS_madvise, (long)views, (long)view_bytes, MADV_WIPEONFORK);
	pool.controls = controls;
	pool.views = views;
	/* release: the child of another thread's fork finds a pool that is whole, or none */
	__atomic_store_n(&pool.n_left, n, __ATOMIC_RELEASE);
}

/* Under the lock. */
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
 * Before the process is opened: a child that counts the first call must not be taken for it.
 * False: it is to be tried again.
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
		/* release: other first threads look without the lock, and 0 would be a fork */
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

struct gm_control *gm_control_new(void)
{
	struct gm_control *control;
	uint64_t mask;

	if (!gm_flush_lock(&mask))
		return NULL;
	control = new_locked();
	gm_flush_unlock(mask);
	return control;
}

void gm_control_free_locked(struct gm_control *control)
{
	control->next_free = free_controls;
	free_controls = control;
}

void gm_control_free(struct gm_control *control)
{
	uint64_t mask;

	if (!gm_flush_lock(&mask))
		return;
	gm_control_free_locked(control);
	gm_flush_unlock(mask);
}

static void thread_ended(void);

/* From the first thread that counts, which may come before our constructor. */
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

/* The view that the thread's mcount is to search, and the thread's state. */
static const struct gm_view *aim_of(const struct gm_control *control, bool has_history,
				    uint8_t *ret_state)
{
	/* In whatever order its thread sees them: a miss asks for the state. */
	if (paused)
		*ret_state = GM_STATE_PAUSED;
	else
		*ret_state = has_history ? GM_STATE_HISTORY : GM_STATE_NOMINAL;
	return *ret_state == GM_STATE_NOMINAL && !control->shares_tls ? control->view : &gm_no_view;
}

/* Points the calling thread's mcount to where it is to look; under the lock. */
static void aim(struct gm_control *control)
{
	struct gm_tls *tls = control->tls;

	if (control->is_ending)
		return;
	gm_tls_aim(tls, aim_of(control, tls->history != NULL, &tls->state));
}

/*
 * The same of another thread, whose thread-local storage may be unmapped at any time, if nothing
 * tells of its end: the kernel writes there.
 */
static void aim_other(struct gm_control *control)
{
	struct gm_tls *tls = control->tls;
	uint64_t view;
	uint8_t state;

	if (control->is_ending) /* its thread-local storage may be gone */
		return;
	view = (uint64_t)aim_of(control, control->history != NULL, &state) - (uint64_t)&gm_no_view;
	gm_memory_write((uint64_t)&tls->state, &state, sizeof(state));
	gm_memory_write((uint64_t)&tls->view, &view, sizeof(view));
}

/* Lets the walk, moncontrol() and the end of the thread find it; under the lock. */
static void publish(struct gm_control *control)
{
	gm_tls.control = control;
	if (gm_process_get()->config.calls_mode == GM_CALLS_HISTORY && gm_history_start(control))
		gm_tls.history = control->history;
	aim(control);
	control->slot->local[GM_LIB_CALLS] = (uint64_t)control;
	gm_started = true;
	gm_lives_add(control);
	gm_sample_start(control);
}

/* Gives the thread of this slot what counting needs.  False: it cannot be, see why_lost. */
static bool equip(struct gm_thread_slot *slot, uint32_t index)
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
		is_made = gm_calls_begin(control);
		if (is_made) {
			publish(control);
		} else {
			gm_control_free_locked(control);
			gm_tls.why_lost = gm_arena_why() | GM_LOSS_MEMORY;
		}
	}
	gm_flush_unlock(mask);
	return is_made;
}

/* Until it is tried again, which costs a few system calls. */
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

void gm_thread_start(void)
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
	/* Taken already: by another copy of this library, linked into the program or preloaded. */
	else if (gm_tls.slot->local[GM_LIB_CALLS] != 0)
		lose_for_ever(GM_LOSS_SECOND_COPY);
	else if (equip(gm_tls.slot, index))
		gm_thread_watch();
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
	if (!gm_flush_lock(&mask))
		return NULL;
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

/* From here on its calls go the long way. */
static void linger(struct gm_control *control)
{
	/* release: pairs with the acquire in living_check() */
	__atomic_store_n(&control->is_ending, true, __ATOMIC_RELEASE);
	gm_tls.state = gm_tls.history != NULL ? GM_STATE_HISTORY : GM_STATE_NOMINAL;
	gm_tls_aim(&gm_tls, &gm_no_view);
	gm_history_linger(control);
	gm_lives_ended(control);
}

/* Part of its calls may find a place in the file now, and none later. */
static void finish_at_once(struct gm_control *control)
{
	uint64_t mask;

	if (!gm_flush_lock(&mask))
		return;
	gm_sample_end(control);
	gm_thread_end(control->slot);
	gm_tls = (struct gm_tls){.state = GM_STATE_LOST,
				 .why_lost = gm_arena_why(),
				 .retry_ns = GM_RETRY_NEVER,
				 .slot = control->slot};
	gm_lives_finish(control);
	gm_flush_unlock(mask);
}

static void end(struct gm_control *control)
{
	if (!gm_lock_take(&end_lock))
		return;
	gm_sample_end(control);
	linger(control);
	gm_lock_release(&end_lock);
}

/* In the ending thread, last of its destructors. */
static void thread_ended(void)
{
	struct gm_control *control;
	uint64_t mask;

	if (gm_seal_is_set())
		return;
	gm_threads_check_fork();
	/* A handler may have left that code by pthread_exit(). */
	gm_tls_leave();
	gm_signals_block(&mask);
	control = gm_tls.control;
	if (control != NULL && !control->is_ending) {
		if (!gm_calls_are_kept(control)) {
			finish_at_once(control);
		} else {
			gm_thread_end(control->slot);
			end(control);
		}
	}
	gm_signals_restore(mask);
}

/*
 * The storage of a thread that is gone without having said so may be unmapped, or another thread's.
 */
static bool has_its_storage(const struct gm_control *control)
{
	struct gm_control *user;

	return control == gm_tls.control ||
	       (gm_memory_read(&user, (uint64_t)&control->tls->control, sizeof(user)) &&
		user == control);
}

void gm_threads_settle(void)
{
	uint32_t n = gm_threads_count();

	if (!gm_lock_take(&end_lock))
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct gm_control *control = gm_control_at(i);

		if (control == NULL)
			continue;
		gm_calls_settle(control);
		gm_sample_settle(control);
	}
	gm_lock_release(&end_lock);
}

void gm_threads_pause(bool pause)
{
	uint32_t n;
	uint64_t mask;

	gm_threads_check_fork();
	n = gm_threads_count();
	if (!gm_flush_lock(&mask))
		return;
	paused = pause;
	if (gm_lock_take(&end_lock)) {
		for (uint32_t i = 0; i < n; i++) {
			struct gm_control *control = gm_control_at(i);

			if (control == NULL || !has_its_storage(control))
				continue;
			if (control == gm_tls.control)
				aim(control);
			else
				aim_other(control);
		}
		gm_lock_release(&end_lock);
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
 * A handler that forked may have interrupted mcount after it loaded its slot mask.  The views that
 * this could be are wiped; they get their tables again, which gm_arena_forget() empties, under a
 * mask of zero.  After a fork within the fork, those of the parent's parent, too.
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
 * The child of fork() has one thread and starts at zero.  What other threads of the parent were at
 * when it was made is unknown, so their blocks are memory that nobody uses again.
 */
static void process_begin_anew(void)
{
	flush_lock = end_lock = (struct gm_lock){0};
	free_controls = NULL;
	view_keep_table();
	/* The view behind the forking thread's is the slot of its empty table. */
	if (pool.n_left > 0)
		pool.n_left--;
	gm_lives_forget();
	gm_arena_forget();
	gm_history_forget(gm_tls.control);
	gm_gmon_forget();
	gm_sample_forget();
	gm_process_forked();
}

static void thread_begin_anew(void)
{
	gm_tls.history = NULL;
	gm_tls_aim(&gm_tls, &gm_no_view);
	gm_tls.control = NULL;
	gm_tls.slot = NULL;
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
	/* acquire: pairs with the release below, of another thread of the child */
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
	/* This thread had a table before the fork, which another may have noticed. */
	if (gm_tls.control != NULL && gm_tls.control->view->slot_mask == 0)
		thread_begin_anew();
	return is_known;
}

/*
 * The fork handler.  Handlers of other libraries may have run before it, and what they called is
 * counted already: then there is nothing left to forget.
 */
void gm_threads_forked(void)
{
	if (gm_seal_is_set()) {
		thread_begin_anew();
		return;
	}
	if (alive == NULL) {
		process_begin_anew();
		thread_begin_anew();
		return;
	}
	if (!alive_is_wiped)
		alive->is_known = 0;
	/* To write at once costs one page fault, to read first two. */
	__atomic_fetch_add(&alive->is_known, 0, __ATOMIC_RELAXED);
	gm_threads_check_fork();
}

void gm_threads_init(void)
{
	alive_begin();
	pthread_atfork(gm_children_prepare, NULL, gm_threads_forked);
	watch_begin();
}
