/* SPDX-License-Identifier: MIT */
/*
 * frame(FUNCTION): calls it, with a frame of FRAME_BYTES. The code is equally long for all sizes
 * from 128 bytes.
 */
	.globl frame
	.type frame, @function
frame:
	.cfi_startproc
	sub $FRAME_BYTES, %rsp
	.cfi_adjust_cfa_offset FRAME_BYTES
	call *%rdi
	add $FRAME_BYTES, %rsp
	.cfi_adjust_cfa_offset -FRAME_BYTES
	ret
	.cfi_endproc
	.size frame, . - frame
	.section .note.GNU-stack, "", @progbits
