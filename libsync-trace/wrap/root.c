/* SPDX-License-Identifier: MIT */
/*
 * chroot(): our libraries may not exist in the new root. The loader of each program executed from
 * then on would print an error for each, so they are removed from LD_PRELOAD.
 *
 * The environment's array is changed in place, without a lock: the caller may be the child of a
 * fork in the middle of another thread's setenv(). A program that executes others with an earlier
 * copy of the environment is not covered.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include "record/internal.h"
#include "libc/real.h"
#include "runtime/sys/seal.h"
#include "runtime/sys/sys.h"

#define PRELOAD "LD_PRELOAD="

static bool ends_in(const char *item, size_t n, const char *name)
{
	size_t n_name = gm_strlen(name);

	return n > n_name && memcmp(item + n - n_name, name, n_name) == 0;
}

/*
 * Returns the length of the path before $LIB: a directory of ours, which exists if the libraries
 * do.
 */
static size_t fixed_bytes(const char *item, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (item[i] == '$')
			return i;
	return n;
}

static bool is_ours_and_gone(const char *item, size_t n)
{
	char path[1024]; /* the stack may be small */
	struct stat st;

	if (n >= sizeof(path) ||
	    (!ends_in(item, n, "/libgmon_mt.so") && !ends_in(item, n, "/libsync_trace.so") &&
	     !ends_in(item, n, "/libsync_trace_openmp.so") &&
	     !ends_in(item, n, "/libaccess_step.so")))
		return false;
	n = fixed_bytes(item, n);
	memcpy(path, item, n);
	path[n] = '\0';
	return GM_IS_ERROR(gm_syscall3(SYS_stat, (long)path, (long)&st, 0));
}

/* Writes "A:B:C" without missing libraries to `kept`, if that is not NULL; returns its length. */
static size_t keep_others(const char *value, char *kept)
{
	size_t n_kept = 0, n;

	for (const char *item = value; *item != '\0'; item += n) {
		const char *start = item;

		item += strspn(item, " :");
		n = strcspn(item, " :");
		if (n == 0 || is_ours_and_gone(item, n))
			continue;
		start = n_kept > 0 ? start : item;
		if (kept != NULL)
			memcpy(kept + n_kept, start, (size_t)(item + n - start));
		n_kept += (size_t)(item + n - start);
	}
	return n_kept;
}

static bool has_any_gone(const char *value)
{
	size_t n;

	for (const char *item = value; *item != '\0'; item += n) {
		item += strspn(item, " :");
		n = strcspn(item, " :");
		if (is_ours_and_gone(item, n))
			return true;
	}
	return false;
}

/* Returns the new entry of the environment; NULL: no memory. */
static char *without_gone(const char *value, size_t n_kept)
{
	static char empty[] = PRELOAD;
	char *made;

	if (n_kept == 0)
		return empty;
	made = gm_sys_mmap(sizeof(empty) + n_kept, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == NULL)
		return NULL;
	memcpy(made, PRELOAD, strlen(PRELOAD));
	keep_others(value, made + strlen(PRELOAD));
	return made;
}

/* The old entry is not changed: the program may have passed a constant to putenv(). */
static void leave_out(void)
{
	char **entry = environ, *made;
	const char *value;
	size_t n_kept;

	while (entry != NULL && *entry != NULL && strncmp(*entry, PRELOAD, strlen(PRELOAD)) != 0)
		entry++;
	if (entry == NULL || *entry == NULL)
		return;
	value = *entry + strlen(PRELOAD);
	if (!has_any_gone(value))
		return;
	n_kept = keep_others(value, NULL);
	made = without_gone(value, n_kept);
	if (made == NULL)
		return;
	*entry = made;
	if (n_kept > 0 || !__libc_single_threaded)
		return;
	for (; *entry != NULL; entry++)
		entry[0] = entry[1];
}

ST_EXPORT int chroot(const char *path)
{
	int result;

	if (st_real.chroot == NULL)
		st_real_resolve();
	result = st_real.chroot(path);
	if (result == 0 && !gm_seal_is_set() && !st_process_is_borrowed())
		leave_out();
	return result;
}
