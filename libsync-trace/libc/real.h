/* SPDX-License-Identifier: MIT */
/*
 * The interposed functions and their real counterparts.
 *
 * One list gives each function's name, its type, and the versions of its default definition in
 * glibc: since 2.34, when libpthread moved into libc, and before. If a name has two meanings
 * (pthread_cond_*), the newer one is listed, which every program of the last twenty years uses.
 */
#ifndef ST_REAL_H
#define ST_REAL_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>

#define ST_GLIBC_BASE "GLIBC_2.2.5" /* glibc's first version on x86-64 */

/*
 * Mutexes come first: the lookup of a missing name may call an allocator that locks, which then
 * finds them.
 */
#define ST_REALS(X)                                                                                \
	X(int, pthread_mutex_lock, (pthread_mutex_t *), ST_GLIBC_BASE, NULL)                       \
	X(int, pthread_mutex_unlock, (pthread_mutex_t *), ST_GLIBC_BASE, NULL)                     \
	X(int, pthread_mutex_trylock, (pthread_mutex_t *), "GLIBC_2.34", ST_GLIBC_BASE)            \
	X(int, pthread_mutex_init, (pthread_mutex_t *, const pthread_mutexattr_t *),               \
	  ST_GLIBC_BASE, NULL)                                                                     \
	X(int, pthread_mutex_destroy, (pthread_mutex_t *), ST_GLIBC_BASE, NULL)                    \
	X(int, pthread_mutex_timedlock, (pthread_mutex_t *, const struct timespec *),              \
	  "GLIBC_2.34", ST_GLIBC_BASE)                                                             \
	X(int, pthread_mutex_clocklock, (pthread_mutex_t *, clockid_t, const struct timespec *),   \
	  "GLIBC_2.34", "GLIBC_2.30")                                                              \
	X(int, pthread_mutex_setprioceiling, (pthread_mutex_t *, int, int *), "GLIBC_2.34",        \
	  "GLIBC_2.4")                                                                             \
	X(int, pthread_mutex_consistent, (pthread_mutex_t *), "GLIBC_2.34", "GLIBC_2.12")          \
	X(int, pthread_cond_init, (pthread_cond_t *, const pthread_condattr_t *), "GLIBC_2.3.2",   \
	  NULL)                                                                                    \
	X(int, pthread_cond_destroy, (pthread_cond_t *), "GLIBC_2.3.2", NULL)                      \
	X(int, pthread_cond_wait, (pthread_cond_t *, pthread_mutex_t *), "GLIBC_2.3.2", NULL)      \
	X(int, pthread_cond_timedwait,                                                             \
	  (pthread_cond_t *, pthread_mutex_t *, const struct timespec *), "GLIBC_2.3.2", NULL)     \
	X(int, pthread_cond_clockwait,                                                             \
	  (pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *), "GLIBC_2.34", \
	  "GLIBC_2.30")                                                                            \
	X(int, pthread_cond_signal, (pthread_cond_t *), "GLIBC_2.3.2", NULL)                       \
	X(int, pthread_cond_broadcast, (pthread_cond_t *), "GLIBC_2.3.2", NULL)                    \
	X(int, sem_init, (sem_t *, int, unsigned), "GLIBC_2.34", ST_GLIBC_BASE)                    \
	X(sem_t *, sem_open, (const char *, int, ...), "GLIBC_2.34", ST_GLIBC_BASE)                \
	X(int, sem_destroy, (sem_t *), "GLIBC_2.34", ST_GLIBC_BASE)                                \
	X(int, sem_close, (sem_t *), "GLIBC_2.34", ST_GLIBC_BASE)                                  \
	X(int, sem_wait, (sem_t *), "GLIBC_2.34", ST_GLIBC_BASE)                                   \
	X(int, sem_trywait, (sem_t *), "GLIBC_2.34", ST_GLIBC_BASE)                                \
	X(int, sem_timedwait, (sem_t *, const struct timespec *), "GLIBC_2.34", ST_GLIBC_BASE)     \
	X(int, sem_clockwait, (sem_t *, clockid_t, const struct timespec *), "GLIBC_2.34",         \
	  "GLIBC_2.30")                                                                            \
	X(int, sem_post, (sem_t *), "GLIBC_2.34", ST_GLIBC_BASE)                                   \
	X(int, pthread_barrier_init,                                                               \
	  (pthread_barrier_t *, const pthread_barrierattr_t *, unsigned), "GLIBC_2.34",            \
	  ST_GLIBC_BASE)                                                                           \
	X(int, pthread_barrier_destroy, (pthread_barrier_t *), "GLIBC_2.34", ST_GLIBC_BASE)        \
	X(int, pthread_barrier_wait, (pthread_barrier_t *), "GLIBC_2.34", ST_GLIBC_BASE)           \
	X(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *),   \
	  "GLIBC_2.34", ST_GLIBC_BASE)                                                             \
	X(int, pthread_join, (pthread_t, void **), "GLIBC_2.34", ST_GLIBC_BASE)                    \
	X(int, pthread_tryjoin_np, (pthread_t, void **), "GLIBC_2.34", "GLIBC_2.3.3")              \
	X(int, pthread_timedjoin_np, (pthread_t, void **, const struct timespec *), "GLIBC_2.34",  \
	  "GLIBC_2.3.3")                                                                           \
	X(int, pthread_clockjoin_np, (pthread_t, void **, clockid_t, const struct timespec *),     \
	  "GLIBC_2.34", "GLIBC_2.31")                                                              \
	X(int, pthread_detach, (pthread_t), "GLIBC_2.34", ST_GLIBC_BASE)                           \
	X(void, pthread_exit, (void *), ST_GLIBC_BASE, NULL)                                       \
	X(int, pthread_rwlock_init, (pthread_rwlock_t *, const pthread_rwlockattr_t *),            \
	  "GLIBC_2.34", ST_GLIBC_BASE)                                                             \
	X(int, pthread_rwlock_destroy, (pthread_rwlock_t *), "GLIBC_2.34", ST_GLIBC_BASE)          \
	X(int, pthread_rwlock_rdlock, (pthread_rwlock_t *), "GLIBC_2.34", ST_GLIBC_BASE)           \
	X(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *), "GLIBC_2.34", ST_GLIBC_BASE)        \
	X(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *, const struct timespec *),          \
	  "GLIBC_2.34", ST_GLIBC_BASE)                                                             \
	X(int, pthread_rwlock_clockrdlock,                                                         \
	  (pthread_rwlock_t *, clockid_t, const struct timespec *), "GLIBC_2.34", "GLIBC_2.30")    \
	X(int, pthread_rwlock_wrlock, (pthread_rwlock_t *), "GLIBC_2.34", ST_GLIBC_BASE)           \
	X(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *), "GLIBC_2.34", ST_GLIBC_BASE)        \
	X(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *, const struct timespec *),          \
	  "GLIBC_2.34", ST_GLIBC_BASE)                                                             \
	X(int, pthread_rwlock_clockwrlock,                                                         \
	  (pthread_rwlock_t *, clockid_t, const struct timespec *), "GLIBC_2.34", "GLIBC_2.30")    \
	X(int, pthread_rwlock_unlock, (pthread_rwlock_t *), "GLIBC_2.34", ST_GLIBC_BASE)           \
	X(int, pthread_spin_init, (pthread_spinlock_t *, int), "GLIBC_2.34", ST_GLIBC_BASE)        \
	X(int, pthread_spin_destroy, (pthread_spinlock_t *), "GLIBC_2.34", ST_GLIBC_BASE)          \
	X(int, pthread_spin_lock, (pthread_spinlock_t *), "GLIBC_2.34", ST_GLIBC_BASE)             \
	X(int, pthread_spin_trylock, (pthread_spinlock_t *), "GLIBC_2.34", ST_GLIBC_BASE)          \
	X(int, pthread_spin_unlock, (pthread_spinlock_t *), "GLIBC_2.34", ST_GLIBC_BASE)           \
	X(int, pthread_once, (pthread_once_t *, void (*)(void)), "GLIBC_2.34", ST_GLIBC_BASE)      \
	X(int, chroot, (const char *), ST_GLIBC_BASE, NULL)                                        \
	X(int, kill, (pid_t, int), ST_GLIBC_BASE, NULL)                                            \
	X(int, killpg, (pid_t, int), ST_GLIBC_BASE, NULL)                                          \
	X(int, tgkill, (pid_t, pid_t, int), "GLIBC_2.30", NULL)                                    \
	X(int, raise, (int), ST_GLIBC_BASE, NULL)                                                  \
	X(int, sigqueue, (pid_t, int, const union sigval), ST_GLIBC_BASE, NULL)                    \
	X(int, pthread_kill, (pthread_t, int), "GLIBC_2.34", ST_GLIBC_BASE)                        \
	X(int, pthread_sigqueue, (pthread_t, int, const union sigval), "GLIBC_2.34", "GLIBC_2.11") \
	X(int, pthread_cancel, (pthread_t), "GLIBC_2.34", ST_GLIBC_BASE)                           \
	X(int, mtx_init, (mtx_t *, int), "GLIBC_2.34", "GLIBC_2.28")                               \
	X(void, mtx_destroy, (mtx_t *), "GLIBC_2.34", "GLIBC_2.28")                                \
	X(int, mtx_lock, (mtx_t *), "GLIBC_2.34", "GLIBC_2.28")                                    \
	X(int, mtx_trylock, (mtx_t *), "GLIBC_2.34", "GLIBC_2.28")                                 \
	X(int, mtx_timedlock, (mtx_t *, const struct timespec *), "GLIBC_2.34", "GLIBC_2.28")      \
	X(int, mtx_unlock, (mtx_t *), "GLIBC_2.34", "GLIBC_2.28")                                  \
	X(int, cnd_init, (cnd_t *), "GLIBC_2.34", "GLIBC_2.28")                                    \
	X(void, cnd_destroy, (cnd_t *), "GLIBC_2.34", "GLIBC_2.28")                                \
	X(int, cnd_wait, (cnd_t *, mtx_t *), "GLIBC_2.34", "GLIBC_2.28")                           \
	X(int, cnd_timedwait, (cnd_t *, mtx_t *, const struct timespec *), "GLIBC_2.34",           \
	  "GLIBC_2.28")                                                                            \
	X(int, cnd_signal, (cnd_t *), "GLIBC_2.34", "GLIBC_2.28")                                  \
	X(int, cnd_broadcast, (cnd_t *), "GLIBC_2.34", "GLIBC_2.28")                               \
	X(int, thrd_create, (thrd_t *, thrd_start_t, void *), "GLIBC_2.34", "GLIBC_2.28")          \
	X(int, thrd_join, (thrd_t, int *), "GLIBC_2.34", "GLIBC_2.28")                             \
	X(int, thrd_detach, (thrd_t), "GLIBC_2.34", "GLIBC_2.28")                                  \
	X(void, thrd_exit, (int), "GLIBC_2.34", "GLIBC_2.28")                                      \
	X(void, call_once, (once_flag *, void (*)(void)), "GLIBC_2.34", "GLIBC_2.28")              \
	X(pid_t, _Fork, (void), "GLIBC_2.34", NULL)                                                \
	ST_REAL_ALIASES(X)                                                                         \
	X(void, longjmp, (struct __jmp_buf_tag *, int), ST_GLIBC_BASE, NULL)                       \
	X(void, _longjmp, (struct __jmp_buf_tag *, int), ST_GLIBC_BASE, NULL)                      \
	X(void, siglongjmp, (struct __jmp_buf_tag *, int), ST_GLIBC_BASE, NULL)                    \
	X(void, __longjmp_chk, (struct __jmp_buf_tag *, int), "GLIBC_2.11", NULL)

/* Second names that glibc keeps for old programs (ST_ALIAS). */
#define ST_REAL_ALIASES(X)                                                                         \
	X(int, __pthread_mutex_lock, (pthread_mutex_t *), ST_GLIBC_BASE, NULL)                     \
	X(int, __pthread_mutex_unlock, (pthread_mutex_t *), ST_GLIBC_BASE, NULL)                   \
	X(int, __pthread_mutex_trylock, (pthread_mutex_t *), ST_GLIBC_BASE, NULL)                  \
	X(int, __pthread_mutex_init, (pthread_mutex_t *, const pthread_mutexattr_t *),             \
	  ST_GLIBC_BASE, NULL)                                                                     \
	X(int, __pthread_mutex_destroy, (pthread_mutex_t *), ST_GLIBC_BASE, NULL)                  \
	X(int, __pthread_rwlock_init, (pthread_rwlock_t *, const pthread_rwlockattr_t *),          \
	  ST_GLIBC_BASE, NULL)                                                                     \
	X(int, __pthread_rwlock_destroy, (pthread_rwlock_t *), ST_GLIBC_BASE, NULL)                \
	X(int, __pthread_rwlock_rdlock, (pthread_rwlock_t *), ST_GLIBC_BASE, NULL)                 \
	X(int, __pthread_rwlock_tryrdlock, (pthread_rwlock_t *), ST_GLIBC_BASE, NULL)              \
	X(int, __pthread_rwlock_wrlock, (pthread_rwlock_t *), ST_GLIBC_BASE, NULL)                 \
	X(int, __pthread_rwlock_trywrlock, (pthread_rwlock_t *), ST_GLIBC_BASE, NULL)              \
	X(int, __pthread_rwlock_unlock, (pthread_rwlock_t *), ST_GLIBC_BASE, NULL)                 \
	X(int, __pthread_once, (pthread_once_t *, void (*)(void)), ST_GLIBC_BASE, NULL)            \
	X(int, gsignal, (int), ST_GLIBC_BASE, NULL)

struct __jmp_buf_tag;

struct st_real {
#define ST_REAL_MEMBER(type, name, parameters, version, older) type(*name) parameters;
	ST_REALS(ST_REAL_MEMBER)
#undef ST_REAL_MEMBER
};

/* Complete after st_real_resolve() has returned; no wrapper calls through it before. */
extern struct st_real st_real __attribute__((visibility("hidden")));

/*
 * The wrapper of a second name. If the real functions are the same, it does what the wrapper of the
 * first name does, with the same call site (a sibling call). They differ if another library is
 * between us and glibc: that may call the second name to reach glibc from its own wrapper of the
 * first, so the call goes to glibc, unrecorded.
 */
#define ST_ALIAS(alias_name, name, parameters, arguments)                                          \
	static __typeof__(name) traced_##name __attribute__((alias(#name), nothrow));              \
	__attribute__((visibility("default"))) __typeof__(name) alias_name;                        \
	int alias_name parameters                                                                  \
	{                                                                                          \
		/* NULL: an allocator's call during the lookup. */                                 \
		return st_real.alias_name == st_real.name || st_real.alias_name == NULL            \
			   ? traced_##name arguments                                               \
			   : st_real.alias_name arguments;                                         \
	}

/* True if the functions of <threads.h> behave like glibc's pthread functions. */
extern bool st_real_c11;

/*
 * Functions by which a wrapper finds out whether the program's call would wait: glibc's own try
 * functions. If another library between us and glibc has functions of that kind, it may count or
 * check the program's calls, so no other call is made: these functions then only read the object,
 * and return EBUSY (EAGAIN in errno) or that it is unknown, never success.
 */
struct st_try {
	int (*mutex)(pthread_mutex_t *);
	int (*rdlock)(pthread_rwlock_t *);
	int (*wrlock)(pthread_rwlock_t *);
	int (*spin)(pthread_spinlock_t *);
	int (*sem)(sem_t *);
	int (*join)(pthread_t, void **);
};

extern struct st_try st_try __attribute__((visibility("hidden")));

int st_mutex_look(pthread_mutex_t *mutex);
int st_rdlock_look(pthread_rwlock_t *lock);
int st_wrlock_look(pthread_rwlock_t *lock);
int st_spin_look(pthread_spinlock_t *lock);
int st_sem_look(sem_t *sem);
int st_join_look(pthread_t thread, void **value);

/*
 * Looks up all functions. The same thread may enter it again (an allocator that locks); that inner
 * call completes the table.
 */
void st_real_resolve(void);

#endif
