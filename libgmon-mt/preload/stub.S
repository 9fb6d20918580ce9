/* SPDX-License-Identifier: MIT */
/*
 * An empty library for programs of 32 bits, which get it in place of ours: without a file of their
 * word size where LD_PRELOAD leads them, their loader would print an error for each of ours.
 */
	.section .note.GNU-stack, "", @progbits
