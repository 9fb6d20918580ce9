/* SPDX-License-Identifier: MIT */
/*
 * Notices that a library is unloaded, before another can come to its addresses.
 *
 * The destructors of an object end with __cxa_finalize(), which runs what was registered for it, in
 * every object that gcc's or clang's start files are linked into, and is found as mcount is: here
 * before libc.  It does what libc's does; then, unless the process is ending, the arcs of the
 * object move out of the way (runtime.h, calls.c).  What was built without start files is noticed
 * by the first new arc in what has taken its place.
 *
 * Not in libgmon_mt.a: a static program unloads nothing, and has no dlsym().
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "internal.h"

static void (*libc_finalize)(void *);
static bool ending;

static void note_end(void)
{
	ending = true;
}

__attribute__((constructor(101))) static void resolve(void)
{
	*(void **)&libc_finalize = dlsym(RTLD_NEXT, "__cxa_finalize");
	atexit(note_end);
}

__attribute__((visibility("default"))) void __cxa_finalize(void *object);

void __cxa_finalize(void *object)
{
	if (libc_finalize != NULL)
		libc_finalize(object);
	if (object == NULL || ending)
		return;
	gm_threads_check_fork();
	gm_maps_unload((uint64_t)object);
}
