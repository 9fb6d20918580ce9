/* SPDX-License-Identifier: MIT */
/*
 * libsync_trace_openmp.so: exports the names of libgomp's functions, and jumps to their wrappers in
 * libsync_trace.so, which so see the caller's return address.
 *
 * A shared object of its own, because in a program without libgomp these names must not exist: a
 * weak reference to one would become non-NULL. `record` preloads it into programs that need libgomp.
 */
	.text
#define BEGIN(name)                                                                                \
	.globl name;                                                                               \
	.type name, @function;                                                                     \
	.balign 16;                                                                                \
name:;                                                                                             \
	.cfi_startproc;                                                                            \
	endbr64

#define END(name)                                                                                  \
	.cfi_endproc;                                                                              \
	.size name, . - name

#define STUB(name)                                                                                 \
	BEGIN(name);                                                                               \
	jmp *st_##name@GOTPCREL(%rip);                                                             \
	END(name)

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
STUB(GOMP_taskwait)
STUB(GOMP_taskwait_depend)
STUB(GOMP_taskgroup_end)
STUB(GOMP_parallel)
STUB(GOMP_parallel_sections)
STUB(GOMP_parallel_loop_static)
STUB(GOMP_parallel_loop_dynamic)
STUB(GOMP_parallel_loop_guided)
STUB(GOMP_parallel_loop_nonmonotonic_dynamic)
STUB(GOMP_parallel_loop_nonmonotonic_guided)
STUB(GOMP_parallel_loop_runtime)
STUB(GOMP_parallel_loop_nonmonotonic_runtime)
STUB(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
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
STUB(omp_init_lock_)
STUB(omp_destroy_lock_)
STUB(omp_set_lock_)
STUB(omp_unset_lock_)
STUB(omp_test_lock_)
STUB(omp_init_nest_lock_)
STUB(omp_destroy_nest_lock_)
STUB(omp_set_nest_lock_)
STUB(omp_unset_nest_lock_)
STUB(omp_test_nest_lock_)

/*
 * Function number `which` of those that create tasks or run a region: exchanges the first argument, and jumps to
 * libgomp's function. The other arguments, of which there are up to eleven, stay as they are.
 */
#define SAVE(reg)                                                                                  \
	push reg;                                                                                  \
	.cfi_adjust_cfa_offset 8
#define RESTORE(reg)                                                                               \
	pop reg;                                                                                   \
	.cfi_adjust_cfa_offset -8

#define TASK_STUB(name, which)                                                                     \
	BEGIN(name);                                                                               \
	SAVE(%rsi);                                                                                \
	SAVE(%rdx);                                                                                \
	SAVE(%rcx);                                                                                \
	SAVE(%r8);                                                                                 \
	SAVE(%r9);                                                                                 \
	mov $which, %esi;                                                                          \
	lea task_stubs(%rip), %rdx;                                                                \
	call *st_GOMP_task_maker@GOTPCREL(%rip); /* rsp is a multiple of 16 */                     \
	mov %rax, %rdi;                                                                            \
	mov %rdx, %rax;                                                                            \
	RESTORE(%r9);                                                                              \
	RESTORE(%r8);                                                                              \
	RESTORE(%rcx);                                                                             \
	RESTORE(%rdx);                                                                             \
	RESTORE(%rsi);                                                                             \
	jmp *%rax;                                                                                 \
	END(name)

TASK_STUB(GOMP_task, 0)
TASK_STUB(GOMP_taskloop, 1)
TASK_STUB(GOMP_taskloop_ull, 2)
TASK_STUB(GOMP_parallel_reductions, 3)

	/* One stub of 16 bytes for each function of a task (TASK_SLOTS in wrap/openmp_team.c). */
	.type task_stubs, @function
	.balign 16
task_stubs:
	.cfi_startproc
	.set slot, 0
	.rept 256
	.balign 16
	endbr64
	movl $slot, %esi
	jmp *st_GOMP_run_task@GOTPCREL(%rip)
	.set slot, slot + 1
	.endr
	.cfi_endproc
	.size task_stubs, . - task_stubs

	/* Looks libgomp's functions up before there are threads. */
	.section .init_array, "aw"
	.balign 8
	.quad st_GOMP_resolve

	.section .note.GNU-stack, "", @progbits
