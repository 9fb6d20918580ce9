/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of the libc functions that end or replace the program without running its destructors,
 * and of _Fork(), which runs no fork handlers.
 *
 * The functions are exec, _exit(), quick_exit(), and daemon(), whose parent ends by the C library's
 * own _exit(). At that time gmon files of threads that ended last may not be written yet (lives.c),
 * nor the data that exists only in memory (runtime/files/files_in_memory.h). Each wrapper writes
 * these first, notes the end of the process unless it is exec, and then calls the next function of
 * that name. quick_exit() runs handlers, which may be profiled: the data is written by the first
 * registered handler, since that one runs last.
 *
 * Not part of libgmon_mt.a: there the program's own C library defines these names.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"
#include "runtime/process/children.h"
#include "runtime/process/process.h"

#define EXPORTED __attribute__((visibility("default")))

/* The next function of that name, that is, the C library's; NULL: not looked up yet. */
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

/* Looked up at the start: dlsym() takes locks, which the child of vfork() must not wait for. */
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

/*
 * Gathers the arguments after `first` into an array on the stack and leaves `list` behind their
 * NULL.
 */
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
	int result;

	save();
	result = daemon_real()(keeps_directory, keeps_files);
	if (result != 0)
		gm_process_goes_on();
	return result;
}

/*
 * _Fork() runs no fork handlers. A signal handler may call it while it interrupts a call being
 * counted, and the child returns to that call.
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
