/* SPDX-License-Identifier: MIT */
/*
 * libsync_trace_openmp.so: exports the names of libgomp's functions, and jumps to their wrappers in
 * libsync_trace.so, which so see the caller's return address.
 *
 * A shared object of its own, because in a program without libgomp these names must not exist: a
 * weak reference to one would become non-NULL. `record` preloads it into programs that need libgomp.
 */
	.text
#define STUB(name)                                                                                 \
	.globl name;                                                                               \
	.type name, @function;                                                                     \
	.balign 16;                                                                                \
name:;                                                                                             \
	.cfi_startproc;                                                                            \
	endbr64;                                                                                   \
	jmp *st_##name@GOTPCREL(%rip);                                                             \
	.cfi_endproc;                                                                              \
	.size name, . - name

STUB(GOMP_critical_start)
STUB(GOMP_critical_end)
STUB(GOMP_critical_name_start)
STUB(GOMP_critical_name_end)
STUB(GOMP_atomic_start)
STUB(GOMP_atomic_end)
STUB(GOMP_barrier)
STUB(GOMP_barrier_cancel)
STUB(GOMP_loop_end)
STUB(GOMP_loop_end_cancel)
STUB(GOMP_sections_end)
STUB(GOMP_sections_end_cancel)
STUB(omp_init_lock)
STUB(omp_destroy_lock)
STUB(omp_set_lock)
STUB(omp_unset_lock)
STUB(omp_test_lock)
STUB(omp_init_nest_lock)
STUB(omp_destroy_nest_lock)
STUB(omp_set_nest_lock)
STUB(omp_unset_nest_lock)
STUB(omp_test_nest_lock)

	/* Looks libgomp's functions up before there are threads. */
	.section .init_array, "aw"
	.balign 8
	.quad st_GOMP_resolve

	.section .note.GNU-stack, "", @progbits
