/* SPDX-License-Identifier: MIT */
/*
 * The ends of a process that run no destructor: what only memory has is written before
 * (runtime/kept.h).
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"
#include "runtime/runtime.h"

static void (*next_exit)(int status), (*next_Exit)(int status);
static int (*next_daemon)(int keeps_directory, int keeps_files);

/* dlsym() takes locks, and the child of vfork() may be in a hurry. */
static void resolve(void)
{
	if (next_exit != NULL)
		return;
	*(void **)&next_daemon = dlsym(RTLD_NEXT, "daemon");
	*(void **)&next_Exit = dlsym(RTLD_NEXT, "_Exit");
	*(void **)&next_exit = dlsym(RTLD_NEXT, "_exit");
}

/* The first handler of quick_exit() runs last: others may lock. */
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

/* The parent ends by the C library's own _exit(), behind its handlers of fork(). */
ST_EXPORT int daemon(int keeps_directory, int keeps_files)
{
	gm_process_save();
	resolve();
	return next_daemon(keeps_directory, keeps_files);
}
