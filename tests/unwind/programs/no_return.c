/* SPDX-License-Identifier: MIT */
/*
 * usage: no_return N
 * Functions in assembly whose unwind tables are wrong, as in code that uses a register that its
 * table needs: the return address there is -1, which is no user address.  N: iterations of each.
 */
#include <stdint.h>
#include <stdlib.h>

void by_rsi(uint64_t n, const uint64_t *frame);
void by_rbp(uint64_t n, const uint64_t *frame);

__asm__(".text\n"
	".type by_rsi, @function\n"
	"by_rsi:\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa rsi, 16\n"
	"1:	dec %rdi\n"
	"	jnz 1b\n"
	"	.cfi_def_cfa rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size by_rsi, . - by_rsi\n"
	".type by_rbp, @function\n"
	"by_rbp:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset rbp, -16\n"
	"	mov %rsi, %rbp\n"
	"	.cfi_def_cfa rbp, 16\n"
	"1:	dec %rdi\n"
	"	jnz 1b\n"
	"	.cfi_def_cfa rsp, 16\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size by_rbp, . - by_rbp\n");

int main(int argc, char **argv)
{
	volatile uint64_t frame[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;

	by_rsi(n, (const uint64_t *)frame);
	by_rbp(n, (const uint64_t *)frame);
	return 0;
}
