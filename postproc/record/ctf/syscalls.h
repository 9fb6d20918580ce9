/* SPDX-License-Identifier: MIT */
/*
 * The system calls of this machine: their names, from the kernel's headers, and what the running
 * kernel says of their arguments, where it does (CONFIG_FTRACE_SYSCALLS).
 */
#ifndef PP_RECORD_CTF_SYSCALLS_H
#define PP_RECORD_CTF_SYSCALLS_H

#include <stdint.h>

#include <glib.h>

#define PP_SYSCALL_ARGUMENTS 6

enum pp_argument_type {
	PP_ARGUMENT_WORD, /* as wide as its value */
	PP_ARGUMENT_ADDRESS,
	PP_ARGUMENT_INT, /* the low 32 bits, signed */
	PP_ARGUMENT_UINT,
};

struct pp_argument {
	char *name;
	enum pp_argument_type type;
};

struct pp_syscall {
	const char *name;
	unsigned n_arguments;
	struct pp_argument arguments[PP_SYSCALL_ARGUMENTS];
};

struct pp_syscalls;

/* Adds the names of the formats that pp_syscalls_new() wants the texts of, in that order. */
void pp_syscalls_add_formats(GPtrArray *names);

/* A text may be empty: then all six registers are arguments, arg0 ... arg5. */
struct pp_syscalls *pp_syscalls_new(const char *const *texts);
void pp_syscalls_free(struct pp_syscalls *syscalls);

/* NULL: none of that number. */
const struct pp_syscall *pp_syscall(const struct pp_syscalls *syscalls, int32_t number);

#endif
