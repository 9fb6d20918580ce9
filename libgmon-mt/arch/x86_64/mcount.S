/* SPDX-License-Identifier: MIT */
/*
 * The functions that instrumented code calls: mcount, _mcount, __fentry__ and
 * __cyg_profile_func_enter count a call; __return__ and __cyg_profile_func_exit have nothing to
 * count.  With a history of calls, all of them continue in history.S.
 *
 * gcc -pg                                   gcc -pg -mfentry
 *	push  %rbp                           	call  *__fentry__@GOTPCREL(%rip)
 *	mov   %rsp, %rbp                     	...prologue, or none...
 *	...room for locals, saved registers...
 *	call  *mcount@GOTPCREL(%rip)
 *
 * (without PIC: call mcount).  The stack on entry:
 *
 *	mcount                               __fentry__
 *	  8(%rbp)  return into the caller      8(%rsp)  return into the caller
 *	  0(%rbp)  caller's frame pointer
 *	  0(%rsp)  return into the function    0(%rsp)  return into the function
 *
 * The two return addresses name the arc: `from` in the caller, `self` in the function called.
 *
 * The function's arguments are live (rdi rsi rdx rcx r8 r9, al for varargs, r10 for nested
 * functions, every vector register), rsp has any alignment, and only r11 and the flags are free.
 * The hit path also uses rax, saved below rsp in the red zone, which signal handlers do not touch.
 *
 * -finstrument-functions calls __cyg_profile_func_enter(function, call site) like any C function:
 * the arc is its two arguments, and all caller-saved registers are free.
 *
 * A load from TLS finds the thread's view, which has the mask of the slots and the distance from
 * the view to the table (struct gm_calls_header, then slots of 32 bytes).  A view of zeros is
 * itself an empty table.  Threads without a table and threads that are not profiled have such a
 * view, and in the child of a fork every view becomes one.  The miss path handles these cases.
 *
 * IFUNC resolvers (gcc makes one for target_clones, which calls mcount) run while the loader
 * relocates.  If this library is not relocated yet, the offset of gm_tls is still 0, which no
 * variable has.  If thread-local storage exists but is not initialized, the state is 0.  In both
 * cases the empty table is found.  In a static program there may be no thread-local storage
 * (GM_ARCHIVE), which is known only from a flag that the first constructor sets.  Such calls are
 * counted as lost.
 *
 * Signals: one instruction increments the count.  If a handler runs between the compare and the
 * increment and makes the table grow, the old table stays mapped with its keys; its late increments
 * are added when the thread ends (calls.c).
 */
#include "arch/x86_64/offsets.h"

	.text

/*
 * Loads the address of the thread's view.  Changes r11.  gm_tls holds the view's distance from the
 * empty view, which is 0 until thread-local storage is initialized.  Before our own relocation the
 * offset of gm_tls is 0, and GM_TLS_VIEW is chosen so that this load also finds a 0.
 */
.macro find_view to:req
	leaq	gm_no_view(%rip), \to
	movq	gm_tls@gottpoff(%rip), %r11
	addq	%fs:GM_TLS_VIEW(%r11), \to
.endm

/*
 * Finds the arc `from` -> `self`, counts it and returns, or goes to label 9 if the arc is not
 * found.  `saved`: rax is live and is saved in the red zone, as is rcx at label 9.
 */
.macro count_arc from:req, self:req, saved:req
	.if	\saved
	movq	%rax, -8(%rsp)
	.endif
	find_view %rax
	imulq	$GM_HASH_FIRST, \from, %r11
	addq	\self, %r11
	andq	GM_VIEW_SLOT_MASK(%rax), %r11
	addq	GM_VIEW_TABLE(%rax), %r11	/* in this order: gm_view_set() */
	addq	%r11, %rax
	movq	\self, %r11
	cmpq	%r11, GM_ARC_SELF(%rax)
	jne	2f
	movq	\from, %r11
	cmpq	%r11, GM_ARC_FROM(%rax)
	jne	2f
	incq	GM_ARC_COUNT(%rax)
	.if	\saved
	movq	-8(%rsp), %rax
	.endif
	ret

	/*
	 * Another arc is in its first place: linear probing from the second one to an empty slot.
	 * Once in GM_CROWDED_CALLS calls the slow path is called, and may rebuild the table.
	 */
2:	.if	\saved
	movq	%rcx, -16(%rsp)
	.endif
	cmpq	$0, GM_ARC_SELF(%rax)
	je	9f
	find_view %rax
	imulq	$GM_HASH_FACTOR, \from, %rcx
	addq	\self, %rcx
	imulq	$GM_HASH_FACTOR, %rcx, %rcx
	shrq	$GM_HASH_SHIFT, %rcx
	andq	GM_VIEW_SLOT_MASK(%rax), %rcx
	addq	GM_VIEW_TABLE(%rax), %rax
3:	movq	\self, %r11
	cmpq	%r11, GM_ARC_SELF(%rax, %rcx)
	jne	4f
	movq	\from, %r11
	cmpq	%r11, GM_ARC_FROM(%rax, %rcx)
	jne	4f
	cmpw	$-1, GM_ARC_COUNT(%rax, %rcx)	/* GM_CROWDED_CALLS - 1 */
	je	9f
	incq	GM_ARC_COUNT(%rax, %rcx)
	.if	\saved
	movq	-8(%rsp), %rax
	movq	-16(%rsp), %rcx
	.endif
	ret

4:	cmpq	$0, GM_ARC_SELF(%rax, %rcx)
	je	9f
	addq	$GM_ARC_BYTES, %rcx
	andq	GM_CALLS_SLOT_MASK(%rax), %rcx
	jmp	3b
.endm

/* In a static program there may be no thread-local storage yet. */
.macro check_up
#ifdef GM_ARCHIVE
	cmpb	$0, gm_up(%rip)
	je	gm_count_early
#endif
.endm

.macro count_call from:req
	check_up
	count_arc \from, (%rsp), saved=1

9:	movq	%rdx, -24(%rsp)
	movq	\from, %rax
	movq	(%rsp), %rdx
	jmp	gm_count_miss
.endm

	.hidden	gm_no_view
	.hidden	gm_up
	.globl	mcount
	.type	mcount, @function
	.globl	_mcount
	.type	_mcount, @function
	.p2align 6
mcount:
_mcount:
	.cfi_startproc
	count_call 8(%rbp)
	.cfi_endproc
	.size	mcount, . - mcount
	.size	_mcount, . - _mcount

	.globl	__fentry__
	.type	__fentry__, @function
	.p2align 6
__fentry__:
	.cfi_startproc
	count_call 8(%rsp)
	.cfi_endproc
	.size	__fentry__, . - __fentry__

	.globl	__cyg_profile_func_enter
	.type	__cyg_profile_func_enter, @function
	.p2align 6
__cyg_profile_func_enter:
	.cfi_startproc
	check_up
	incq	%rdi		/* like a return address: an address inside the function, after the call */
	count_arc %rsi, %rdi, saved=0

9:	movq	%rsi, %rax
	movq	%rdi, %rdx
	jmp	gm_count_miss
	.cfi_endproc
	.size	__cyg_profile_func_enter, . - __cyg_profile_func_enter

	.hidden	gm_history_on
	.hidden	gm_history_return
	.hidden	gm_history_exit

/* -minstrument-return=call calls it before every ret: the function's return value is live. */
	.globl	__return__
	.type	__return__, @function
	.globl	__cyg_profile_func_exit
	.type	__cyg_profile_func_exit, @function
	.p2align 4
__return__:
	.cfi_startproc
	cmpb	$0, gm_history_on(%rip)
	jne	gm_history_return
	ret
	.cfi_endproc
	.size	__return__, . - __return__

	.p2align 4
__cyg_profile_func_exit:
	.cfi_startproc
	cmpb	$0, gm_history_on(%rip)
	jne	gm_history_exit
	ret
	.cfi_endproc
	.size	__cyg_profile_func_exit, . - __cyg_profile_func_exit

/*
 * A miss: a new arc, a new thread, or a thread that is not profiled.  rax = from, rdx = self; the
 * function's own rax, rcx, rdx lie in the red zone (undefined if they are free).  Goes to history.S
 * if the thread has a history; otherwise calls gm_calls_miss(from, self) in C, built for general
 * registers only; the few libc functions that it calls may use any vector register (vectors.c).
 *
 *	  8(%rbp)        return into the function
 *	  0(%rbp)        the function's rbp, where its rax was
 *	 -8 .. -64(%rbp) its rcx rdx rax rsi rdi r8 r9 r10
 *	-72(%rbp)        al: what gm_calls_miss() returned, whether signals are blocked
 *	-80(%rbp)        the signal mask from before: on the stack, since handlers may miss, too
 *	  0(%rsp)        XSAVE area, 64-byte aligned; without AVX: xmm0..xmm15, 16-byte aligned
 *
 * Signals are unblocked after everything but the saved registers is off the stack: the thread may
 * have the smallest possible stack, and handlers need the rest of it.
 */
	.hidden	gm_vectors_bytes
	.hidden	gm_vectors_mask
	.hidden	gm_vectors_compact
	.hidden	gm_vectors_measure
	.hidden	gm_calls_miss
	.hidden	gm_calls_miss_end
	.hidden	gm_history_call
	.type	gm_count_miss, @function
gm_count_miss:
	.cfi_startproc
	movq	gm_tls@gottpoff(%rip), %r11
	cmpb	$GM_TLS_STATE_HISTORY, %fs:GM_TLS_STATE(%r11)
	je	gm_history_call
	testq	%r11, %r11
	jz	1f
	cmpb	$GM_TLS_STATE_OFF, %fs:GM_TLS_STATE(%r11)
	jb	2f
	movq	-8(%rsp), %rax
	movq	-16(%rsp), %rcx
	movq	-24(%rsp), %rdx
	ret

2:	cmpb	$GM_TLS_STATE_UNBORN, %fs:GM_TLS_STATE(%r11)
	jne	gm_slow
1:	movq	-8(%rsp), %rax
	movq	-16(%rsp), %rcx
	movq	-24(%rsp), %rdx
	.hidden	gm_calls_early
gm_count_early:
	incq	gm_calls_early(%rip)
	ret

	/* Also used by history.S, with the same registers and red zone. */
	.globl	gm_slow
	.hidden	gm_slow
gm_slow:
	movq	-8(%rsp), %r11
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$16, %rsp	/* rcx and rdx are there already */
	pushq	%r11
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	/* Blocks signals first, since a handler may need the stack that the rest takes. */
	subq	$48, %rsp
	movq	%rax, -88(%rbp)
	movq	%rdx, -96(%rbp)
	leaq	-80(%rbp), %rdi
	andq	$-16, %rsp
	call	gm_calls_enter
	movl	%eax, -104(%rbp)
	leaq	-112(%rbp), %rsp
	movl	gm_vectors_bytes(%rip), %ecx
	testl	%ecx, %ecx
	jz	4f
1:	cmpl	$1, %ecx
	je	5f
	subq	%rcx, %rsp
	andq	$-64, %rsp
	xorl	%eax, %eax
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	movq	%rax, 512 + 8 * \n(%rsp)
	.endr
	movl	gm_vectors_mask(%rip), %eax
	xorl	%edx, %edx
	cmpb	$0, gm_vectors_compact(%rip)
	je	2f
	xsavec	(%rsp)
	jmp	3f
2:	xsave	(%rsp)
3:	movq	-88(%rbp), %rdi
	movq	-96(%rbp), %rsi
	leaq	-80(%rbp), %rdx
	movl	-104(%rbp), %ecx
	call	gm_calls_miss
	movb	%al, -72(%rbp)
	movl	gm_vectors_mask(%rip), %eax
	xorl	%edx, %edx
	xrstor	(%rsp)
	jmp	6f

	/* The first time. */
4:	andq	$-16, %rsp
	call	gm_vectors_measure
	movl	%eax, %ecx
	leaq	-112(%rbp), %rsp
	jmp	1b

	/* A processor without AVX. */
5:	subq	$256, %rsp
	andq	$-16, %rsp
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movaps	%xmm\n, 16 * \n(%rsp)
	.endr
	movq	-88(%rbp), %rdi
	movq	-96(%rbp), %rsi
	leaq	-80(%rbp), %rdx
	movl	-104(%rbp), %ecx
	call	gm_calls_miss
	movb	%al, -72(%rbp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movaps	16 * \n(%rsp), %xmm\n
	.endr
6:	cmpb	$0, -72(%rbp)
	je	7f
	movq	-80(%rbp), %rdi
	leaq	-80(%rbp), %rsp
	andq	$-16, %rsp
	call	gm_calls_miss_end
7:	movq	-8(%rbp), %rcx
	movq	-16(%rbp), %rdx
	movq	-24(%rbp), %rax
	movq	-32(%rbp), %rsi
	movq	-40(%rbp), %rdi
	movq	-48(%rbp), %r8
	movq	-56(%rbp), %r9
	movq	-64(%rbp), %r10
	movq	%rbp, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	gm_count_miss, . - gm_count_miss

	.section .note.GNU-stack, "", @progbits
