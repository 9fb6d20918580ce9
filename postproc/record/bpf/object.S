/* SPDX-License-Identifier: MIT */
/* The object file that clang made of programs.bpf.c, for libbpf to read. */
	.section .rodata, "a"
	.balign 8
	.globl pp_bpf_object, pp_bpf_object_end
	.hidden pp_bpf_object, pp_bpf_object_end
pp_bpf_object:
	.incbin PP_BPF_OBJECT
pp_bpf_object_end:
	.section .note.GNU-stack, "", @progbits
