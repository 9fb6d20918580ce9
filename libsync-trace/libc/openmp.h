/* SPDX-License-Identifier: MIT */
/*
 * The functions of libgomp that gcc's code and the program call, and that block or order threads.
 *
 * The list gives each function's name, its type, and the version of its default definition. The
 * wrappers have the names st_NAME; libsync_trace_openmp.so exports the names themselves
 * (openmp/stubs.S).
 */
#ifndef ST_OPENMP_H
#define ST_OPENMP_H

#include <stdbool.h>

#define ST_OPENMP(X)                                                                               \
	X(void, GOMP_critical_start, (void), "GOMP_1.0")                                           \
	X(void, GOMP_critical_end, (void), "GOMP_1.0")                                             \
	X(void, GOMP_critical_name_start, (void **), "GOMP_1.0")                                   \
	X(void, GOMP_critical_name_end, (void **), "GOMP_1.0")                                     \
	X(void, GOMP_atomic_start, (void), "GOMP_1.0")                                             \
	X(void, GOMP_atomic_end, (void), "GOMP_1.0")                                               \
	X(void, GOMP_barrier, (void), "GOMP_1.0")                                                  \
	X(bool, GOMP_barrier_cancel, (void), "GOMP_4.0")                                           \
	X(void, GOMP_loop_end, (void), "GOMP_1.0")                                                 \
	X(bool, GOMP_loop_end_cancel, (void), "GOMP_4.0")                                          \
	X(void, GOMP_sections_end, (void), "GOMP_1.0")                                             \
	X(bool, GOMP_sections_end_cancel, (void), "GOMP_4.0")                                      \
	X(void, omp_init_lock, (void *), "OMP_3.0")                                                \
	X(void, omp_destroy_lock, (void *), "OMP_3.0")                                             \
	X(void, omp_set_lock, (void *), "OMP_3.0")                                                 \
	X(void, omp_unset_lock, (void *), "OMP_3.0")                                               \
	X(int, omp_test_lock, (void *), "OMP_3.0")                                                 \
	X(void, omp_init_nest_lock, (void *), "OMP_3.0")                                           \
	X(void, omp_destroy_nest_lock, (void *), "OMP_3.0")                                        \
	X(void, omp_set_nest_lock, (void *), "OMP_3.0")                                            \
	X(void, omp_unset_nest_lock, (void *), "OMP_3.0")                                          \
	X(int, omp_test_nest_lock, (void *), "OMP_3.0")

struct st_openmp {
#define ST_OPENMP_MEMBER(type, name, parameters, version) type(*name) parameters;
	ST_OPENMP(ST_OPENMP_MEMBER)
#undef ST_OPENMP_MEMBER
};

/* Called when the program starts. */
void st_openmp_open(void);

/* The real functions. */
const struct st_openmp *st_openmp(void);

/*
 * True if an object that was loaded then refers to libgomp's functions that create tasks. A thread
 * that waits at a barrier runs them.
 */
bool st_openmp_has_tasks(void);

#endif
