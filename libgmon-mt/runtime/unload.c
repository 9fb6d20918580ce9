/* SPDX-License-Identifier: MIT */
/*
 * Notices that a library is unloaded, before another can come to its addresses.
 *
 * The destructors of an object end with __cxa_finalize(), which runs what was registered for it, in
 * every object that gcc's or clang's start files are linked into, and is found as mcount is: here
 * before libc.  It does what libc's does; then, unless the process is ending, the library is told,
 * and puts what it knows by addresses in the object out of the way (gm_unloads()).  What was built
 * without start files is noticed when something new turns up in what has taken its place.
 *
 * Not in libgmon_mt.a: a static program unloads nothing, and has no dlsym().
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "runtime/runtime.h"

static void (*libc_finalize)(void *);
static bool ending;

static void note_end(void)
{
	ending = true;
}

static void resolve(void)
{
	*(void **)&libc_finalize = dlsym(RTLD_NEXT, "__cxa_finalize");
}

__attribute__((constructor(101))) static void begin(void)
{
	resolve();
	atexit(note_end);
}

__attribute__((visibility("default"))) void __cxa_finalize(void *object);

/* The loader ends the program's object before all others. */
static bool is_program(const void *object)
{
	const struct gm_object *noted = gm_maps_find((uint64_t)object);

	return noted != NULL && noted->executable;
}

void __cxa_finalize(void *object)
{
	/* Of what a constructor that came before ours has unloaded. */
	if (libc_finalize == NULL)
		resolve();
	if (libc_finalize != NULL)
		libc_finalize(object);
	if (object == NULL || is_program(object))
		ending = true;
	if (ending)
		return;
	gm_unloads((uint64_t)object);
}
