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
#include <link.h>
#include <stdlib.h>

#include "runtime/runtime.h"

static void (*libc_finalize)(void *);
static bool ending;

/* The last module that was there when the program began: up to it they stay. */
static const struct link_map *last_to_stay;

extern int _dl_find_object(void *, struct dl_find_object *) __attribute__((weak));

static const struct link_map *module_of(uint64_t address)
{
	struct dl_find_object found;

	if (_dl_find_object == NULL || _dl_find_object((void *)address, &found) != 0)
		return NULL;
	return found.dlfo_link_map;
}

static bool is_program(const struct link_map *module)
{
	return module != NULL && module->l_name[0] == '\0';
}

bool gm_module_stays(const struct link_map *module)
{
	/* acquire: pairs with the release in begin() */
	const struct link_map *last = __atomic_load_n(&last_to_stay, __ATOMIC_ACQUIRE), *at;

	if (is_program(module))
		return true;
	if (last == NULL || module == NULL)
		return false;
	for (at = module_of(gm_entry_point()); at != NULL && at != module; at = at->l_next)
		if (at == last)
			return false;
	return at != NULL;
}

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
	const struct link_map *last = module_of(gm_entry_point());

	resolve();
	atexit(note_end);
	while (last != NULL && last->l_next != NULL)
		last = last->l_next;
	/* release: pairs with the acquire in gm_module_stays() */
	__atomic_store_n(&last_to_stay, last, __ATOMIC_RELEASE);
}

__attribute__((visibility("default"))) void __cxa_finalize(void *object);

void __cxa_finalize(void *object)
{
	const struct link_map *module;

	/* Of what a constructor that came before ours has unloaded. */
	if (libc_finalize == NULL)
		resolve();
	if (libc_finalize != NULL)
		libc_finalize(object);
	if (object == NULL)
		return;
	module = module_of((uint64_t)object);
	/* The loader ends the program before all libraries. */
	if (is_program(module))
		ending = true;
	if (!ending && !gm_module_stays(module))
		gm_unloads((uint64_t)object);
	/* What a constructor had loaded before ours ran does not stay. */
	if (module != NULL && module == last_to_stay)
		__atomic_store_n(&last_to_stay, module->l_prev, __ATOMIC_RELEASE);
}
