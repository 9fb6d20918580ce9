/* SPDX-License-Identifier: MIT */
/*
 * The return address of a signal handler that was installed by a direct system call.  Debuggers and
 * unwinders recognize a signal frame by exactly these nine bytes; it has no unwind information.
 */
	.text
	.globl	gm_sigreturn
	.hidden	gm_sigreturn
	.type	gm_sigreturn, @function
gm_sigreturn:
	movq	$15, %rax	/* rt_sigreturn */
	syscall
	.size	gm_sigreturn, . - gm_sigreturn

	.section .note.GNU-stack, "", @progbits
