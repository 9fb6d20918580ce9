/* SPDX-License-Identifier: MIT */
/*
 * The history of calls: writes one record of 8 bytes for each entry, and for each exit that the
 * code reports.
 *
 * A thread with a history has an empty table in its view, so the miss path of mcount.S leads here:
 * counting without a history pays nothing for it.
 *
 * A record must be stored whole or not at all, and in order of time, even if a signal handler runs
 * between any two instructions and never returns.  The code finds the next slot in the packet,
 * reads the clock, and stores the record by one cmpxchg if the slot is still empty (without a lock
 * prefix: only this thread writes there).  If a handler recorded calls of its own meanwhile, the
 * slot is taken and the call starts again on the slow path.  A second cmpxchg advances the
 * packet's length from its old value; a handler that ran between the two has done that already
 * (history.c).
 *
 * The cmpxchg instructions and the search for the arc add no time: they overlap with rdtsc, which
 * takes 8 to 9 ns on a virtual machine.
 *
 * Red zone: -8 rax, -16 rcx, -24 rdx (as in mcount.S), -32 rsi, -40 rdi, -48 r8, -56 r9.
 */
#include "arch/x86_64/offsets.h"
#include "gmon-mt/history.h"

	.text

/*
 * Adds the time to the record rsi and commits it to the history r11.  Changes rax, rcx, rdx, r8, r9
 * and rsi.
 */
.macro commit slow:req
	movq	GM_HISTORY_PACKET(%r11), %rcx
	testq	%rcx, %rcx
	jz	\slow
	movq	GM_PACKET_CONTENT_BITS(%rcx), %r8
	movq	%r8, %r9
	shrq	$3, %r9
	addq	%rcx, %r9
	cmpq	GM_HISTORY_END(%r11), %r9
	jae	\slow
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	subq	GM_HISTORY_TSC_BASE(%r11), %rax
	cmpq	GM_HISTORY_TSC_LIMIT(%r11), %rax
	jae	\slow
	imulq	GM_HISTORY_MULT(%r11), %rax
	shrq	$GM_CLOCK_MULT_SHIFT, %rax
	addq	GM_HISTORY_NS_BASE(%r11), %rax
	movl	%eax, %eax
	shlq	$GM_HISTORY_TIME_SHIFT, %rax
	orq	%rax, %rsi
	xorl	%eax, %eax
	cmpxchgq %rsi, (%r9)
	jne	\slow
	movq	%r8, %rax
	addq	$64, %r8
	cmpxchgq %r8, GM_PACKET_CONTENT_BITS(%rcx)
.endm

.macro save_more
	movq	%rsi, -32(%rsp)
	movq	%rdi, -40(%rsp)
	movq	%r8, -48(%rsp)
	movq	%r9, -56(%rsp)
.endm

.macro restore_more
	movq	-32(%rsp), %rsi
	movq	-40(%rsp), %rdi
	movq	-48(%rsp), %r8
	movq	-56(%rsp), %r9
.endm

.macro restore
	movq	-8(%rsp), %rax
	movq	-16(%rsp), %rcx
	movq	-24(%rsp), %rdx
.endm

	.hidden	gm_slow

/*
 * An entry: rax = from, rdx = self, r11 = the offset of gm_tls; the function's own rax, rcx, rdx
 * lie in the red zone.
 */
	.globl	gm_history_call
	.hidden	gm_history_call
	.type	gm_history_call, @function
	.p2align 6
gm_history_call:
	.cfi_startproc
	save_more
	movq	%fs:GM_TLS_HISTORY(%r11), %r11
	movq	GM_HISTORY_TABLE(%r11), %rdi
	testq	%rdi, %rdi
	jz	5f
	imulq	$GM_HASH_FIRST, %rax, %rcx
	addq	%rdx, %rcx
	andq	GM_CALLS_SLOT_MASK(%rdi), %rcx
	cmpq	%rdx, GM_ARC_SELF(%rdi, %rcx)
	jne	2f
	cmpq	%rax, GM_ARC_FROM(%rdi, %rcx)
	jne	2f
1:	leaq	GM_ARC_FROM(%rdi, %rcx), %rdi
	movq	GM_ARC_RECORD - GM_ARC_FROM(%rdi), %rsi
	testq	%rsi, %rsi
	jz	5f
	commit	4f
	incq	GM_ARC_COUNT - GM_ARC_FROM(%rdi)
	restore_more
	restore
	ret

	/* The second place, as in mcount.S. */
2:	cmpq	$0, GM_ARC_SELF(%rdi, %rcx)
	je	5f
	imulq	$GM_HASH_FACTOR, %rax, %rcx
	addq	%rdx, %rcx
	imulq	$GM_HASH_FACTOR, %rcx, %rcx
	shrq	$GM_HASH_SHIFT, %rcx
3:	andq	GM_CALLS_SLOT_MASK(%rdi), %rcx
	cmpq	$0, GM_ARC_SELF(%rdi, %rcx)
	je	5f
	cmpq	%rdx, GM_ARC_SELF(%rdi, %rcx)
	jne	6f
	cmpq	%rax, GM_ARC_FROM(%rdi, %rcx)
	je	1b
6:	addq	$GM_ARC_BYTES, %rcx
	jmp	3b

4:	movq	(%rdi), %rax
	movq	GM_ARC_SELF - GM_ARC_FROM(%rdi), %rdx
5:	restore_more
	jmp	gm_slow
	.cfi_endproc
	.size	gm_history_call, . - gm_history_call

/* An exit.  The function's return value is live; all registers are preserved. */
.macro record_return where:req
	movq	gm_tls@gottpoff(%rip), %r11
	cmpb	$GM_TLS_STATE_HISTORY, %fs:GM_TLS_STATE(%r11)
	jne	6f
	movq	%rax, -8(%rsp)
	movq	%rcx, -16(%rsp)
	movq	%rdx, -24(%rsp)
	save_more
	movq	%fs:GM_TLS_HISTORY(%r11), %r11
	movq	\where, %rdi
	movq	%rdi, %rsi
	shlq	$GM_HISTORY_ARC_SHIFT, %rsi
	orq	$GM_HISTORY_RETURN, %rsi
	commit	7f
	restore_more
	restore
6:	ret

7:	movq	$GM_FROM_RETURN_WORD, %rax
	movq	%rdi, %rdx
	restore_more
	jmp	gm_slow
.endm

	.globl	gm_history_return
	.hidden	gm_history_return
	.type	gm_history_return, @function
	.p2align 6
gm_history_return:
	.cfi_startproc
	record_return (%rsp)
	.cfi_endproc
	.size	gm_history_return, . - gm_history_return

	.globl	gm_history_exit
	.hidden	gm_history_exit
	.type	gm_history_exit, @function
	.p2align 6
gm_history_exit:
	.cfi_startproc
	incq	%rdi		/* as for the entry; an argument, so it may be changed */
	record_return %rdi
	.cfi_endproc
	.size	gm_history_exit, . - gm_history_exit

	.section .note.GNU-stack, "", @progbits
