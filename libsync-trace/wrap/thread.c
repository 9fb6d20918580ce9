/* SPDX-License-Identifier: MIT */
/*
 * Creation, start, join and detaching of threads. Their end is handled in self.c.
 *
 * A new thread starts in start_here(), which records it and then jumps to the program's routine (a
 * sibling call: no frame of ours stays on its stack, in its backtrace or in the way of an
 * unwinder). Its data is passed in a record of a small static pool.
 *
 * The creator may read the new pthread_t from the program's variable only until the new thread runs
 * the program's code, which may free the variable. So creator and thread agree through the record's
 * state: the first of them provides the pthread_t, the other one uses it and frees the record.
 */
#include <errno.h>
#include <sys/mman.h>

#include "wrap/c11.h"
#include "wrap/cancelled.h"
#include "record/internal.h"
#include "libc/real.h"
#include "runtime/process/process.h"
#include "runtime/process/threads.h"
#include "runtime/sys/futex.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"
#include "record/writer.h"

#define POOL_WORDS 8u
#define POOL_SIZE  (POOL_WORDS * 64u)

typedef void *routine_fn(void *);

enum start_state {
	START_PENDING = 0,
	START_READING, /* the creator reads its variable */
	START_AWAITED, /* the same, and the thread sleeps until that is done */
	START_READ,    /* the creator is done with the record */
	START_RUNNING, /* the thread is done with the record, except `pthread` */
};

struct start {
	uint32_t state;
	int32_t parent_index;
	routine_fn *routine;
	void *arg;
	union {
		pthread_t pthread;
		uint32_t live; /* until the thread has begun: see st_live_create() */
	};
	struct st_thread *writer; /* for the new thread; NULL: it takes one itself */
	uintptr_t stack_floor;	  /* see st_stack_begins() */
};

/* The routine to call: small enough to be returned in registers. */
struct target {
	routine_fn *routine;
	void *arg;
};

static GM_LARGE struct start pool[POOL_SIZE];
static uint64_t pool_used[POOL_WORDS]; /* one bit per record */

static struct start *start_new(void)
{
	for (unsigned i = 0; i < POOL_WORDS; i++) {
		uint64_t used = __atomic_load_n(&pool_used[i], __ATOMIC_RELAXED);

		while (~used != 0) {
			unsigned bit = (unsigned)__builtin_ctzll(~used);

			/* acquire: pairs with the release in start_free() */
			if (__atomic_compare_exchange_n(&pool_used[i], &used, used | 1ull << bit,
							true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
				return &pool[i * 64 + bit];
		}
	}
	return gm_sys_mmap(sizeof(struct start), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void start_free(struct start *start)
{
	uint64_t n = (uint64_t)(start - pool);

	if (start < pool || start >= pool + POOL_SIZE)
		gm_sys_munmap(start, sizeof(*start));
	else
		__atomic_fetch_and(&pool_used[n / 64], ~(1ull << n % 64), __ATOMIC_RELEASE);
}

/*
 * --- the tid of a pthread_t, as far as it is known ---------------------------------------------
 */

#define KNOWN_THREADS 1024u /* a power of two */

/* Index + 1 of the newest thread with this hash; other threads are not found. */
static GM_LARGE uint32_t known[KNOWN_THREADS];

static uint32_t *known_entry(pthread_t thread)
{
	return &known[(uint64_t)thread * 0x9e3779b97f4a7c15u >> 54 & (KNOWN_THREADS - 1)];
}

static uint32_t tid_of(pthread_t thread)
{
	uint32_t link = __atomic_load_n(known_entry(thread), __ATOMIC_RELAXED);
	struct gm_thread_slot *slot;

	if (link == 0 || gm_process_get() == NULL)
		return 0;
	slot = gm_thread_at(link - 1);
	return slot != NULL && slot->pthread == thread && slot->state == GM_THREAD_LIVE ? slot->tid
											: 0;
}

/* --- start --------------------------------------------------------------------------------------
 */

static ST_COLD void wait_for_creator(struct start *start)
{
	uint32_t state = START_READING;

	if (!__atomic_compare_exchange_n(&start->state, &state, START_AWAITED, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
		return;
	while (__atomic_load_n(&start->state, __ATOMIC_ACQUIRE) == START_AWAITED)
		gm_futex_wait(&start->state, START_AWAITED);
}

/* Copies the record, and agrees with the creator on which of them frees it. */
static struct start start_take(struct start *start)
{
	struct start taken = *start;
	uint32_t state = START_PENDING;

	start->pthread = pthread_self();
	/* acq_rel: publishes `pthread`; pairs with the exchange in created_thread() */
	if (!__atomic_compare_exchange_n(&start->state, &state, START_RUNNING, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		wait_for_creator(start);
		start_free(start);
	}
	return taken;
}

/* Parks a writer that no thread has taken. */
static void put_back(struct st_thread *writer)
{
	uint64_t mask;

	if (writer == NULL)
		return;
	gm_signals_block(&mask);
	st_pool_put(writer);
	gm_signals_restore(mask);
}

/* libgmon-mt may sample the thread, whether or not it is recorded here. */
static void tell_begin(void)
{
	void (*begun)(void) = gm_thread_begun_by(GM_LIB_CALLS);

	if (begun != NULL)
		begun();
}

static __attribute__((noinline)) struct target begin_thread(void *arg)
{
	struct start start = start_take(arg);
	struct st_thread *self;

	tell_begin();
	st_stack_begins((uintptr_t)__builtin_dwarf_cfa(), start.stack_floor);
	st_thread_not_cancelled((uint64_t)pthread_self());
	st_live_begin(start.live);
	st_thread_give(start.writer);
	self = st_enter();
	put_back(st_thread_give(NULL));
	if (self != NULL) {
		if (self->live) {
			self->slot->start_routine = (uintptr_t)start.routine;
			self->slot->parent_index = start.parent_index;
			__atomic_store_n(known_entry(pthread_self()), self->stream.index + 1,
					 __ATOMIC_RELAXED);
		}
		st_emit_parts(self, ST_EVENT_thread_start, 0, 0, (const void *)pthread_self(),
			      (uint32_t)start.parent_index, st_stamp(self));
		st_leave(self);
	}
	return (struct target){start.routine, start.arg};
}

static void *start_here(void *arg)
{
	struct target target = begin_thread(arg);

	return target.routine(target.arg);
}

/*
 * After a successful creation: returns the new thread's id, without accessing memory that the
 * thread may free.
 */
static pthread_t created_thread(struct start *start, const pthread_t *variable)
{
	uint32_t state = START_PENDING;
	bool is_sealed = gm_seal_is_set();
	pthread_t thread;
	uint64_t mask = 0;

	/* A handler might wait for the new thread, which would wait for this one. */
	if (!is_sealed)
		gm_signals_block(&mask);
	if (__atomic_compare_exchange_n(&start->state, &state, START_READING, false,
					__ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		thread = *variable;
		/*
		 * release: pairs with the acquires in wait_for_creator(). The record now belongs to
		 * the thread, which may have freed it: a wake on its address is harmless.
		 */
		if (__atomic_exchange_n(&start->state, START_READ, __ATOMIC_RELEASE) ==
		    START_AWAITED)
			gm_futex_wake(&start->state, 1);
	} else {
		thread = start->pthread;
		start_free(start);
	}
	if (!is_sealed)
		gm_signals_restore(mask);
	return thread;
}

/* A start routine of C11 returns an int, which is passed through in eax. */
static int create_real(pthread_t *thread, const pthread_attr_t *attributes, routine_fn *routine,
		       void *arg, bool c11)
{
	if (c11)
		return st_c11_error(
		    st_real.thrd_create((thrd_t *)thread, (thrd_start_t)(uintptr_t)routine, arg));
	return st_real.pthread_create(thread, attributes, routine, arg);
}

/* Called if no thread was created. */
static void start_undo(struct start *start)
{
	put_back(start->writer);
	st_live_create_failed();
	start_free(start);
}

/* A thread of LTTng. */
static void *start_unseen(void *arg)
{
	struct start start = *(struct start *)arg;

	start_free(arg);
	st_self = &st_off;
	return start.routine(start.arg);
}

static int create_unseen(pthread_t *thread, const pthread_attr_t *attributes, routine_fn *routine,
			 void *arg)
{
	struct start *start = start_new();
	int result;

	if (start == NULL)
		return EAGAIN;
	*start = (struct start){
	    .state = START_PENDING, .parent_index = -1, .routine = routine, .arg = arg};
	result = st_real.pthread_create(thread, attributes, start_unseen, start);
	if (result != 0)
		start_free(start);
	return result;
}

static __attribute__((noinline)) struct target begin_unrecorded(void *arg)
{
	struct start start = *(struct start *)arg;

	start_free(arg);
	tell_begin();
	return (struct target){start.routine, start.arg};
}

static void *start_unrecorded(void *arg)
{
	struct target target = begin_unrecorded(arg);

	return target.routine(target.arg);
}

/* Threads are not recorded here; libgmon-mt may sample them. */
static int create_unrecorded(pthread_t *thread, const pthread_attr_t *attributes,
			     routine_fn *routine, void *arg, bool c11)
{
	struct start *start = gm_thread_begun_by(GM_LIB_CALLS) != NULL ? start_new() : NULL;
	int result;

	if (start == NULL)
		return create_real(thread, attributes, routine, arg, c11);
	*start = (struct start){.parent_index = -1, .routine = routine, .arg = arg};
	result = create_real(thread, attributes, start_unrecorded, start, c11);
	if (result != 0)
		start_free(start);
	return result;
}

/* A stack with a guard page ends there; one of the program's own has none. */
static uintptr_t stack_floor(const pthread_attr_t *attributes)
{
	void *stack = NULL;
	size_t n_bytes = 0, n_guard = 0;

	if (attributes == NULL)
		return 0;
	pthread_attr_getstack(attributes, &stack, &n_bytes);
	if ((uintptr_t)stack + n_bytes != 0) /* set by the program */
		return (uintptr_t)stack;
	pthread_attr_getguardsize(attributes, &n_guard);
	return n_guard != 0 ? 0 : UINTPTR_MAX;
}

static int create_traced(pthread_t *thread, const pthread_attr_t *attributes, routine_fn *routine,
			 void *arg, bool c11, uintptr_t site)
{
	struct st_thread *self = st_enter();
	struct start *start;
	pthread_t created = 0;
	uint64_t now_ns;
	int result;

	if (self == NULL && st_self == &st_busy && st_process_sink() != GM_SINK_NATIVE)
		return create_unseen(thread, attributes, routine, arg);
	if (self == NULL && st_self == &st_off)
		return create_unrecorded(thread, attributes, routine, arg, c11);
	if (self == NULL)
		return create_real(thread, attributes, routine, arg, c11);
	now_ns = st_stamp(self);
	start = start_new();
	if (start != NULL)
		*start =
		    (struct start){.state = START_PENDING,
				   .parent_index = self->live ? (int32_t)self->stream.index : -1,
				   .routine = routine,
				   .arg = arg,
				   .writer = st_pool_take_ahead(self, now_ns),
				   .stack_floor = stack_floor(attributes),
				   .live = st_live_create()};
	now_ns = st_stamp(self);
	st_leave(self);

	if (start == NULL)
		result = create_real(thread, attributes, routine, arg, c11);
	else
		result = create_real(thread, attributes, start_here, start, c11);
	if (start != NULL && result == 0)
		created = created_thread(start, thread);
	else if (start != NULL)
		start_undo(start);

	self = st_skips(ST_EVENT_thread_create, NULL, site) ? NULL : st_enter();
	if (self == NULL)
		return result;
	st_emit_parts(self, ST_EVENT_thread_create, result, site, (const void *)created,
		      (uintptr_t)routine, now_ns);
	st_leave(self);
	return result;
}

ST_EXPORT int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
			     routine_fn *routine, void *restrict arg)
{
	return create_traced(thread, attributes, routine, arg, false, ST_SITE());
}

/* --- join ---------------------------------------------------------------------------------------
 */

struct call {
	clockid_t clock;
	const struct timespec *deadline;
	bool timed, clocked;
};

static int call_real(pthread_t thread, void **value, const struct call *call)
{
	if (call->clocked)
		return st_real.pthread_clockjoin_np(thread, value, call->clock, call->deadline);
	if (call->timed)
		return st_real.pthread_timedjoin_np(thread, value, call->deadline);
	return st_real.pthread_join(thread, value);
}

static __attribute__((noinline)) int join_really(pthread_t thread, void **value, uintptr_t site,
						 const struct call *call)
{
	ST_CANCELLABLE wait = {.site = site};
	int result = call_real(thread, value, call);

	wait.is_over = true;
	return result;
}

/* Only a join can tell whether it has ended. */
int st_join_look(pthread_t thread, void **value)
{
	(void)thread;
	(void)value;
	return EBUSY;
}

/*
 * pthread_tryjoin_np() joins a thread that has ended like the other functions: none of them checks
 * its other arguments then, or is a cancellation point. An unknown clock is left to the real call.
 */
static int join_traced(pthread_t thread, void **value, uintptr_t site, const struct call *call)
{
	struct st_thread *self = st_skips(ST_EVENT_thread_join, NULL, site) ? NULL : st_enter();
	bool may_try =
	    !call->clocked || call->clock == CLOCK_REALTIME || call->clock == CLOCK_MONOTONIC;
	uint64_t begin_ns = 0;
	int result = EBUSY;

	if (self == NULL)
		return call_real(thread, value, call);
	st_leave(self);
	if (may_try)
		result = st_try.join(thread, value);
	if (result != 0) {
		self = st_enter();
		if (self != NULL && result == EBUSY && thread != pthread_self())
			begin_ns = st_note_begin(self, ST_EVENT_thread_join_begin, site,
						 (const void *)thread, tid_of(thread));
		else if (self != NULL)
			st_leave(self);
		result = join_really(thread, value, site, call);
	}
	st_note_end(begin_ns, ST_EVENT_thread_join, result, site, (const void *)thread, 0);
	return result;
}

ST_EXPORT int pthread_join(pthread_t thread, void **value)
{
	static const struct call call = {.timed = false};

	return join_traced(thread, value, ST_SITE(), &call);
}

ST_EXPORT int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *deadline)
{
	struct call call = {CLOCK_REALTIME, deadline, true, false};

	return join_traced(thread, value, ST_SITE(), &call);
}

ST_EXPORT int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
				   const struct timespec *deadline)
{
	struct call call = {clock, deadline, true, true};

	return join_traced(thread, value, ST_SITE(), &call);
}

ST_EXPORT int pthread_tryjoin_np(pthread_t thread, void **value)
{
	int result;

	st_ready();
	result = st_real.pthread_tryjoin_np(thread, value);
	st_note(ST_EVENT_thread_join, result, ST_SITE(), (const void *)thread, 0);
	return result;
}

static int detach_traced(pthread_t thread, uintptr_t site)
{
	int result;

	st_ready();
	result = st_real.pthread_detach(thread);
	st_note(ST_EVENT_thread_detach, result, site, (const void *)thread, 0);
	return result;
}

ST_EXPORT int pthread_detach(pthread_t thread)
{
	return detach_traced(thread, ST_SITE());
}

/* --- pthread_exit -------------------------------------------------------------------------- */

static ST_COLD void exit_noted(uintptr_t site)
{
	struct st_thread *self = st_enter();

	if (self == NULL)
		return;
	st_thread_ends_at(self, site, st_stamp(self));
	st_leave(self);
}

/*
 * It ends in a jump to the real function, so that no frame of ours is unwound. The declaration in
 * libc's header, which says that it does not return, would prevent the jump.
 */
ST_EXPORT void exit_thread(void *value) __asm__("pthread_exit");

void exit_thread(void *value)
{
	exit_noted(ST_SITE());
	st_real.pthread_exit(value);
}

ST_EXPORT void exit_thrd(int value) __asm__("thrd_exit");

void exit_thrd(int value)
{
	exit_noted(ST_SITE());
	st_real.thrd_exit(value);
}

/* --- C11's functions, which are the same in glibc (see c11.h) ------------------------------ */

ST_EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *arg)
{
	if (!st_c11_known())
		return st_real.thrd_create(thread, routine, arg);
	return st_c11_result(create_traced((pthread_t *)thread, NULL,
					   (routine_fn *)(uintptr_t)routine, arg, true, ST_SITE()));
}

ST_EXPORT int thrd_join(thrd_t thread, int *value)
{
	static const struct call call = {.timed = false};
	void *result = NULL;
	int error;

	if (!st_c11_known())
		return st_real.thrd_join(thread, value);
	error = join_traced((pthread_t)thread, &result, ST_SITE(), &call);
	if (value != NULL)
		*value = (int)(intptr_t)result;
	return st_c11_result(error);
}

ST_EXPORT int thrd_detach(thrd_t thread)
{
	return st_c11_known() ? st_c11_result(detach_traced((pthread_t)thread, ST_SITE()))
			      : st_real.thrd_detach(thread);
}
