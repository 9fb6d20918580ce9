/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of the functions that end a process without running destructors: before, data that
 * exists only in memory is written (runtime/files/files_in_memory.h), and the end is noted.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/internal.h"
#include "runtime/process/process.h"

static void (*next_exit)(int status), (*next_Exit)(int status);
static int (*next_daemon)(int keeps_directory, int keeps_files);

/* Looked up early: dlsym() takes locks, which the child of vfork() must not wait for. */
static void resolve(void)
{
	if (next_exit != NULL)
		return;
	*(void **)&next_daemon = dlsym(RTLD_NEXT, "daemon");
	*(void **)&next_Exit = dlsym(RTLD_NEXT, "_Exit");
	*(void **)&next_exit = dlsym(RTLD_NEXT, "_exit");
}

/* The first registered handler of quick_exit() runs last, after others that may lock. */
__attribute__((constructor)) static void begin(void)
{
	resolve();
	(void)at_quick_exit(gm_process_save);
}

ST_EXPORT void _exit(int status)
{
	gm_process_save();
	resolve();
	next_exit(status);
	__builtin_unreachable();
}

ST_EXPORT void _Exit(int status)
{
	gm_process_save();
	resolve();
	next_Exit(status);
	__builtin_unreachable();
}

/* The parent ends by the C library's own _exit(), after its fork handlers. */
ST_EXPORT int daemon(int keeps_directory, int keeps_files)
{
	int result;

	gm_process_save();
	resolve();
	result = next_daemon(keeps_directory, keeps_files);
	if (result != 0)
		gm_process_goes_on();
	return result;
}
