/* SPDX-License-Identifier: MIT */
/*
 * The functions of libgomp that gcc's code and the program call, and that block or order threads.
 *
 * The lists give each function's name, its type, and the version of its default definition. The
 * wrappers have the names st_NAME; libsync_trace_openmp.so exports the names themselves
 * (openmp/stubs.S).
 */
#ifndef ST_OPENMP_H
#define ST_OPENMP_H

#include <stdbool.h>

/* Critical sections and locks. */
#define ST_OPENMP_LOCKS(X)                                                                         \
	X(void, GOMP_critical_start, (void), "GOMP_1.0")                                           \
	X(void, GOMP_critical_end, (void), "GOMP_1.0")                                             \
	X(void, GOMP_critical_name_start, (void **), "GOMP_1.0")                                   \
	X(void, GOMP_critical_name_end, (void **), "GOMP_1.0")                                     \
	X(void, GOMP_atomic_start, (void), "GOMP_1.0")                                             \
	X(void, GOMP_atomic_end, (void), "GOMP_1.0")                                               \
	X(void, omp_init_lock, (void *), "OMP_3.0")                                                \
	X(void, omp_destroy_lock, (void *), "OMP_3.0")                                             \
	X(void, omp_set_lock, (void *), "OMP_3.0")                                                 \
	X(void, omp_unset_lock, (void *), "OMP_3.0")                                               \
	X(int, omp_test_lock, (void *), "OMP_3.0")                                                 \
	X(void, omp_init_nest_lock, (void *), "OMP_3.0")                                           \
	X(void, omp_destroy_nest_lock, (void *), "OMP_3.0")                                        \
	X(void, omp_set_nest_lock, (void *), "OMP_3.0")                                            \
	X(void, omp_unset_nest_lock, (void *), "OMP_3.0")                                          \
	X(int, omp_test_nest_lock, (void *), "OMP_3.0")                                            \
	X(void, omp_init_lock_, (void *), "OMP_3.0")                                               \
	X(void, omp_destroy_lock_, (void *), "OMP_3.0")                                            \
	X(void, omp_set_lock_, (void *), "OMP_3.0")                                                \
	X(void, omp_unset_lock_, (void *), "OMP_3.0")                                              \
	X(int, omp_test_lock_, (void *), "OMP_3.0")                                                \
	X(void, omp_init_nest_lock_, (void *), "OMP_3.0")                                          \
	X(void, omp_destroy_nest_lock_, (void *), "OMP_3.0")                                       \
	X(void, omp_set_nest_lock_, (void *), "OMP_3.0")                                           \
	X(void, omp_unset_nest_lock_, (void *), "OMP_3.0")                                         \
	X(int, omp_test_nest_lock_, (void *), "OMP_3.0")

/* Waits for the threads of a team, and for tasks. */
#define ST_OPENMP_WAITS(X)                                                                         \
	X(void, GOMP_barrier, (void), "GOMP_1.0")                                                  \
	X(bool, GOMP_barrier_cancel, (void), "GOMP_4.0")                                           \
	X(void, GOMP_loop_end, (void), "GOMP_1.0")                                                 \
	X(bool, GOMP_loop_end_cancel, (void), "GOMP_4.0")                                          \
	X(void, GOMP_sections_end, (void), "GOMP_1.0")                                             \
	X(bool, GOMP_sections_end_cancel, (void), "GOMP_4.0")                                      \
	X(void, GOMP_taskwait, (void), "GOMP_2.0")                                                 \
	X(void, GOMP_taskwait_depend, (void **), "GOMP_5.0")                                       \
	X(void, GOMP_taskgroup_end, (void), "GOMP_4.0")

/*
 * Parallel regions: a function of the program, its argument, how many threads, and up to five
 * numbers more.
 */
#define ST_OPENMP_SHARE	       void (*)(void *), void *, unsigned
#define ST_OPENMP_LOOP	       (ST_OPENMP_SHARE, long, long, long, long, unsigned)
#define ST_OPENMP_LOOP_RUNTIME (ST_OPENMP_SHARE, long, long, long, unsigned)
#define ST_OPENMP_REGIONS(X)                                                                       \
	X(void, GOMP_parallel, (ST_OPENMP_SHARE, unsigned), "GOMP_4.0")                            \
	X(void, GOMP_parallel_sections, (ST_OPENMP_SHARE, unsigned, unsigned), "GOMP_4.0")         \
	X(void, GOMP_parallel_loop_static, ST_OPENMP_LOOP, "GOMP_4.0")                             \
	X(void, GOMP_parallel_loop_dynamic, ST_OPENMP_LOOP, "GOMP_4.0")                            \
	X(void, GOMP_parallel_loop_guided, ST_OPENMP_LOOP, "GOMP_4.0")                             \
	X(void, GOMP_parallel_loop_nonmonotonic_dynamic, ST_OPENMP_LOOP, "GOMP_4.5")               \
	X(void, GOMP_parallel_loop_nonmonotonic_guided, ST_OPENMP_LOOP, "GOMP_4.5")                \
	X(void, GOMP_parallel_loop_runtime, ST_OPENMP_LOOP_RUNTIME, "GOMP_4.0")                    \
	X(void, GOMP_parallel_loop_nonmonotonic_runtime, ST_OPENMP_LOOP_RUNTIME, "GOMP_5.0")       \
	X(void, GOMP_parallel_loop_maybe_nonmonotonic_runtime, ST_OPENMP_LOOP_RUNTIME, "GOMP_5.0")

/*
 * Functions that create tasks, and the region whose argument libgomp reads. Only their first
 * argument, a function of the program, is known here.
 */
#define ST_OPENMP_TASKS(X)                                                                         \
	X(void, GOMP_task, (void), "GOMP_2.0")                                                     \
	X(void, GOMP_taskloop, (void), "GOMP_4.5")                                                 \
	X(void, GOMP_taskloop_ull, (void), "GOMP_4.5")                                             \
	X(void, GOMP_parallel_reductions, (void), "GOMP_5.0")

/* Not wrapped, but called. */
#define ST_OPENMP_QUERIES(X)                                                                       \
	X(int, omp_get_num_threads, (void), "OMP_1.0")                                             \
	X(int, omp_get_thread_num, (void), "OMP_1.0")

#define ST_OPENMP(X)                                                                               \
	ST_OPENMP_LOCKS(X)                                                                         \
	ST_OPENMP_WAITS(X) ST_OPENMP_REGIONS(X) ST_OPENMP_TASKS(X) ST_OPENMP_QUERIES(X)

struct st_openmp {
#define ST_OPENMP_MEMBER(type, name, parameters, version) type(*name) parameters;
	ST_OPENMP(ST_OPENMP_MEMBER)
#undef ST_OPENMP_MEMBER
};

/* Called when the program starts. */
void st_openmp_open(void);

/* The real functions. */
const struct st_openmp *st_openmp(void);

#endif
