/* SPDX-License-Identifier: MIT */
/* An mcount that only returns: what -pg itself costs, by its frame pointer and one call more. */
	.text
	.globl	mcount
	.type	mcount, @function
	.p2align 6
mcount:
	ret
	.size	mcount, . - mcount
	.section .note.GNU-stack, "", @progbits
