/* SPDX-License-Identifier: MIT */
/*
 * Lists of the threads that live and of those that ended, and the gmon files of the latter. All
 * functions except gm_lives_ended() run under gm_flush_lock.
 *
 * A thread that ends waits for none of this: it pushes its control block onto a list, and the next
 * thread that holds the lock takes it from there.
 */
#include "internal.h"
#include "runtime/files/helper_task.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define ENDING_CHECKED 4u /* by each thread that starts: more than end meanwhile */
#define LIVING_CHECKED 2u /* the same */

/*
 * Writing a gmon file needs a helper task (runtime/files/helper_task.h), which costs as much as the
 * rest of a short thread. The files of several threads are therefore written together.
 */
#define INTERVAL_NS 10000000u
#define BATCH_MAX   15u
#define BATCH_BYTES 1048576u /* of tables, which are kept until then */

/* Threads whose end was noticed, the last first; not processed yet. */
static struct gm_control *just_ended;

/* The other threads whose end was noticed, in the order of their ends, linked by next_free. */
static struct gm_control *ending, **ending_last;

/* Those among them whose gmon files are not written yet. Guarded by the lock, except `n`. */
static struct waiting {
	uint32_t n;
	uint64_t n_bytes;  /* of their tables */
	uint64_t since_ns; /* the end of the first */
} waiting;

/* Threads whose end was not noticed yet, and the next one to check. */
static struct gm_control *living, *living_next;

static void living_add(struct gm_control *control)
{
	control->next_living = living;
	control->link_living = &living;
	if (living != NULL)
		living->link_living = &control->next_living;
	living = control;
}

static void living_remove(struct gm_control *control)
{
	if (control->link_living == NULL)
		return;
	if (living_next == control)
		living_next = control->next_living;
	*control->link_living = control->next_living;
	if (control->next_living != NULL)
		control->next_living->link_living = control->link_living;
	control->link_living = NULL;
}

/* Called when the thread is gone, or makes no more calls that are kept. */
static void finish(struct gm_control *control)
{
	gm_history_end(control);
	gm_stacks_end(control);
	gm_gmon_thread(control, true);
	control->slot->local[GM_LIB_CALLS] = 0;
	gm_calls_end(control);
	if (control->samples != NULL) {
		gm_calls_end(control->samples);
		gm_control_free_locked(control->samples);
	}
	gm_control_free_locked(control);
}

static void ending_add(struct gm_control *control)
{
	control->next_free = NULL;
	if (ending == NULL)
		ending_last = &ending;
	*ending_last = control;
	ending_last = &control->next_free;
}

/*
 * Checks up to n of the ending threads, in the order of their ends, and stops when n_alive of them
 * still exist. Those, and threads whose files are not written yet, go to the end of the list.
 */
static void ending_check(unsigned n, unsigned n_alive)
{
	while (ending != NULL && n-- > 0 && n_alive > 0) {
		struct gm_control *control = ending;

		ending = control->next_free;
		if (!control->waits && gm_thread_is_gone(control->tid)) {
			finish(control);
			continue;
		}
		if (!control->waits)
			n_alive--;
		ending_add(control);
	}
}

/* --- gmon files of ended threads; under the lock ---------------------------------------------- */

static uint64_t tables_bytes(const struct gm_control *control)
{
	const struct gm_table *table;
	uint64_t n_bytes = 0;

	for (uint32_t n = 0; (table = gm_calls_table(control, n)) != NULL; n++)
		n_bytes += gm_table_bytes(table->header.n_slots);
	return n_bytes;
}

static long write_step(void *unused)
{
	(void)unused;
	for (struct gm_control *control = ending; control != NULL; control = control->next_free) {
		if (control->waits)
			gm_gmon_thread(control, false);
		control->waits = false;
	}
	return 0;
}

/* Writes all files in one helper task. */
static void write_waiting(void)
{
	/* Without a helper task, each file counts its failure. */
	if (gm_files_run_deep(write_step, NULL) < 0)
		write_step(NULL);
	waiting.n_bytes = 0;
	__atomic_store_n(&waiting.n, 0, __ATOMIC_RELAXED);
	ending_check(2 * BATCH_MAX, LIVING_CHECKED);
}

static bool is_overdue(uint64_t now_ns)
{
	return waiting.n > 0 && now_ns >= waiting.since_ns + INTERVAL_NS;
}

/* Marks the files of a thread that ended as still to be written. */
static void wait_for_files(struct gm_control *control)
{
	if (!gm_gmon_has_files(control))
		return;
	if (waiting.n == 0)
		waiting.since_ns = control->slot->end_ns;
	control->waits = true;
	waiting.n_bytes += tables_bytes(control);
	__atomic_store_n(&waiting.n, waiting.n + 1, __ATOMIC_RELAXED);
}

/* Takes over the threads that ended since the last call. */
static void ended_take(void)
{
	/* acquire: pairs with the release in gm_lives_ended() */
	struct gm_control *last = __atomic_exchange_n(&just_ended, NULL, __ATOMIC_ACQUIRE);
	struct gm_control *first = NULL;

	while (last != NULL) {
		struct gm_control *before = last->next_free;

		last->next_free = first;
		first = last;
		last = before;
	}
	while (first != NULL) {
		struct gm_control *control = first;

		first = control->next_free;
		living_remove(control);
		ending_add(control);
		wait_for_files(control);
	}
}

/* Called before a thread starts, since no other thread may start or end for a long time. */
static void write_due(uint64_t now_ns)
{
	if (waiting.n >= BATCH_MAX || waiting.n_bytes >= BATCH_BYTES || is_overdue(now_ns))
		write_waiting();
}

static bool may_wait(void)
{
	return __atomic_load_n(&waiting.n, __ATOMIC_RELAXED) != 0 ||
	       __atomic_load_n(&just_ended, __ATOMIC_RELAXED) != NULL;
}

void gm_threads_write_overdue(void)
{
	uint64_t mask;

	if (!may_wait() || !gm_flush_lock(&mask))
		return;
	ended_take();
	if (is_overdue(gm_clock_ns()))
		write_waiting();
	gm_flush_unlock(mask);
}

void gm_threads_write_waiting(void)
{
	const struct gm_process *process;
	uint64_t mask;

	gm_process_settle();
	process = gm_process_get();
	/* In the child of fork() or vfork() they belong to the parent. */
	if (!may_wait() || gm_seal_is_set() || process == NULL || gm_sys_getpid() != process->pid)
		return;
	if (!gm_flush_lock(&mask)) {
		if (process->config.gmon_writer != GM_GMON_RECORD)
			gm_gmon_give_up();
		return;
	}
	ended_take();
	if (waiting.n > 0)
		write_waiting();
	gm_flush_unlock(mask);
}

/* --- threads whose end may go unnoticed; under the lock --------------------------------------- */

/* Checks up to n of them in turn, and finishes those that are gone. */
static void living_check(unsigned n)
{
	while (n-- > 0) {
		struct gm_control *control = living_next != NULL ? living_next : living;

		if (control == NULL)
			return;
		living_next = control->next_living;
		/* acquire: sees the thread's last writes; it may have ended after ended_take() */
		if (!gm_thread_is_gone(control->tid) ||
		    __atomic_load_n(&control->is_ending, __ATOMIC_ACQUIRE))
			continue;
		living_remove(control);
		gm_sample_abandon(control);
		gm_thread_abandon(control->slot);
		finish(control);
	}
}

void gm_threads_finish(void)
{
	unsigned n = 0;

	ended_take();
	if (waiting.n > 0)
		write_waiting();
	for (const struct gm_control *control = ending; control != NULL;
	     control = control->next_free)
		n++;
	ending_check(n, n);
	n = 0;
	for (const struct gm_control *control = living; control != NULL;
	     control = control->next_living)
		n++;
	living_check(n);
}

void gm_lives_add(struct gm_control *control)
{
	ended_take();
	living_check(LIVING_CHECKED);
	living_add(control);
	ending_check(ENDING_CHECKED, ENDING_CHECKED);
	write_due(control->slot->start_ns);
}

void gm_lives_ended(struct gm_control *control)
{
	control->next_free = __atomic_load_n(&just_ended, __ATOMIC_RELAXED);
	/* release: pairs with the acquire in ended_take() */
	while (!__atomic_compare_exchange_n(&just_ended, &control->next_free, control, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

void gm_lives_finish(struct gm_control *control)
{
	living_remove(control);
	finish(control);
}

void gm_lives_forget(void)
{
	just_ended = ending = NULL;
	living = living_next = NULL;
	waiting = (struct waiting){0};
}
