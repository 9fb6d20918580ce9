/* SPDX-License-Identifier: MIT */
/*
 * Waits for the threads of an OpenMP team: barriers, the end of a parallel region, tasks; and the
 * time of a team's threads between two regions.
 *
 * libgomp does not tell which team a thread is in, so the barriers of all teams are one object: the
 * address of libgomp's function stands for it. The end of a region is not a function that the
 * program calls. So the region's function is called through one of ours, in each thread: its return
 * is the end of the thread's share. The last thread ends the wait of the one that began the region;
 * the others are idle until they have a share of the next one.
 *
 * Threads run tasks while they wait. A task's function is called through one of ours, too, which
 * ends the wait before it and begins another one after it. It must find the task's function without
 * a change to the task's data, whose layout is libgomp's: a slot of a table is assigned to each
 * function, and libgomp gets the address of the slot's stub instead. If a function finds no slot,
 * such waits are not recorded any more. A region with reductions by tasks, whose data libgomp
 * reads, too, is treated like a task.
 */
#include "libc/openmp.h"
#include "record/writer.h"
#include "runtime/process/process.h"

/* Called by libsync_trace_openmp.so. */
#define ST_OPENMP_DECLARE(type, name, parameters, version) ST_EXPORT type st_##name parameters;
ST_OPENMP_WAITS(ST_OPENMP_DECLARE)
ST_OPENMP_REGIONS(ST_OPENMP_DECLARE)
#undef ST_OPENMP_DECLARE

struct wait {
	enum st_event begin; /* its end is the next event in the list */
	uintptr_t site;
	const void *object;
	uint64_t begin_ns; /* 0: not recorded */
};

static __thread struct {
	struct wait *open; /* in which tasks may run; NULL: none */
	struct wait idle;  /* of a team's thread that has no region */
} own __attribute__((tls_model("initial-exec")));

#define TASK_SLOTS	256u /* as many stubs are in stubs.S */
#define TASK_STUB_BYTES 16u

static void (*tasks[TASK_SLOTS])(void *data);
static bool has_unknown_tasks; /* a function found no slot */

/* --- waits in which tasks may run ------------------------------------------------------------- */

static void wait_begin(struct wait *wait)
{
	const enum st_event end = wait->begin + 1;
	bool is_skipped = st_skips(end, wait->object, wait->site);
	bool is_left_out = !is_skipped && __atomic_load_n(&has_unknown_tasks, __ATOMIC_RELAXED);
	struct st_thread *self = is_skipped || is_left_out ? NULL : st_enter();

	if (is_left_out)
		gm_process_count_task_wait();
	wait->begin_ns =
	    self != NULL ? st_note_begin(self, wait->begin, wait->site, wait->object, 0) : 0;
	own.open = wait;
}

static void wait_end(const struct wait *wait)
{
	own.open = NULL;
	if (wait->begin_ns != 0)
		st_note_end(wait->begin_ns, wait->begin + 1, 0, wait->site, wait->object, 0);
}

/* The same where the call that waits is not on the stack, or is not about to return. */
static void wait_cut(const struct wait *wait)
{
	own.open = NULL;
	if (wait->begin_ns != 0)
		st_note_cut(wait->begin_ns, wait->begin + 1, 0, wait->site, wait->object, 0);
}

/* --- barriers, and waits for tasks ------------------------------------------------------------ */

#define BARRIER(site) barrier(ST_EVENT_barrier_team_begin, site)
#define TASKS(site)   barrier(ST_EVENT_barrier_tasks_begin, site)

static struct wait barrier(enum st_event begin, uintptr_t site)
{
	return (struct wait){begin, site, (const void *)st_openmp()->GOMP_barrier, 0};
}

#define WAIT(name, parameters, arguments, kind)                                                    \
	ST_EXPORT void st_##name parameters                                                        \
	{                                                                                          \
		struct wait wait = kind(ST_SITE());                                                \
                                                                                                   \
		wait_begin(&wait);                                                                 \
		st_openmp()->name arguments;                                                       \
		wait_end(&wait);                                                                   \
	}

#define WAIT_CANCEL(name)                                                                          \
	ST_EXPORT bool st_##name(void)                                                             \
	{                                                                                          \
		struct wait wait = BARRIER(ST_SITE());                                             \
		bool is_cancelled;                                                                 \
                                                                                                   \
		wait_begin(&wait);                                                                 \
		is_cancelled = st_openmp()->name();                                                \
		wait_end(&wait);                                                                   \
		return is_cancelled;                                                               \
	}

WAIT(GOMP_barrier, (void), (), BARRIER)
WAIT(GOMP_loop_end, (void), (), BARRIER)
WAIT(GOMP_sections_end, (void), (), BARRIER)
WAIT_CANCEL(GOMP_barrier_cancel)
WAIT_CANCEL(GOMP_loop_end_cancel)
WAIT_CANCEL(GOMP_sections_end_cancel)
WAIT(GOMP_taskwait, (void), (), TASKS)
WAIT(GOMP_taskwait_depend, (void **depend), (depend), TASKS)
WAIT(GOMP_taskgroup_end, (void), (), TASKS)

/* --- tasks ------------------------------------------------------------------------------------ */

/*
 * The stub of a function that creates tasks jumps to `real`, with `task` as the first argument.
 */
struct st_task_maker {
	void (*task)(void *data);
	void (*real)(void);
};

ST_EXPORT struct st_task_maker st_GOMP_task_maker(void (*task)(void *), unsigned which,
						  const char *stubs);
ST_EXPORT void st_GOMP_run_task(void *data, unsigned slot);

/* Returns the stub that calls the task's function. */
static void (*stub_of(void (*task)(void *), const char *stubs))(void *)
{
	for (unsigned i = 0; task != NULL && i < TASK_SLOTS; i++) {
		void (*found)(void *) = __atomic_load_n(&tasks[i], __ATOMIC_RELAXED);

		/* Reads through `found` have no order to keep: libgomp publishes the task. */
		if (found == task || (found == NULL && (__atomic_compare_exchange_n(
							    &tasks[i], &found, task, false,
							    __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
							found == task)))
			return (void (*)(void *))(uintptr_t)(stubs + (size_t)i * TASK_STUB_BYTES);
	}
	if (task != NULL)
		__atomic_store_n(&has_unknown_tasks, true, __ATOMIC_RELAXED);
	return task;
}

ST_EXPORT struct st_task_maker st_GOMP_task_maker(void (*task)(void *), unsigned which,
						  const char *stubs)
{
	const struct st_openmp *openmp = st_openmp();
	void (*const makers[])(void) = {openmp->GOMP_task, openmp->GOMP_taskloop,
					openmp->GOMP_taskloop_ull,
					openmp->GOMP_parallel_reductions};

	return (struct st_task_maker){stub_of(task, stubs), makers[which]};
}

ST_EXPORT void st_GOMP_run_task(void *data, unsigned slot)
{
	void (*task)(void *) = __atomic_load_n(&tasks[slot], __ATOMIC_RELAXED);
	struct wait *wait = own.open;

	if (wait == NULL) {
		task(data);
		return;
	}
	wait_cut(wait);
	task(data);
	wait_begin(wait);
}

/* --- parallel regions ------------------------------------------------------------------------- */

/* On the stack of the thread that began it, until all threads have arrived at its end. */
struct region {
	void (*share)(void *data);
	void *data;
	uintptr_t site;
	const void *team; /* stands for the threads of the one that began it */
	uint32_t n_arrived;
	struct wait join;
};

/* Stamped before the threads can be seen to work. */
static struct region region_begin(void (*share)(void *), void *data, unsigned n_threads,
				  uintptr_t site)
{
	struct region region = {.share = share, .data = data, .site = site, .team = &own.idle};

	region.join = (struct wait){ST_EVENT_barrier_join_begin, site, (const void *)site, 0};
	if (n_threads != 1)
		st_note(ST_EVENT_thread_region, 0, site, region.team, 0);
	return region;
}

static void region_end(const struct region *region)
{
	if (own.open == &region->join)
		wait_end(&region->join);
}

/* A thread's share has ended. The region exists until all threads have told libgomp so. */
static void arrive(struct region *region)
{
	uint32_t n_threads = (uint32_t)st_openmp()->omp_get_num_threads();
	bool is_first = st_openmp()->omp_get_thread_num() == 0, is_last;

	if (n_threads == 1)
		return;
	/* acq_rel: the last thread's event is stamped after the others have arrived */
	is_last = __atomic_add_fetch(&region->n_arrived, 1, __ATOMIC_ACQ_REL) == n_threads;
	if (is_last && !__atomic_load_n(&has_unknown_tasks, __ATOMIC_RELAXED))
		st_note(ST_EVENT_barrier_join, 0, region->site, region->join.object, 0);
	if (!is_first) {
		own.idle = (struct wait){ST_EVENT_thread_idle_begin, region->site, region->team, 0};
		wait_begin(&own.idle);
	} else if (!is_last) {
		wait_begin(&region->join);
	}
}

static void openmp_share(void *argument)
{
	struct region *region = argument;

	if (own.open == &own.idle)
		wait_cut(&own.idle);
	region->share(region->data);
	arrive(region);
}

#define REGION(name, parameters, ...)                                                              \
	ST_EXPORT void st_##name parameters                                                        \
	{                                                                                          \
		struct region region = region_begin(share, data, n, ST_SITE());                    \
                                                                                                   \
		st_openmp()->name(openmp_share, &region, n, __VA_ARGS__);                          \
		region_end(&region);                                                               \
	}

#define SHARE  void (*share)(void *), void *data, unsigned n
#define BOUNDS long start, long end, long step
#define LOOP(how)                                                                                  \
	REGION(GOMP_parallel_loop_##how, (SHARE, BOUNDS, long chunk, unsigned flags), start, end,  \
	       step, chunk, flags)
#define LOOP_RUNTIME(how)                                                                          \
	REGION(GOMP_parallel_loop_##how, (SHARE, BOUNDS, unsigned flags), start, end, step, flags)

REGION(GOMP_parallel, (SHARE, unsigned flags), flags)
REGION(GOMP_parallel_sections, (SHARE, unsigned sections, unsigned flags), sections, flags)
LOOP(static)
LOOP(dynamic)
LOOP(guided)
LOOP(nonmonotonic_dynamic)
LOOP(nonmonotonic_guided)
LOOP_RUNTIME(runtime)
LOOP_RUNTIME(nonmonotonic_runtime)
LOOP_RUNTIME(maybe_nonmonotonic_runtime)
