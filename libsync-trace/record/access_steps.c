/* SPDX-License-Identifier: MIT */
/*
 * The sampled mode of memory accesses: libaccess_step executes some critical sections in single
 * steps (sync-trace/collector.h). This file decides when it may begin, and tells it where the
 * operations of a section begin and end.
 *
 * A section may begin to be stepped at its acquisition if no other section is stepped, or if
 * another section that is open has been abandoned. While the thread is stepped, all of its events
 * take the slow path, and its locks are counted. Otherwise only some do, unless all sections are
 * stepped: a section around the stepped one is stepped in part, which readers see.
 */
#include "record/internal.h"
#include "runtime/capture/session.h"
#include "runtime/files/helper_task.h"
#include "runtime/process/process.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define STACK_BYTES (64u << 10) /* of the thread's stack, that are looked at */
#define TRACED_NS   100000000u	/* how often a debugger is looked for */

#define ALL_PERCENT 100

static bool are_rare; /* not all sections are stepped */

void st_steps_configure(void)
{
	const struct gm_config *config = &gm_process_get()->config;

	are_rare = config->access_budget_percent < ALL_PERCENT;
	st_access->steps->configure((unsigned)config->access_budget_percent,
				    (unsigned)config->access_steps);
}

/* --- obstacles -------------------------------------------------------------------------------- */

static long find_tracer_step(void *pid)
{
	return gm_proc_tracer((int)(intptr_t)pid);
}

/* Returns true if a debugger would see each step. */
static bool is_traced(uint64_t now_ns)
{
	static uint64_t last_ns;
	static bool was_traced;
	uint64_t before_ns = __atomic_load_n(&last_ns, __ATOMIC_RELAXED);
	uint64_t mask;

	if (before_ns != 0 && now_ns - before_ns < TRACED_NS)
		return __atomic_load_n(&was_traced, __ATOMIC_RELAXED);
	__atomic_store_n(&last_ns, now_ns, __ATOMIC_RELAXED);
	gm_signals_block(&mask);
	__atomic_store_n(&was_traced,
			 gm_files_run(find_tracer_step, (void *)(intptr_t)gm_sys_getpid()) > 0,
			 __ATOMIC_RELAXED);
	gm_signals_restore(mask);
	return __atomic_load_n(&was_traced, __ATOMIC_RELAXED);
}

/* Returns false if the thread does not run on its own stack. */
static bool find_stack(struct st_access_thread *thread)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return st_stack_find(here, STACK_BYTES, &thread->stack_low, &thread->stack_above);
}

static unsigned why_not(struct st_access_thread *thread, uint64_t now_ns)
{
	if (gm_seal_is_set())
		return ST_STEP_SEALED;
	if (!find_stack(thread))
		return ST_STEP_STACK;
	return is_traced(now_ns) ? ST_STEP_TRACED : 0;
}

/* --- sections --------------------------------------------------------------------------------- */

/* Returns true if the section that begins is to be stepped. */
static bool begin(const struct st_thread *self, struct st_access_thread *thread,
		  const struct st_record *record)
{
	unsigned barred = 0;

	if (!st_access->steps->choose(record->site, &barred)) {
		if (barred != 0)
			gm_process_note_not_stepped(barred);
		return false;
	}
	barred = why_not(thread, record->now_ns);
	thread->may_skip = self->selective;
	if (barred != 0)
		gm_process_note_not_stepped(barred);
	if (barred == 0 && st_collector_ready(thread, record->now_ns))
		return true;
	st_access->steps->end();
	return false;
}

static void count_calls(struct st_access_thread *thread)
{
	uint32_t n = __atomic_exchange_n(&thread->n_calls, 0, __ATOMIC_RELAXED);

	if (n != 0)
		gm_process_count_stepped_calls(n);
}

static bool is_stepped(const struct st_access_thread *thread)
{
	return thread->stepped != 0 || thread->has_abandoned;
}

bool st_steps_need_all(void)
{
	return !are_rare || is_stepped(st_access->thread());
}

void st_steps_arm(struct st_thread *self)
{
	if (!are_rare || gm_seal_is_set())
		return;
	st_access->steps->arm();
	st_sites_arm(self);
}

void st_steps_before(struct st_access_thread *thread)
{
	if (are_rare && !is_stepped(thread))
		thread->n_held = 0;
}

void st_steps_event(struct st_thread *self, struct st_access_thread *thread,
		    const struct st_record *record, int change)
{
	if (thread->n_held == 0) {
		if (is_stepped(thread))
			st_access->steps->end();
		count_calls(thread);
		thread->stepped = 0;
		thread->has_abandoned = false;
		st_detours_choose(self);
		return;
	}
	if (thread->stepped == 0) {
		if (change <= 0 || (thread->n_held > 1 && !thread->has_abandoned) ||
		    !begin(self, thread, record))
			return;
		thread->stepped = ST_ACCESS_STEPPED;
		st_detours_choose(self);
	}
	if (thread->stepped == ST_ACCESS_STEPPED)
		st_access->steps->go_on(record->id, st_begins_wait(record->id));
}

bool st_steps_cut(struct st_access_thread *thread)
{
	if (st_access->steps == NULL)
		return true;
	if (thread->stepped == 0)
		return false;
	st_access->steps->pause();
	return true;
}

void st_steps_written(struct st_access_thread *thread, unsigned flags)
{
	if ((flags & ST_ACCESS_ABANDONED) == 0)
		return;
	thread->stepped = 0;
	thread->has_abandoned = true;
}

void st_steps_thread_end(struct st_access_thread *thread)
{
	if (st_access->steps == NULL)
		return;
	count_calls(thread);
	thread->stepped = 0;
	thread->has_abandoned = false;
	st_access->steps->thread_end();
}
