/* SPDX-License-Identifier: MIT */
/*
 * chroot(): our libraries may not be there any more.  The loader of each program that is executed
 * from then on would print an error for each, so LD_PRELOAD leaves them out.
 *
 * The environment is changed in place, with no lock: the caller may be the child of a fork in the
 * middle of another thread's setenv().  A program that executes others with a copy that it made
 * before is not helped.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include "internal.h"
#include "real.h"
#include "runtime/runtime.h"
#include "runtime/seal.h"
#include "runtime/sys.h"

#define PRELOAD "LD_PRELOAD="

static bool ends_in(const char *item, size_t n, const char *name)
{
	size_t n_name = gm_strlen(name);

	return n > n_name && memcmp(item + n - n_name, name, n_name) == 0;
}

/* The length of the path in front of $LIB: a directory of ours, which exists where the libraries
 * do. */
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
	    (!ends_in(item, n, "/libgmon_mt.so") && !ends_in(item, n, "/libsync_trace.so")))
		return false;
	n = fixed_bytes(item, n);
	memcpy(path, item, n);
	path[n] = '\0';
	return GM_IS_ERROR(gm_syscall3(SYS_stat, (long)path, (long)&st, 0));
}

/* "A:B:C" without those that are gone; returns what is left of its length. */
static size_t remove_gone(char *value)
{
	size_t kept = 0, n;

	for (const char *item = value; *item != '\0'; item += n) {
		const char *start = item;

		item += strspn(item, " :");
		n = strcspn(item, " :");
		if (n == 0 || is_ours_and_gone(item, n))
			continue;
		start = kept > 0 ? start : item;
		memmove(value + kept, start, (size_t)(item + n - start));
		kept += (size_t)(item + n - start);
	}
	return kept;
}

static void leave_out(void)
{
	char **entry = environ;
	size_t kept, before;

	while (entry != NULL && *entry != NULL && strncmp(*entry, PRELOAD, strlen(PRELOAD)) != 0)
		entry++;
	if (entry == NULL || *entry == NULL)
		return;
	before = strlen(*entry + strlen(PRELOAD));
	kept = remove_gone(*entry + strlen(PRELOAD));
	if (kept == before)
		return;
	(*entry)[strlen(PRELOAD) + kept] = '\0';
	if (kept > 0 || !__libc_single_threaded)
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
