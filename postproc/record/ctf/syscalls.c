/* SPDX-License-Identifier: MIT */
/* Reads the names of system calls from the kernel's headers and their arguments from tracefs. */
#include "record/ctf/syscalls.h"

#include <string.h>

struct pp_syscalls {
	struct pp_syscall *by_number;
};

/* Made by the build from <asm/unistd_64.h>: [0] = "read", ... */
static const char *const names[] = {
#include "syscall_names.inc"
};

/* Where the kernel's function is not called as the system call is. */
static const struct {
	const char *name, *function;
} functions[] = {
    {"stat", "newstat"},   {"fstat", "newfstat"},      {"lstat", "newlstat"},
    {"uname", "newuname"}, {"sendfile", "sendfile64"}, {"umount2", "umount"},
};

static const char *function_of(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(functions); i++)
		if (strcmp(functions[i].name, name) == 0)
			return functions[i].function;
	return name;
}

void pp_syscalls_add_formats(GPtrArray *formats)
{
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (names[i])
			g_ptr_array_add(formats, g_strdup_printf("syscalls/sys_enter_%s",
								 function_of(names[i])));
}

/* Types of 32 bits: of a register that holds one, only so many mean something. */
static enum pp_argument_type type_of(const char *type)
{
	static const char *const is_int[] = {"int",   "pid_t",	 "clockid_t", "key_t",
					     "mqd_t", "timer_t", "__s32",     NULL};
	static const char *const is_uint[] = {"unsigned int", "unsigned", "u32",   "__u32",
					      "umode_t",      "uid_t",	  "gid_t", NULL};

	if (g_str_has_prefix(type, "const "))
		type += strlen("const ");
	if (strchr(type, '*'))
		return PP_ARGUMENT_ADDRESS;
	if (g_strv_contains(is_int, type))
		return PP_ARGUMENT_INT;
	return g_strv_contains(is_uint, type) ? PP_ARGUMENT_UINT : PP_ARGUMENT_WORD;
}

/* "const char * buf" */
static void read_argument(struct pp_argument *argument, char *declaration)
{
	char *name = declaration + strlen(declaration);

	while (name > declaration && (g_ascii_isalnum(name[-1]) || name[-1] == '_'))
		name--;
	argument->name = g_strdup(name);
	*name = '\0';
	argument->type = type_of(g_strchomp(declaration));
}

/* "field:unsigned int fd;\toffset:16;": each behind the number of the call. */
static void read_arguments(struct pp_syscall *syscall, const char *text)
{
	const char *line = strstr(text, " __syscall_nr;");

	while (line && syscall->n_arguments < PP_SYSCALL_ARGUMENTS &&
	       (line = strstr(line, "field:"))) {
		g_autofree char *declaration = NULL;

		line += strlen("field:");
		declaration = g_strndup(line, strcspn(line, ";"));
		if (!g_str_has_prefix(declaration, "__data_loc"))
			read_argument(&syscall->arguments[syscall->n_arguments++], declaration);
	}
}

static void guess_arguments(struct pp_syscall *syscall)
{
	syscall->n_arguments = PP_SYSCALL_ARGUMENTS;
	for (unsigned i = 0; i < PP_SYSCALL_ARGUMENTS; i++)
		syscall->arguments[i] =
		    (struct pp_argument){g_strdup_printf("arg%u", i), PP_ARGUMENT_ADDRESS};
}

struct pp_syscalls *pp_syscalls_new(const char *const *texts)
{
	struct pp_syscalls *syscalls = g_new(struct pp_syscalls, 1);

	syscalls->by_number = g_new0(struct pp_syscall, G_N_ELEMENTS(names));
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		const char *text = names[i] ? *texts++ : NULL;

		syscalls->by_number[i].name = names[i];
		if (text && strstr(text, " __syscall_nr;"))
			read_arguments(&syscalls->by_number[i], text);
		else if (text)
			guess_arguments(&syscalls->by_number[i]);
	}
	return syscalls;
}

void pp_syscalls_free(struct pp_syscalls *syscalls)
{
	if (!syscalls)
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		for (unsigned k = 0; k < syscalls->by_number[i].n_arguments; k++)
			g_free(syscalls->by_number[i].arguments[k].name);
	g_free(syscalls->by_number);
	g_free(syscalls);
}

const struct pp_syscall *pp_syscall(const struct pp_syscalls *syscalls, int32_t number)
{
	if (number < 0 || (size_t)number >= G_N_ELEMENTS(names) || !names[number])
		return NULL;
	return &syscalls->by_number[number];
}
