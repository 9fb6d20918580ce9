/* SPDX-License-Identifier: MIT */
/* other.c without arguments, for i386; needs neither header files nor start files of i386. */
extern int __libc_start_main(int (*)(int, char **, char **), int, char **, void *, void *, void *,
			     void *);
extern int dprintf(int fd, const char *format, ...);

__attribute__((used)) static int start(int argc, char **argv, char **environment)
{
	(void)argc, (void)environment;
	dprintf(1, "%s on its output\n", argv[0]);
	dprintf(2, "%s on its error output\n", argv[0]);
	return 6;
}

__asm__("	.globl	_start\n"
	"_start:	xorl	%ebp, %ebp\n"
	"	movl	(%esp), %esi\n"
	"	leal	4(%esp), %ecx\n"
	"	andl	$-16, %esp\n"
	"	subl	$4, %esp\n"
	"	pushl	%edx\n"
	"	pushl	$0\n"
	"	pushl	$0\n"
	"	pushl	%ecx\n"
	"	pushl	%esi\n"
	"	pushl	$start\n"
	"	call	__libc_start_main\n"
	"	hlt\n");
