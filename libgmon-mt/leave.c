/* SPDX-License-Identifier: MIT */
/*
 * The functions of libc that end or replace the program without its destructors (the ways out), and
 * _Fork(), which runs no handlers of fork().
 *
 * The ways out are exec, _exit(), quick_exit(), and daemon(), whose parent ends by the C library's
 * own _exit().  The gmon files of the last threads that ended may not be written by then
 * (thread.c), so each is preceded by that; and so is the end of the process by what only memory has
 * (runtime/kept.h).  What the program asks for is done by the next function of the name.
 * quick_exit() runs handlers, which may be profiled: what comes before its end is the first handler
 * registered, since that runs last.
 *
 * Not in libgmon_mt.a: there the program's own C library has these names.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"
#include "runtime/children.h"

#define EXPORTED __attribute__((visibility("default")))

/* A function of the C library that stands behind ours; NULL: not looked up yet. */
#define NEXT(name)                                                                                 \
	static __typeof__(&name) next_##name;                                                      \
	static __typeof__(&name) name##_real(void)                                                 \
	{                                                                                          \
		if (next_##name == NULL)                                                           \
			*(void **)&next_##name = dlsym(RTLD_NEXT, #name);                          \
		return next_##name;                                                                \
	}

NEXT(execve)
NEXT(execv)
NEXT(execvp)
NEXT(execvpe)
NEXT(fexecve)
NEXT(execveat)
NEXT(_exit)
NEXT(_Exit)
NEXT(daemon)
NEXT(_Fork)

static void save(void)
{
	gm_threads_write_waiting();
	gm_process_save();
}

/* dlsym() takes locks, and the child of vfork() may be in a hurry. */
__attribute__((constructor(102))) static void begin(void)
{
	(void)at_quick_exit(save);
	execve_real();
	execv_real();
	execvp_real();
	execvpe_real();
	fexecve_real();
	execveat_real();
	_exit_real();
	_Exit_real();
	daemon_real();
	_Fork_real();
}

EXPORTED int execve(const char *path, char *const argv[], char *const environment[])
{
	gm_threads_write_waiting();
	return execve_real()(path, argv, environment);
}

EXPORTED int execv(const char *path, char *const argv[])
{
	gm_threads_write_waiting();
	return execv_real()(path, argv);
}

EXPORTED int execvp(const char *file, char *const argv[])
{
	gm_threads_write_waiting();
	return execvp_real()(file, argv);
}

EXPORTED int execvpe(const char *file, char *const argv[], char *const environment[])
{
	gm_threads_write_waiting();
	return execvpe_real()(file, argv, environment);
}

EXPORTED int fexecve(int fd, char *const argv[], char *const environment[])
{
	gm_threads_write_waiting();
	return fexecve_real()(fd, argv, environment);
}

EXPORTED int execveat(int fd, const char *path, char *const argv[], char *const environment[],
		      int flags)
{
	gm_threads_write_waiting();
	return execveat_real()(fd, path, argv, environment, flags);
}

/* The arguments behind `first`, as an array on the stack; `list` stands behind their NULL then. */
#define GATHER(list, first, ret_argv)                                                              \
	do {                                                                                       \
		va_list again;                                                                     \
		size_t n = 1;                                                                      \
                                                                                                   \
		va_start(list, first);                                                             \
		va_copy(again, list);                                                              \
		for (const char *arg = first; arg != NULL; n++)                                    \
			arg = va_arg(again, const char *);                                         \
		va_end(again);                                                                     \
		(ret_argv) = alloca(n * sizeof(*(ret_argv)));                                      \
		(ret_argv)[0] = (char *)(first);                                                   \
		for (size_t i = 1; i < n; i++)                                                     \
			(ret_argv)[i] = va_arg(list, char *);                                      \
	} while (0)

EXPORTED int execl(const char *path, const char *first, ...)
{
	va_list list;
	char **argv;

	GATHER(list, first, argv);
	va_end(list);
	return execv(path, argv);
}

EXPORTED int execlp(const char *file, const char *first, ...)
{
	va_list list;
	char **argv;

	GATHER(list, first, argv);
	va_end(list);
	return execvp(file, argv);
}

EXPORTED int execle(const char *path, const char *first, ...)
{
	char **argv, **environment;
	va_list list;

	GATHER(list, first, argv);
	environment = va_arg(list, char **);
	va_end(list);
	return execve(path, argv, environment);
}

EXPORTED void _exit(int status)
{
	save();
	_exit_real()(status);
	__builtin_unreachable();
}

EXPORTED void _Exit(int status)
{
	save();
	_Exit_real()(status);
	__builtin_unreachable();
}

EXPORTED int daemon(int keeps_directory, int keeps_files)
{
	save();
	return daemon_real()(keeps_directory, keeps_files);
}

/*
 * Runs no handlers of fork(), and may be called by a signal's handler that interrupted a call being
 * counted, to which the child returns.
 */
EXPORTED pid_t _Fork(void)
{
	__typeof__(&_Fork) real = _Fork_real();
	pid_t pid;

	if (real == NULL) { /* before glibc 2.34 */
		errno = ENOSYS;
		return -1;
	}
	gm_children_prepare();
	pid = real();
	if (pid == 0)
		gm_threads_forked();
	return pid;
}
