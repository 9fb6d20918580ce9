/* SPDX-License-Identifier: MIT */
/* Embeds the object file that clang compiled from programs.bpf.c, for libbpf. */
	.section .rodata, "a"
	.balign 8
	.globl pp_bpf_object, pp_bpf_object_end
	.hidden pp_bpf_object, pp_bpf_object_end
pp_bpf_object:
	.incbin PP_BPF_OBJECT
pp_bpf_object_end:
	.section .note.GNU-stack, "", @progbits
