/* SPDX-License-Identifier: MIT */
/*
 * What instrumented code calls: mcount, _mcount, __fentry__ and __cyg_profile_func_enter count a
 * call; __return__ and __cyg_profile_func_exit have nothing to count.  Where a history of calls is
 * kept, all go on in history.S.
 *
 * gcc -pg                                   gcc -pg -mfentry
 *	push  %rbp                           	call  *__fentry__@GOTPCREL(%rip)
 *	mov   %rsp, %rbp                     	...prologue, or none...
 *	...room for locals, saved registers...
 *	call  *mcount@GOTPCREL(%rip)
 *
 * (without PIC: call mcount).  What stands where on entry:
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
 * The hit path uses three more registers, kept below rsp in the red zone, which signal handlers
 * leave alone.
 *
 * -finstrument-functions calls __cyg_profile_func_enter(function, call site) as any C function: the
 * arc is its two arguments, and all that a C function may change is free.
 *
 * A thread's table (struct gm_calls_header, then slots of 32 bytes) is found by a load from TLS, of
 * its view, which tells how far from it the table is, and the mask of its slots.  A view of zeros is
 * itself the table, with nothing in it: that is what a thread has that has none yet or is not
 * profiled, and what every view becomes in the child of a fork.  The miss sorts those cases out.
 *
 * IFUNC resolvers (gcc makes one for target_clones, and has it call mcount) run while the loader
 * relocates.  We may not be relocated ourselves: then the offset of gm_tls is still 0, which no
 * variable has.  Thread-local storage may be there, but not what it begins with: then the table is
 * NULL.  In a static program there may be none at all (GM_ARCHIVE): only a flag set by the first
 * constructor tells.  Such calls are counted as lost.
 *
 * Signals: the count goes up in one instruction.  A handler that runs between the compare and the
 * increment and makes the table grow leaves the old one mapped, with its keys; what arrives there
 * late is added when the thread ends (calls.c).
 */
#include "arch/x86_64/offsets.h"

	.text

/* Finds the thread's view of its table, in r11; goes to gm_count_early if there can be none. */
.macro find_view
#ifdef GM_ARCHIVE
	cmpb	$0, gm_up(%rip)
	je	gm_count_early
	movq	gm_tls@gottpoff(%rip), %r11
#else
	movq	gm_tls@gottpoff(%rip), %r11
	testq	%r11, %r11
	jz	gm_count_early
#endif
	movq	%fs:GM_TLS_VIEW(%r11), %r11
	testq	%r11, %r11
	jz	gm_count_early
.endm

/*
 * Finds the arc rax -> rdx in the table that r11 is a view of and counts it; leaves by ret.  Goes to
 * gm_count_miss when it is not there.  `saved`: rax, rcx and rdx lie in the red zone.
 */
.macro count_arc saved:req
	imulq	$GM_HASH_FACTOR, %rax, %rcx
	addq	%rdx, %rcx
	imulq	$GM_HASH_FACTOR, %rcx, %rcx
	shrq	$GM_HASH_SHIFT, %rcx
	andq	GM_VIEW_SLOT_MASK(%r11), %rcx
	addq	GM_VIEW_TABLE(%r11), %r11	/* in this order: gm_view_set() */
	cmpq	%rdx, GM_ARC_SELF(%r11, %rcx)
	jne	2f
	cmpq	%rax, GM_ARC_FROM(%r11, %rcx)
	jne	2f
1:	incq	GM_ARC_COUNT(%r11, %rcx)
	.if	\saved
	movq	-8(%rsp), %rax
	movq	-16(%rsp), %rcx
	movq	-24(%rsp), %rdx
	.endif
	ret

	/* Linear probing, up to the first empty slot: a table is never full. */
2:	cmpq	$0, GM_ARC_SELF(%r11, %rcx)
	je	gm_count_miss
	addq	$GM_ARC_BYTES, %rcx
	andq	GM_CALLS_SLOT_MASK(%r11), %rcx
	cmpq	%rdx, GM_ARC_SELF(%r11, %rcx)
	jne	2b
	cmpq	%rax, GM_ARC_FROM(%r11, %rcx)
	jne	2b
	jmp	1b
.endm

.macro count_call from:req
	find_view
	movq	%rax, -8(%rsp)
	movq	%rcx, -16(%rsp)
	movq	%rdx, -24(%rsp)
	movq	\from, %rax
	movq	(%rsp), %rdx
	count_arc saved=1
.endm

	.hidden	gm_up
	.hidden	gm_calls_early
	.type	gm_count_early, @function
gm_count_early:
	.cfi_startproc
	incq	gm_calls_early(%rip)
	ret
	.cfi_endproc
	.size	gm_count_early, . - gm_count_early

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
	find_view
	movq	%rsi, %rax
	movq	%rdi, %rdx
	testq	%rdx, %rdx	/* called by hand: no function, which is how a free slot looks */
	jz	gm_count_miss
	incq	%rdx		/* inside, as a return address is: the byte before it counts */
	count_arc saved=0
	.cfi_endproc
	.size	__cyg_profile_func_enter, . - __cyg_profile_func_enter

	.hidden	gm_history_on
	.hidden	gm_history_return
	.hidden	gm_history_exit

/* -minstrument-return=call calls it before every ret: what the function returns is live. */
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
 * Not found: a new arc, a new thread, or a thread that is not profiled.  rax = from, rdx = self;
 * the function's own rax, rcx, rdx lie in the red zone, or anything if they are free.  Goes to
 * history.S if the thread keeps a history; else calls gm_calls_miss(from, self) in C, built for
 * general registers only; the few libc functions behind it are built for baseline x86-64, whose
 * instructions know xmm0..15 and leave the upper parts of wider registers as they are.
 *
 *	  8(%rbp)        return into the function
 *	  0(%rbp)        the function's rbp, where its rax was
 *	 -8 .. -64(%rbp) its rcx rdx rax rsi rdi r8 r9 r10
 *	  0(%rsp)        xmm0..xmm15, 16-byte aligned
 */
	.hidden	gm_calls_miss
	.hidden	gm_history_call
	.type	gm_count_miss, @function
gm_count_miss:
	.cfi_startproc
	movq	gm_tls@gottpoff(%rip), %r11
	cmpb	$GM_TLS_STATE_HISTORY, %fs:GM_TLS_STATE(%r11)
	je	gm_history_call
	cmpb	$GM_TLS_STATE_OFF, %fs:GM_TLS_STATE(%r11)
	jb	gm_slow
	movq	-8(%rsp), %rax
	movq	-16(%rsp), %rcx
	movq	-24(%rsp), %rdx
	ret

	/* Also for history.S, with the same in the same places. */
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
	subq	$256, %rsp
	andq	$-16, %rsp
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movaps	%xmm\n, 16 * \n(%rsp)
	.endr
	movq	%rax, %rdi
	movq	%rdx, %rsi
	call	gm_calls_miss
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movaps	16 * \n(%rsp), %xmm\n
	.endr
	movq	-8(%rbp), %rcx
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
