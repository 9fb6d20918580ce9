/* SPDX-License-Identifier: MIT */
/*
 * The system calls of this machine: their names, from the kernel's headers, and their arguments,
 * from the running kernel if it has CONFIG_FTRACE_SYSCALLS.
 */
#ifndef PP_RECORD_CTF_SYSCALLS_H
#define PP_RECORD_CTF_SYSCALLS_H

#include <stdint.h>

#include <glib.h>

#define PP_SYSCALL_ARGUMENTS 6

enum pp_argument_type {
	PP_ARGUMENT_WORD, /* as wide as the value needs */
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

/* Adds the names of the tracepoint formats whose texts pp_syscalls_new() needs, in that order. */
void pp_syscalls_add_formats(GPtrArray *names);

/* A text may be empty; the call's arguments are then all six registers, arg0 to arg5. */
struct pp_syscalls *pp_syscalls_new(const char *const *texts);
void pp_syscalls_free(struct pp_syscalls *syscalls);

/* Returns NULL for an unknown number. */
const struct pp_syscall *pp_syscall(const struct pp_syscalls *syscalls, int32_t number);

#endif
