/* SPDX-License-Identifier: MIT */
/*
 * OpenMP's critical sections and locks, as gcc's code and the program call them in libgomp. The
 * names lead here through libsync_trace_openmp.so.
 *
 * A lock of omp_set_lock() is tried first, like a mutex: omp_test_lock() is the first half of it. A
 * critical section has no try. A named one has its lock word at its address; of the unnamed one,
 * and of atomic operations, a word here tells who is in it. If a section is entered between the
 * look and the call, the wait has no begin.
 */
#include <errno.h>

#include "libc/openmp.h"
#include "wrap/plain_lock.h"

/* Called by libsync_trace_openmp.so. */
#define ST_OPENMP_DECLARE(type, name, parameters, version) ST_EXPORT type st_##name parameters;
ST_OPENMP_LOCKS(ST_OPENMP_DECLARE)
#undef ST_OPENMP_DECLARE
ST_EXPORT void st_GOMP_resolve(void);

ST_EXPORT void st_GOMP_resolve(void)
{
	st_openmp_open();
}

/* glibc's number of a recursive mutex, for a nestable lock. */
#define RECURSIVE 1

/* --- critical sections ------------------------------------------------------------------------ */

/* Critical sections without a name are one object, which has this state. */
struct unnamed {
	uint32_t holder;    /* the tid of the thread in it; 0: none */
	uint32_t n_waiting; /* threads */
};

struct section {
	const void *object;
	const uint32_t *word;	 /* not 0: taken */
	struct unnamed *unnamed; /* NULL: it has a name */
	void (*enter)(void), (*leave)(void);
};

static struct section named(void **name)
{
	return (struct section){.object = name, .word = (const uint32_t *)name};
}

static struct section unnamed(struct unnamed *unnamed, void (*enter)(void), void (*leave)(void))
{
	return (struct section){(const void *)enter, &unnamed->holder, unnamed, enter, leave};
}

static struct section critical(void)
{
	static struct unnamed critical;

	return unnamed(&critical, st_openmp()->GOMP_critical_start, st_openmp()->GOMP_critical_end);
}

static struct section atomic(void)
{
	static struct unnamed atomic;

	return unnamed(&atomic, st_openmp()->GOMP_atomic_start, st_openmp()->GOMP_atomic_end);
}

static inline void enter_real(const struct section *section)
{
	if (section->unnamed == NULL) {
		st_openmp()->GOMP_critical_name_start((void **)section->object);
		return;
	}
	section->enter();
	__atomic_store_n(&section->unnamed->holder, st_self->stream.tid, __ATOMIC_RELAXED);
}

static int leave_real(void *argument)
{
	const struct section *section = argument;

	if (section->unnamed == NULL) {
		st_openmp()->GOMP_critical_name_end((void **)section->object);
		return 0;
	}
	__atomic_store_n(&section->unnamed->holder, 0, __ATOMIC_RELAXED);
	section->leave();
	return 0;
}

/*
 * Returns true if the thread has to wait, as far as it can be seen. If threads wait for an unnamed
 * section, one of them may have entered it, and not noted itself yet.
 */
static bool section_is_taken(const struct section *section, uint32_t *ret_holder)
{
	uint32_t word = __atomic_load_n(section->word, __ATOMIC_RELAXED);

	*ret_holder = section->unnamed != NULL ? word : 0;
	return word != 0 || (section->unnamed != NULL &&
			     __atomic_load_n(&section->unnamed->n_waiting, __ATOMIC_RELAXED) != 0);
}

static void section_count_waits(const struct section *section, uint32_t n)
{
	if (section->unnamed != NULL)
		__atomic_fetch_add(&section->unnamed->n_waiting, n, __ATOMIC_RELAXED);
}

/* Enters it without a wait that could be seen. */
static inline __attribute__((always_inline)) void section_got(uintptr_t site,
							      const struct section *section)
{
	struct st_thread *self;

	enter_real(section);
	self = st_enter();
	if (st_likely(self != NULL))
		st_plain_got(self, ST_EVENT_mutex_critical, ST_COUNTED_mutex_critical,
			     section->object, site);
}

/* Another thread is in it. As for mutexes: that thread sees this waiter, or it has left by now. */
static ST_COLD void section_waits(uintptr_t site, const struct section *section)
{
	const void *object = section->object;
	struct st_thread *self = st_enter();
	uint32_t generation, holder;
	uint64_t begin_ns;

	if (self == NULL) {
		enter_real(section);
		return;
	}
	generation = st_waits_begin(object);
	begin_ns = st_stamp(self);
	if (section_is_taken(section, &holder)) {
		section_count_waits(section, 1);
		begin_ns = st_note_begin_at(self, ST_EVENT_mutex_critical_begin, site, object,
					    holder, begin_ns);
		enter_real(section);
		section_count_waits(section, (uint32_t)-1);
		st_note_end(begin_ns, ST_EVENT_mutex_critical, 0, site, object, 0);
	} else {
		st_leave(self);
		section_got(site, section);
	}
	st_waits_end(object, generation);
}

static inline __attribute__((always_inline)) void section_enter(uintptr_t site,
								const struct section *section)
{
	uint32_t holder;

	if (st_skips(ST_EVENT_mutex_critical, section->object, site))
		enter_real(section);
	else if (st_unlikely(section_is_taken(section, &holder)))
		section_waits(site, section);
	else
		section_got(site, section);
}

static void section_leave(uintptr_t site, struct section *section)
{
	const struct st_plain_release release = {
	    ST_EVENT_mutex_critical_end, ST_COUNTED_mutex_critical_end, leave_real, section};

	st_plain_unlock(&release, section->object, site);
}

ST_EXPORT void st_GOMP_critical_start(void)
{
	const struct section section = critical();

	section_enter(ST_SITE(), &section);
}

ST_EXPORT void st_GOMP_critical_end(void)
{
	struct section section = critical();

	section_leave(ST_SITE(), &section);
}

ST_EXPORT void st_GOMP_critical_name_start(void **name)
{
	const struct section section = named(name);

	section_enter(ST_SITE(), &section);
}

ST_EXPORT void st_GOMP_critical_name_end(void **name)
{
	struct section section = named(name);

	section_leave(ST_SITE(), &section);
}

ST_EXPORT void st_GOMP_atomic_start(void)
{
	const struct section section = atomic();

	section_enter(ST_SITE(), &section);
}

ST_EXPORT void st_GOMP_atomic_end(void)
{
	struct section section = atomic();

	section_leave(ST_SITE(), &section);
}

/* --- locks ------------------------------------------------------------------------------------ */

/* libgomp's functions for a kind of lock. */
struct kind {
	void (*set)(void *);
	int (*test)(void *); /* 0: taken by another task; else the number of acquisitions */
};

static void lock_waits(struct st_thread *self, void *lock, uintptr_t site, const struct kind *kind)
{
	uint32_t generation = st_waits_begin(lock);
	uint64_t begin_ns = st_stamp(self);

	if (kind->test(lock) != 0) {
		st_waits_end(lock, generation);
		st_plain_got(self, ST_EVENT_mutex_omp_lock, ST_COUNTED_mutex_omp_lock, lock, site);
		return;
	}
	begin_ns = st_note_begin_at(self, ST_EVENT_mutex_omp_lock_begin, site, lock, 0, begin_ns);
	kind->set(lock);
	st_note_end(begin_ns, ST_EVENT_mutex_omp_lock, 0, site, lock, 0);
	st_waits_end(lock, generation);
}

static void lock_traced(void *lock, uintptr_t site, const struct kind *kind)
{
	struct st_thread *self = st_skips(ST_EVENT_mutex_omp_lock, lock, site) ? NULL : st_enter();

	if (self == NULL)
		kind->set(lock);
	else if (st_likely(kind->test(lock) != 0))
		st_plain_got(self, ST_EVENT_mutex_omp_lock, ST_COUNTED_mutex_omp_lock, lock, site);
	else
		lock_waits(self, lock, site, kind);
}

/* The first of a run of failed tries (tries.h). */
static int test_failed(struct st_thread *self, void *lock, uintptr_t site, const struct kind *kind)
{
	uint64_t now_ns = st_stamp(self);
	int n = kind->test(lock);

	if (n == 0)
		st_tries_begin(self, ST_EVENT_mutex_omp_trylock, EBUSY, site, lock, 0, now_ns);
	return n;
}

static int test_traced(void *lock, uintptr_t site, const struct kind *kind)
{
	const enum st_event id = ST_EVENT_mutex_omp_trylock;
	struct st_thread *self = st_skips(id, lock, site) ? NULL : st_enter();
	int n = kind->test(lock);

	if (self == NULL)
		return n;
	if (n == 0)
		st_tries_mark(lock);
	if (n == 0 && self->counts != NULL && !st_tries_continue(self, id, site, lock))
		n = test_failed(self, lock, site, kind);
	if (n != 0) {
		st_plain_got(self, id, ST_COUNTED_mutex_omp_trylock, lock, site);
		return n;
	}
	if (self->counts == NULL)
		st_emit_unwaited(self, id, EBUSY, site, lock, st_stamp(self));
	st_leave(self);
	return n;
}

static void unlock_traced(void *lock, uintptr_t site, int (*real)(void *))
{
	const struct st_plain_release release = {ST_EVENT_mutex_omp_unlock,
						 ST_COUNTED_mutex_omp_unlock, real, lock};

	st_plain_unlock(&release, lock, site);
}

/*
 * The functions of a kind of lock. gfortran's code calls those with a _ at the end, with the
 * address of the program's variable, too; for a nestable lock, libgomp stores there where the lock
 * is.
 */
#define LOCKS(lock, initial)                                                                       \
	static int unset_##lock(void *object)                                                      \
	{                                                                                          \
		st_openmp()->omp_unset_##lock(object);                                             \
		return 0;                                                                          \
	}                                                                                          \
                                                                                                   \
	static struct kind kind_of_##lock(void)                                                    \
	{                                                                                          \
		return (struct kind){st_openmp()->omp_set_##lock, st_openmp()->omp_test_##lock};   \
	}                                                                                          \
                                                                                                   \
	ST_EXPORT void st_omp_set_##lock(void *object)                                             \
	{                                                                                          \
		const struct kind kind = kind_of_##lock();                                         \
                                                                                                   \
		lock_traced(object, ST_SITE(), &kind);                                             \
	}                                                                                          \
                                                                                                   \
	ST_EXPORT int st_omp_test_##lock(void *object)                                             \
	{                                                                                          \
		const struct kind kind = kind_of_##lock();                                         \
                                                                                                   \
		return test_traced(object, ST_SITE(), &kind);                                      \
	}                                                                                          \
                                                                                                   \
	ST_EXPORT void st_omp_unset_##lock(void *object)                                           \
	{                                                                                          \
		unlock_traced(object, ST_SITE(), unset_##lock);                                    \
	}                                                                                          \
                                                                                                   \
	ST_EXPORT void st_omp_init_##lock(void *object)                                            \
	{                                                                                          \
		st_openmp()->omp_init_##lock(object);                                              \
		st_note(ST_EVENT_mutex_omp_init, 0, ST_SITE(), object, initial);                   \
	}                                                                                          \
                                                                                                   \
	ST_EXPORT void st_omp_destroy_##lock(void *object)                                         \
	{                                                                                          \
		st_openmp()->omp_destroy_##lock(object);                                           \
		st_note(ST_EVENT_mutex_omp_destroy, 0, ST_SITE(), object, 0);                      \
	}

LOCKS(lock, 0)
LOCKS(nest_lock, RECURSIVE)
LOCKS(lock_, 0)
LOCKS(nest_lock_, RECURSIVE)
