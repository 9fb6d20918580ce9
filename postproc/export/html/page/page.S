/* SPDX-License-Identifier: MIT */
/* The built page, as declared in page.h, followed by a NUL that the size does not include. */
	.section .rodata
	.globl pp_page, pp_page_size
	.type pp_page, @object
	.type pp_page_size, @object

pp_page:
	.incbin PAGE
.Lend:
	.byte 0
	.size pp_page, . - pp_page

	.balign 8
pp_page_size:
	.quad .Lend - pp_page
	.size pp_page_size, 8

	.section .note.GNU-stack, "", @progbits
