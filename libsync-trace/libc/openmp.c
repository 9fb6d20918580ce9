/* SPDX-License-Identifier: MIT */
/*
 * Looks up libgomp's functions behind us in the loader's search order: at the start of the program,
 * when no lock of the loader can be held. A libgomp that is not in that order (RTLD_LOCAL) is found
 * by its name at the first call, and stays loaded.
 */
#include "libc/openmp.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#define FIRST	      "GOMP_critical_start"
#define FIRST_VERSION "GOMP_1.0"

static int missing(void);

/* Until they are known, nothing is called. */
#define ST_OPENMP_MISSING(type, name, parameters, version)                                         \
	(type(*) parameters)(void (*)(void)) missing,
static struct st_openmp real = {ST_OPENMP(ST_OPENMP_MISSING)};
static bool is_known, has_tasks;

/* Stands for a function that this libgomp does not have: nothing can have called it. */
static int missing(void)
{
	return 0;
}

/* The stubs of libsync_trace_openmp.so are what the program finds. */
static bool is_behind_us(void)
{
	void *next = dlvsym(RTLD_NEXT, FIRST, FIRST_VERSION);

	return next != NULL && next != dlvsym(RTLD_DEFAULT, FIRST, FIRST_VERSION);
}

static bool is_task_maker(const char *name)
{
	return strcmp(name, "GOMP_task") == 0 || strncmp(name, "GOMP_taskloop", 13) == 0;
}

/* Older glibc has not relocated the addresses in the dynamic section of all objects. */
static const void *address_of(const struct dl_phdr_info *object, ElfW(Addr) address)
{
	return (const void *)(address < object->dlpi_addr ? object->dlpi_addr + address : address);
}

/* Searches the symbols that the object refers to: those before the first in its hash table. */
static int look_for_tasks(struct dl_phdr_info *object, size_t size_bytes, void *found)
{
	const ElfW(Dyn) *entry = NULL;
	const ElfW(Sym) *symbols = NULL;
	const uint32_t *hash = NULL;
	const char *names = NULL;

	(void)size_bytes;
	for (unsigned i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entry = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
	for (; entry != NULL && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			symbols = address_of(object, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_STRTAB)
			names = address_of(object, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_GNU_HASH)
			hash = address_of(object, entry->d_un.d_ptr);
	}
	if (symbols == NULL || names == NULL || hash == NULL)
		return 0;
	for (uint32_t i = 1; i < hash[1]; i++)
		if (is_task_maker(names + symbols[i].st_name))
			*(bool *)found = true;
	return 0;
}

static void resolve(void *library)
{
	static const struct {
		size_t offset;
		const char *name, *version;
	} rows[] = {
#define ST_OPENMP_ROW(type, name, parameters, version)                                             \
	{offsetof(struct st_openmp, name), #name, version},
	    ST_OPENMP(ST_OPENMP_ROW)
#undef ST_OPENMP_ROW
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *found = dlvsym(library, rows[i].name, rows[i].version);

		__atomic_store_n((void **)((char *)&real + rows[i].offset),
				 found != NULL ? found : (void *)missing, __ATOMIC_RELAXED);
	}
	dl_iterate_phdr(look_for_tasks, &has_tasks);
	/* release: pairs with the acquire in st_openmp() */
	__atomic_store_n(&is_known, true, __ATOMIC_RELEASE);
}

void st_openmp_open(void)
{
	if (is_behind_us())
		resolve(RTLD_NEXT);
}

static __attribute__((noinline, cold)) void open_late(void)
{
	void *library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (library != NULL)
		resolve(library);
	else
		st_openmp_open();
}

const struct st_openmp *st_openmp(void)
{
	if (__builtin_expect(!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE), 0))
		open_late();
	return &real;
}

bool st_openmp_has_tasks(void)
{
	st_openmp();
	return __atomic_load_n(&has_tasks, __ATOMIC_RELAXED);
}
