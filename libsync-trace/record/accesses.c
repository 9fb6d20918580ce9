/* SPDX-License-Identifier: MIT */
/*
 * Memory accesses in critical sections: the side of libsync_trace (sync-trace/collector.h).
 *
 * All events of a thread that is recorded in full take the slow path (conditionals.c); in sampled
 * mode while it is stepped. At the time
 * stamp of an event the segment before it ends (st_access_cut()), which for a release is before the
 * call: the lock still protects the lines that are compared. When the event has been written, the
 * number of held locks is another one (st_access_event()).
 *
 * The writer's gate is closed in both. The thread's collector belongs to all of its writers, so it
 * has a gate of its own. Code that finds it closed has interrupted an access or one of these
 * functions: its events change the number of locks, and end no segment.
 *
 * In a forked child the collector is empty, and its segment begins at an unknown time: what it
 * collects before the child's first event is in sections that the child did not begin, and dropped.
 */
#include <emmintrin.h>
#include <errno.h>
#include <unistd.h>

#include "record/internal.h"
#include "runtime/capture/session.h"
#include "runtime/files/helper_task.h"
#include "runtime/files/warn.h"
#include "runtime/process/process.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define PAGE_BYTES 4096u
#define NO_PAGE	   UINT64_MAX

/* The end of the heap (brk), as libc stores it, and as it was at first. */
extern void *__curbrk;
static uintptr_t heap_start = UINTPTR_MAX;

/* By how much the number of held locks changes with an operation that succeeded. */
static const int8_t change_of[ST_N_EVENTS] = {
    [ST_EVENT_mutex_lock] = 1,	       [ST_EVENT_mutex_timedlock] = 1,
    [ST_EVENT_mutex_trylock] = 1,      [ST_EVENT_mutex_unlock] = -1,
    [ST_EVENT_rwlock_rdlock] = 1,      [ST_EVENT_rwlock_timedrdlock] = 1,
    [ST_EVENT_rwlock_tryrdlock] = 1,   [ST_EVENT_rwlock_wrlock] = 1,
    [ST_EVENT_rwlock_timedwrlock] = 1, [ST_EVENT_rwlock_trywrlock] = 1,
    [ST_EVENT_rwlock_unlock] = -1,     [ST_EVENT_spin_lock] = 1,
    [ST_EVENT_spin_trylock] = 1,       [ST_EVENT_spin_unlock] = -1,
    [ST_EVENT_mutex_critical] = 1,     [ST_EVENT_mutex_critical_end] = -1,
    [ST_EVENT_mutex_omp_lock] = 1,     [ST_EVENT_mutex_omp_trylock] = 1,
    [ST_EVENT_mutex_omp_unlock] = -1,
};

/* A condition wait releases its mutex, and holds it again at its end, unless a handler jumped out.
 */
static int change_by(const struct st_record *record)
{
	switch (record->id) {
	case ST_EVENT_cond_wait_begin:
	case ST_EVENT_cond_timedwait_begin:
		return record->extra != 0 ? -1 : 0;
	case ST_EVENT_cond_wait:
	case ST_EVENT_cond_timedwait:
		return record->extra != 0 && record->result != EINTR ? 1 : 0;
	default:
		/* EOWNERDEAD: of a robust mutex, which is held then. */
		return record->result == 0 || record->result == EOWNERDEAD ? change_of[record->id]
									   : 0;
	}
}

/* --- the collector ---------------------------------------------------------------------------- */

static struct st_collector *collector_new(void)
{
	struct st_collector *collector =
	    gm_seal_is_set() ? NULL : st_memory_new(sizeof(*collector));

	/* Most threads use few of its pages. */
	if (collector != NULL)
		gm_syscall3(SYS_madvise, (long)collector, sizeof(*collector), MADV_NOHUGEPAGE);
	return collector;
}

/*
 * Zeroes the places from each line's home up to a free one: its own, unless it was zeroed for
 * another line before.
 */
static void many_empty(struct st_collector *collector)
{
	for (uint32_t i = 0; i < collector->n_lines; i++) {
		uint32_t at = st_many_home(collector->lines[i].address);

		for (; collector->many[at] != 0; at = (at + 1) & (ST_MANY_HOMES - 1))
			collector->many[at] = 0;
	}
}

static void collector_empty(struct st_collector *collector, uint64_t now_ns)
{
	if (collector->n_lines >= ST_ACCESS_LINES_MAX / 8)
		memset(collector->many, 0, sizeof(collector->many));
	else if (collector->n_lines >= ST_FEW_LINES)
		many_empty(collector);
	memset(collector->few, 0, sizeof(collector->few));
	collector->n_lines = collector->latest = 0;
	collector->n = collector->n_reads = collector->n_writes = collector->n_left_out = 0;
	collector->begin_ns = now_ns;
}

/*
 * A jump left the middle of an access, which is lost: the tables may have a place for its line that
 * is no line. If it left one of the functions here, the segment's lines may be gone.
 */
static void collector_mend(struct st_collector *collector)
{
	memset(collector->few, 0, sizeof(collector->few));
	memset(collector->many, 0, sizeof(collector->many));
	for (uint32_t i = 0; i < collector->n_lines; i++) {
		uint64_t address = collector->lines[i].address;

		if (i < ST_FEW_LINES)
			collector->few[st_few_place(collector, address)] = (uint8_t)(i + 1);
		if (collector->n_lines >= ST_FEW_LINES)
			collector->many[st_many_place(collector, address)] = (uint16_t)(i + 1);
	}
	collector->latest = 0;
	collector->n_left_out++;
	st_gate_open(&collector->gate);
}

/* --- changed bytes ---------------------------------------------------------------------------- */

/*
 * Returns true if the page can be read: the program may have unmapped it since, by free() for
 * example. Without a system call for the thread's stack, for the program's own data, and for the
 * heap below its present end. Another thread that unmaps it just now does so without
 * synchronization with this one, since that would have ended the segment.
 */
static bool is_mapped(uint64_t page)
{
	if (page >= st_access->data_start && page + PAGE_BYTES <= st_access->data_end)
		return true;
	if (page >= heap_start && page + PAGE_BYTES <= (uintptr_t)__curbrk)
		return true;
	if (gm_seal_is_set())
		return false;
	return st_stack_has(page) || gm_memory_is_readable(page);
}

/* Returns the bytes that differ. */
static uint64_t difference(const uint8_t *before, const uint8_t *now)
{
	uint64_t equal = 0;

	for (unsigned i = 0; i < ST_LINE_BYTES; i += 16) {
		__m128i a = _mm_loadu_si128((const __m128i *)(before + i));
		__m128i b = _mm_loadu_si128((const __m128i *)(now + i));

		equal |= (uint64_t)(uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) << i;
	}
	return ~equal;
}

/* Sets the changed masks. Returns the flags of the segment. */
static unsigned compare(struct st_collector *collector)
{
	unsigned flags = collector->n_left_out != 0 ? ST_ACCESS_INEXACT : 0;
	uint64_t mapped = NO_PAGE;

	for (uint32_t i = 0; i < collector->n_lines; i++) {
		struct st_access_line *line = &collector->lines[i];
		uint64_t page = line->address / PAGE_BYTES * PAGE_BYTES;

		if (line->written == 0)
			continue;
		line->changed = line->written;
		if (page != mapped && !is_mapped(page)) {
			flags |= ST_ACCESS_UNMAPPED;
			continue;
		}
		mapped = page;
		line->changed &=
		    difference(collector->before[i], (const uint8_t *)(uintptr_t)line->address);
	}
	return flags;
}

/* --- segments --------------------------------------------------------------------------------- */

static void count_lost(struct st_access_thread *thread, uint64_t n)
{
	n += thread->n_lost;
	thread->n_lost = 0;
	if (n != 0)
		gm_process_count_accesses_lost(n);
}

bool st_collector_ready(struct st_access_thread *thread, uint64_t now_ns)
{
	if (thread->collector == NULL)
		thread->collector = collector_new();
	if (thread->collector == NULL || st_gate_shut(&thread->collector->gate))
		return false;
	collector_empty(thread->collector, now_ns);
	st_gate_open(&thread->collector->gate);
	return true;
}

/* Ends the segment. The collector's gate is closed. */
static void segment_end(struct st_thread *self, struct st_access_thread *thread, uint64_t now_ns)
{
	struct st_collector *collector = thread->collector;
	uint64_t n_lost = 0;
	/* Read once: this code may be stepped, too, and abandoned. */
	unsigned stepped = __atomic_load_n(&thread->stepped, __ATOMIC_RELAXED), flags;

	if (collector->begin_ns != 0) {
		flags = compare(collector) | stepped;
		if (!st_accesses_write(self, collector, flags, now_ns))
			n_lost = collector->n;
	}
	count_lost(thread, n_lost);
	collector_empty(collector, now_ns);
	st_steps_written(thread, stepped);
}

void st_access_cut(struct st_thread *self, uint64_t now_ns)
{
	struct st_access_thread *thread = st_access->thread();
	struct st_collector *collector = thread->collector;

	/*
	 * Not while the writer is made: its stream may still be that of another thread. The event
	 * that needs it ends the segment.
	 */
	if (collector == NULL || !self->live || st_self == &st_busy || !st_steps_cut(thread) ||
	    st_gate_shut(&collector->gate))
		return;
	if (collector->n != 0 || thread->stepped != 0)
		segment_end(self, thread, now_ns);
	else
		collector->begin_ns = now_ns;
	st_gate_open(&collector->gate);
}

void st_access_finish(struct st_thread *self)
{
	st_access_cut(self, st_stamp(self));
	count_lost(st_access->thread(), 0);
}

/* After the call: what a handler accessed since the cut is in no section. */
static void drop(struct st_access_thread *thread, uint64_t now_ns)
{
	struct st_collector *collector = thread->collector;

	if (collector == NULL || st_gate_shut(&collector->gate))
		return;
	if (collector->n != 0) {
		count_lost(thread, collector->n);
		collector_empty(collector, now_ns);
	}
	collector->begin_ns = now_ns;
	st_gate_open(&collector->gate);
}

static void thread_end(struct st_access_thread *thread)
{
	struct st_collector *collector = thread->collector;

	st_steps_thread_end(thread);
	thread->depth = thread->n_held = 0;
	count_lost(thread, 0);
	thread->collector = NULL;
	if (collector != NULL)
		gm_sys_munmap(collector, sizeof(*collector));
}

static void hold(struct st_thread *self, struct st_access_thread *thread, int change,
		 uint64_t now_ns)
{
	if (change > 0)
		thread->n_held++;
	else if (change < 0 && thread->n_held > 0) /* another thread may have acquired it */
		thread->n_held--;
	if (thread->n_held != 0 && thread->collector == NULL && st_access->steps == NULL)
		thread->collector = collector_new();
	/* Accesses since the cut are those of a handler; without a cut, they are of the segment. */
	if (change != 0 && thread->collector != NULL &&
	    (st_access->steps == NULL || thread->stepped != 0)) {
		if (thread->collector->begin_ns < now_ns)
			st_access_cut(self, now_ns);
		drop(thread, now_ns);
	}
	thread->depth = thread->n_held;
	if (thread->n_lost != 0)
		count_lost(thread, 0);
}

/* Then its locks are not known. */
static bool has_waits_only(const struct st_thread *self)
{
	return self->counts != NULL || self->ust_counts != NULL || self->only_ust;
}

void st_access_event(struct st_thread *self, const struct st_record *record)
{
	struct st_access_thread *thread = st_access->thread();
	int change;

	if (record->id == ST_EVENT_thread_exit) {
		thread_end(thread);
	} else if (!has_waits_only(self) && record->id != ST_EVENT_call_path) {
		change = change_by(record);
		st_steps_before(thread);
		hold(self, thread, change, record->now_ns);
		if (st_access->steps != NULL)
			st_steps_event(self, thread, record, change);
	}
}

uintptr_t st_access_frame(void)
{
	const struct st_access_thread *thread = st_access != NULL ? st_access->thread() : NULL;

	return thread != NULL && thread->collector != NULL ? thread->collector->gate : 0;
}

void st_access_left(void)
{
	collector_mend(st_access->thread()->collector);
}

/* --- threads and the process ------------------------------------------------------------------ */

void st_access_switch_off(void)
{
	struct st_access_thread *thread = st_access->thread();
	struct st_collector *collector = thread->collector;

	st_steps_thread_end(thread);
	thread->depth = thread->n_held = 0;
	if (!thread->is_off)
		gm_process_count_without_accesses();
	thread->is_off = true;
	if (collector == NULL || st_gate_shut(&collector->gate))
		return;
	count_lost(thread, collector->n);
	collector_empty(collector, 0);
	st_gate_open(&collector->gate);
}

void st_access_begin(struct st_thread *self, uint64_t now_ns)
{
	if (has_waits_only(self))
		st_access_switch_off();
	else if (self->accesses != NULL)
		st_accesses_resume(self, now_ns);
}

/*
 * Locks that the parent held are not counted: fork handlers of allocators acquire all of theirs,
 * and initialize them anew in the child.
 */
void st_access_forget(void)
{
	struct st_access_thread *thread;

	if (st_access == NULL)
		return;
	thread = st_access->thread();
	thread->is_off = false;
	thread->depth = thread->n_held = 0;
	st_accesses_forget();
}

static long find_heap_step(void *unused)
{
	(void)unused;
	heap_start = gm_proc_heap_start();
	return 0;
}

/* If it is not known, pages of the heap are tested like others. */
static void find_heap(void)
{
	uint64_t mask;

	gm_signals_block(&mask);
	gm_files_run(find_heap_step, NULL);
	gm_signals_restore(mask);
	if (heap_start == 0)
		heap_start = UINTPTR_MAX;
}

/* Returns 0 or -errno, and the rest of the line for stderr. */
static int check(const struct st_access_functions *functions, const char **ret_why)
{
	if (functions->abi != ST_ACCESS_ABI) {
		*ret_why = "libaccess_trace and libsync_trace.so are of different versions; "
			   "install both again";
		return -EINVAL;
	}
	if (functions->has_tsan) {
		*ret_why = "libtsan is loaded, too; link without -fsanitize=thread";
		return -ENOTSUP;
	}
	if (st_access != NULL) {
		*ret_why = st_access->steps != functions->steps
			       ? "the program has libaccess_trace, which records them; record it "
				 "without --accesses=sampled"
			       : "the program has two copies of libaccess_trace; link only one";
		return -EBUSY;
	}
	return 0;
}

/* True with access.mode=off. */
static bool is_unwanted(void)
{
	struct st_thread *self = st_enter();
	bool is_off = self != NULL && gm_process_get()->config.access_mode == GM_ACCESS_OFF;

	if (self != NULL)
		st_leave(self);
	return is_off;
}

ST_EXPORT int st_access_register(const struct st_access_functions *functions)
{
	char warning[GM_WARNING_BYTES];
	struct gm_text text = GM_TEXT(warning);
	const char *why;
	struct st_thread *self;
	int code;

	if (is_unwanted())
		return -ECANCELED;
	code = check(functions, &why);
	if (code != 0) {
		gm_text_add(&text, "cannot record accesses: ");
		gm_text_add(&text, why);
		gm_warn(warning);
		return code;
	}
	if (functions->is_last)
		gm_warn(
		    "accesses by memcpy() and the like, and blocks of the heap, are not recorded: "
		    "libc comes before libaccess_trace; link with -laccess_trace before -lc");
	/* release: pairs with uses by other threads, which find the structure filled in */
	__atomic_store_n(&st_access, functions, __ATOMIC_RELEASE);
	self = st_enter();
	if (self == NULL)
		return 0;
	if (functions->steps != NULL)
		st_steps_configure();
	if (self->live) {
		find_heap();
		st_conditionals_look(self);
		st_access_begin(self, self->stream.last_ns);
	}
	st_leave(self);
	return 0;
}
