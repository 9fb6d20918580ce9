/* SPDX-License-Identifier: MIT */
/*
 * Looks up libgomp's functions at the start of the program, when no lock of the loader can be held.
 *
 * A program without libgomp may have our names, too, which it inherited. A module that it loads may
 * need a libgomp, under any name and not in the loader's search order; it must call that one. So
 * names with no function behind them are made undefined.
 */
#include "libc/openmp.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/sys/sys.h"

#define NAMES	      "libsync_trace_openmp.so"
#define PAGE_BYTES    4096u
#define FIRST	      "GOMP_critical_start"
#define FIRST_VERSION "GOMP_1.0"

static int missing(void);

/* Until they are known, nothing is called. */
#define ST_OPENMP_MISSING(type, name, parameters, version)                                         \
	(type(*) parameters)(void (*)(void)) missing,
static struct st_openmp real = {ST_OPENMP(ST_OPENMP_MISSING)};
static bool is_known;

/* Stands for a function that there is not: only a weak reference can have led here. */
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

/* Makes our name of the function undefined for the loader, in our library's table of symbols. */
static void hide(const char *name, const char *version)
{
	void *stub = dlvsym(RTLD_DEFAULT, name, version);
	ElfW(Sym) *symbol = NULL;
	Dl_info found;
	long page, n_bytes;

	if (stub == NULL || dladdr1(stub, &found, (void **)&symbol, RTLD_DL_SYMENT) == 0 ||
	    symbol == NULL || gm_strcmp(gm_base_name(found.dli_fname), NAMES) != 0)
		return;
	page = (long)((uintptr_t)symbol & -(uintptr_t)PAGE_BYTES);
	n_bytes = (long)(symbol + 1) - page;
	if (gm_syscall3(SYS_mprotect, page, n_bytes, PROT_READ | PROT_WRITE) != 0)
		return;
	symbol->st_value = 0;
	gm_syscall3(SYS_mprotect, page, n_bytes, PROT_READ);
}

/* library: a handle; NULL: there is no libgomp. */
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
		void *found =
		    library != NULL ? dlvsym(library, rows[i].name, rows[i].version) : NULL;

		if (found == NULL)
			hide(rows[i].name, rows[i].version);
		__atomic_store_n((void **)((char *)&real + rows[i].offset),
				 found != NULL ? found : (void *)missing, __ATOMIC_RELAXED);
	}
	/* release: pairs with the acquire in st_openmp() */
	__atomic_store_n(&is_known, true, __ATOMIC_RELEASE);
}

void st_openmp_open(void)
{
	resolve(is_behind_us() ? RTLD_NEXT : dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD));
	dlerror(); /* clears an error that the program would otherwise see */
}

const struct st_openmp *st_openmp(void)
{
	if (__builtin_expect(!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE), 0))
		st_openmp_open();
	return &real;
}
