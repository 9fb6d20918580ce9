/* SPDX-License-Identifier: MIT */
/*
 * Looks up libgomp's functions behind us in the loader's search order: at the start of the program,
 * when no lock of the loader can be held. A libgomp that is not in that order (RTLD_LOCAL) is found
 * by its name at the first call, and stays loaded.
 */
#include "libc/openmp.h"

#include <dlfcn.h>
#include <stddef.h>

#define FIRST	      "GOMP_critical_start"
#define FIRST_VERSION "GOMP_1.0"

static int missing(void);

/* Until they are known, nothing is called. */
#define ST_OPENMP_MISSING(type, name, parameters, version)                                         \
	(type(*) parameters)(void (*)(void)) missing,
static struct st_openmp real = {ST_OPENMP(ST_OPENMP_MISSING)};
static bool is_known;

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
