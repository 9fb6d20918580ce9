/* SPDX-License-Identifier: MIT */
/*
 * Looks up the real functions of blocking calls: next in the loader's search order, as the program
 * would find them without this library.
 *
 * Their names are short words, such as send and wait, and a library of the program may use one for
 * a function of its own. Such a function is recognized by its address.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>

#include "libc/real_io.h"
#include "runtime/process/loadmap.h"
#include "runtime/sys/kernel.h"
#include "runtime/sys/sys.h"

struct st_io_real st_io_real;

static int missing(void)
{
	errno = ENOSYS;
	return -1;
}

void st_io_resolve(void)
{
	static const struct {
		size_t offset;
		const char *name;
	} rows[] = {
#define ROW(type, name, parameters) {offsetof(struct st_io_real, name), #name},
	    ST_IO_REALS(ROW)
#undef ROW
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void **slot = (void **)((char *)&st_io_real + rows[i].offset);
		void *real;

		if (__atomic_load_n(slot, __ATOMIC_RELAXED) != NULL)
			continue;
		real = dlsym(RTLD_NEXT, rows[i].name);
		__atomic_store_n(slot, real != NULL ? real : (void *)missing, __ATOMIC_RELEASE);
	}
}

static bool begins_with(const char *text, const char *prefix)
{
	size_t n = gm_strlen(prefix);

	return gm_strlen(text) >= n && memcmp(text, prefix, n) == 0;
}

/* True if the list of file names, separated by spaces and colons, has this one. */
static bool has_name(const char *list, const char *name)
{
	size_t n = gm_strlen(name);

	for (const char *at = list; *at != '\0'; at++) {
		bool begins = at == list || at[-1] == '/' || at[-1] == ':' || at[-1] == ' ';

		if (begins && begins_with(at, name) &&
		    (at[n] == '\0' || at[n] == ':' || at[n] == ' '))
			return true;
	}
	return false;
}

static bool is_wrapping(const char *path)
{
	static const char *const sanitizers[] = {"libasan.", "libtsan.", "libubsan.", "liblsan.",
						 "libhwasan."};
	const char *name = gm_base_name(path), *preloaded = gm_environment("LD_PRELOAD");

	for (unsigned i = 0; i < sizeof(sanitizers) / sizeof(sanitizers[0]); i++)
		if (begins_with(name, sanitizers[i]))
			return true;
	return *name != '\0' && preloaded != NULL && has_name(preloaded, name);
}

bool st_io_is_known(const void *real)
{
	static uint64_t known_start, known_end; /* of the object found last */
	struct dl_find_object found;
	const char *path;

	if (real == (const void *)missing || gm_find_object == NULL ||
	    (uint64_t)real - known_start < known_end - known_start)
		return true;
	if (gm_find_object((void *)real, &found) != 0)
		return false;
	path = found.dlfo_link_map->l_name;
	if (!begins_with(gm_base_name(path), "libc.") && !is_wrapping(path))
		return false;
	known_start = (uint64_t)found.dlfo_map_start;
	known_end = (uint64_t)found.dlfo_map_end;
	return true;
}
