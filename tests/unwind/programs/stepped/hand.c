/* SPDX-License-Identifier: MIT */
/*
 * Hand-written assembly for stepper: the CFA in another register, in memory, by an expression;
 * %rbp used for data; a return that removes arguments; calls in the middle of pushes; a loop over
 * code with several epilogues.
 */
#include <stdlib.h>

#include "stepped.h"

long cfa_in_register(long a), cfa_in_memory(long a), pushes(long a), epilogues(long a);
long removes_arguments(long a), data_in_rbp(long a);
long leaf(long a);

__asm__(".pushsection .text\n"
	".type leaf, @function\n"
	"leaf:\n"
	"	.cfi_startproc\n"
	"	lea 1(%rdi), %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size leaf, . - leaf\n"

	".type cfa_in_register, @function\n"
	"cfa_in_register:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %rbx, -16\n"
	"	lea 16(%rsp), %rbx\n"
	"	.cfi_def_cfa %rbx, 0\n"
	"	and $-64, %rsp\n"
	"	sub $256, %rsp\n"
	"	call leaf\n"
	"	lea -16(%rbx), %rsp\n"
	"	.cfi_def_cfa %rsp, 16\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbx\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size cfa_in_register, . - cfa_in_register\n"

	/* As OpenSSL's assembly: the old %rsp is a word of the frame. */
	".type cfa_in_memory, @function\n"
	"cfa_in_memory:\n"
	"	.cfi_startproc\n"
	"	mov %rsp, %rax\n"
	"	.cfi_def_cfa_register %rax\n"
	"	push %r12\n"
	"	.cfi_offset %r12, -16\n"
	"	push %rbp\n"
	"	.cfi_offset %rbp, -24\n"
	"	sub $128, %rsp\n"
	"	and $-64, %rsp\n"
	"	mov %rax, 24(%rsp)\n"
	/* DW_CFA_def_cfa_expression: DW_OP_breg7 24, DW_OP_deref, DW_OP_plus_uconst 8 */
	"	.cfi_escape 0x0f, 5, 0x77, 24, 0x06, 0x23, 8\n"
	"	mov $12345, %ebp\n"
	"	mov $1, %r12d\n"
	"	call leaf\n"
	"	mov 24(%rsp), %rsi\n"
	"	.cfi_def_cfa %rsi, 8\n"
	"	mov -8(%rsi), %r12\n"
	"	.cfi_restore %r12\n"
	"	mov -16(%rsi), %rbp\n"
	"	.cfi_restore %rbp\n"
	"	lea (%rsi), %rsp\n"
	"	.cfi_def_cfa_register %rsp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size cfa_in_memory, . - cfa_in_memory\n"

	".type pushes, @function\n"
	"pushes:\n"
	"	.cfi_startproc\n"
	"	push %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call leaf\n"
	"	push %rax\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov %rax, %rdi\n"
	"	call *leaf_pointer(%rip)\n"
	"	pop %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size pushes, . - pushes\n"

	".type epilogues, @function\n"
	"epilogues:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %rbp, -16\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	"	test %rdi, %rdi\n"
	"	je 1f\n"
	"	call leaf\n"
	"	.cfi_remember_state\n"
	"	leave\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	.cfi_restore %rbp\n"
	"	ret\n"
	"1:	.cfi_restore_state\n"
	"	call leaf\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	.cfi_restore %rbp\n"
	"	jmp leaf\n"
	"	.cfi_endproc\n"
	".size epilogues, . - epilogues\n"

	".type removes, @function\n"
	"removes:\n"
	"	.cfi_startproc\n"
	"	mov 8(%rsp), %rax\n"
	"	ret $16\n"
	"	.cfi_endproc\n"
	".size removes, . - removes\n"
	".type removes_arguments, @function\n"
	"removes_arguments:\n"
	"	.cfi_startproc\n"
	"	push %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_escape 0x2e, 16\n" /* DW_CFA_GNU_args_size */
	"	call removes\n"
	"	.cfi_adjust_cfa_offset -16\n"
	"	.cfi_escape 0x2e, 0\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size removes_arguments, . - removes_arguments\n"

	/* %rbp looks like a frame pointer to somewhere else on the stack. */
	".type data_in_rbp, @function\n"
	"data_in_rbp:\n"
	"	.cfi_startproc\n"
	"	sub $40, %rsp\n"
	"	.cfi_adjust_cfa_offset 40\n"
	"	mov %rbp, 8(%rsp)\n"
	"	.cfi_rel_offset %rbp, 8\n"
	"	lea 512(%rsp), %rbp\n"
	"	call leaf\n"
	"	mov 8(%rsp), %rbp\n"
	"	.cfi_restore %rbp\n"
	"	add $40, %rsp\n"
	"	.cfi_adjust_cfa_offset -40\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size data_in_rbp, . - data_in_rbp\n"
	".popsection\n"
	".pushsection .data.rel.ro, \"aw\"\n"
	"leaf_pointer: .quad leaf\n"
	".popsection\n");

void stepped(void)
{
	handle_signals();
	if (cfa_in_register(1) != 2 || cfa_in_memory(1) != 2 || pushes(1) != 3 ||
	    epilogues(1) != 2 || epilogues(0) != 1 || removes_arguments(4) != 4 ||
	    data_in_rbp(1) != 2)
		abort();
}
