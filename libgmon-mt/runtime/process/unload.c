/* SPDX-License-Identifier: MIT */
/*
 * Notices that a library is unloaded, before another one can be mapped at its addresses.
 *
 * The destructors of every object linked with gcc's or clang's start files end with a call of
 * __cxa_finalize(), which runs the object's registered functions. Like mcount, ours is found before
 * libc's. It calls libc's; then, unless the process is ending, it informs the library, which moves
 * its data on addresses in the object out of the way (gm_unloads()). The unloading of objects
 * without start files is noticed when a new address is seen in their replacement.
 *
 * Not part of libgmon_mt.a: a static program unloads nothing, and has no dlsym().
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include "runtime/process/loadmap.h"
#include "runtime/process/threads.h"

static void (*libc_finalize)(void *);
static bool ending;

/* The last module that was loaded when the program began: modules up to it are never unloaded. */
static const struct link_map *last_permanent;

static const struct link_map *module_of(uint64_t address)
{
	struct dl_find_object found;

	if (gm_find_object == NULL || gm_find_object((void *)address, &found) != 0)
		return NULL;
	return found.dlfo_link_map;
}

static bool is_program(const struct link_map *module)
{
	return module != NULL && module->l_name[0] == '\0';
}

bool gm_module_is_permanent(const struct link_map *module)
{
	/* acquire: pairs with the release in begin() */
	const struct link_map *last = __atomic_load_n(&last_permanent, __ATOMIC_ACQUIRE), *at;
	const struct link_map *program = module_of(gm_entry_point());

	/* Only compared: the module may already be unmapped. */
	if (module != NULL && module == program)
		return true;
	if (last == NULL || module == NULL)
		return false;
	for (at = program; at != NULL && at != module; at = at->l_next)
		if (at == last)
			return false;
	return at != NULL;
}

const struct link_map *gm_module_last_permanent(void)
{
	/* acquire: pairs with the release in begin() */
	return __atomic_load_n(&last_permanent, __ATOMIC_ACQUIRE);
}

/* RTLD_DEFAULT would find a library's own definition first if it is linked with -Bsymbolic. */
void *gm_thread_watch_find(void)
{
	void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);

	return program != NULL ? dlsym(program, "gm_thread_watch_shared") : NULL;
}

static void note_end(void)
{
	ending = true;
}

static void resolve(void)
{
	*(void **)&libc_finalize = dlsym(RTLD_NEXT, "__cxa_finalize");
}

/* The program's own functions of these names may take locks, or be compiled with -pg. */
void gm_libc_resolve(void)
{
	void *find_object, *set_specific;

	if (__atomic_load_n(&gm_find_object_is_safe, __ATOMIC_RELAXED))
		return;
	find_object = dlvsym(RTLD_NEXT, "_dl_find_object", "GLIBC_2.35");
	set_specific = dlsym(RTLD_NEXT, "pthread_setspecific");
	if (find_object == NULL || set_specific == NULL)
		dlerror(); /* clears an error that the program would otherwise see */
	if (find_object != NULL)
		__atomic_store_n((void **)&gm_find_object, find_object, __ATOMIC_RELAXED);
	if (set_specific != NULL)
		__atomic_store_n((void **)&gm_set_specific, set_specific, __ATOMIC_RELAXED);
	__atomic_store_n(&gm_find_object_is_safe, true, __ATOMIC_RELAXED);
}

__attribute__((constructor(101))) static void begin(void)
{
	const struct link_map *last = module_of(gm_entry_point());

	resolve();
	gm_libc_resolve();
	*(void **)&gm_pthread_keys = dlvsym(RTLD_NEXT, "__pthread_keys", "GLIBC_PRIVATE");
	atexit(note_end);
	while (last != NULL && last->l_next != NULL)
		last = last->l_next;
	/* release: pairs with the acquire in gm_module_is_permanent() */
	__atomic_store_n(&last_permanent, last, __ATOMIC_RELEASE);
}

__attribute__((visibility("default"))) void __cxa_finalize(void *object);

void __cxa_finalize(void *object)
{
	const struct link_map *module;

	/* Called for an object that a constructor before ours unloads. */
	if (libc_finalize == NULL)
		resolve();
	if (libc_finalize != NULL)
		libc_finalize(object);
	if (object == NULL)
		return;
	module = module_of((uint64_t)object);
	/* The loader finalizes the program before all libraries. */
	if (is_program(module))
		ending = true;
	if (!ending && !gm_module_is_permanent(module))
		gm_unloads((uint64_t)object);
	/* A module that a constructor before ours had loaded may be unloaded. */
	if (module != NULL && module == last_permanent)
		__atomic_store_n(&last_permanent, module->l_prev, __ATOMIC_RELEASE);
}
