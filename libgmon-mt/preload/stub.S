/* SPDX-License-Identifier: MIT */
/*
 * An empty library that 32-bit programs load in place of ours.  Without a file of their word size at
 * the path in LD_PRELOAD, their loader would print an error for each of our libraries.
 */
	.section .note.GNU-stack, "", @progbits
