/* SPDX-License-Identifier: MIT */
/* Reads and writes the files of the cache, and removes the least recently used ones. */
#include "symbols/symbol_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/text/write.h"

/* The prefix of files being written.  Old ones were left by a process that was killed. */
#define NEW_PREFIX	".new-"
#define NEW_MAX_SECONDS 3600

/* --- folder --------------------------------------------------------------------------------- */

static bool is_ours(int fd, mode_t kind)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == kind && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/*
 * Opens the folder in `parent`, which it closes, and creates it if necessary.  Returns -1 if it
 * must not be used.
 */
static int enter(int parent, const char *name)
{
	int fd;

	if (parent < 0)
		return -1;
	mkdirat(parent, name, 0700);
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(parent);
	if (fd >= 0 && !is_ours(fd, S_IFDIR)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Returns -1 if there is no folder. */
static int open_folder(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	g_autofree char *path = NULL;
	int fd;

	/* A set-user-ID program must not trust the environment. */
	if (getauxval(AT_SECURE))
		return -1;
	if (base && g_path_is_absolute(base))
		path = g_strdup(base);
	else if (home && g_path_is_absolute(home))
		path = g_build_filename(home, ".cache", NULL);
	else
		return -1;
	mkdir(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* For example, root with a user's home directory: must not create files of root there. */
	if (fd >= 0 && !is_ours(fd, S_IFDIR)) {
		close(fd);
		return -1;
	}
	return enter(enter(fd, "gprof-mt"), "symbols");
}

/* --- files ---------------------------------------------------------------------------------- */

static GBytes *read_all(int fd)
{
	struct stat st;
	g_autofree char *data = NULL;
	size_t len = 0;

	if (!is_ours(fd, S_IFREG) || fstat(fd, &st) != 0 || st.st_size <= 0 ||
	    st.st_size > PP_SYMBOL_CACHE_FILE_BYTES)
		return NULL;
	data = g_malloc((size_t)st.st_size);
	while (len < (size_t)st.st_size) {
		ssize_t n = read(fd, data + len, (size_t)st.st_size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return NULL;
		len += (size_t)n;
	}
	return g_bytes_new_take(g_steal_pointer(&data), len);
}

GBytes *pp_symbol_cache_read(const char *name)
{
	int folder = open_folder(), fd;
	GBytes *bytes = NULL;

	if (folder < 0)
		return NULL;
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0) {
		bytes = read_all(fd);
		/* Mark it as used. */
		if (bytes)
			futimens(fd, NULL);
		close(fd);
	}
	close(folder);
	return bytes;
}

/* False if the file would exceed RLIMIT_FSIZE, which would raise a signal. */
static bool may_write(gsize len)
{
	struct rlimit limit;

	return len <= PP_SYMBOL_CACHE_FILE_BYTES && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	       (limit.rlim_cur == RLIM_INFINITY || len <= limit.rlim_cur);
}

static bool write_file(int folder, const char *name, GBytes *bytes)
{
	g_autofree char *new_name =
	    g_strdup_printf(NEW_PREFIX "%d-%08x", (int)getpid(), g_random_int());
	int fd =
	    openat(folder, new_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool is_good;
	gsize len;
	const void *data = g_bytes_get_data(bytes, &len);

	if (fd < 0)
		return false;
	is_good = pp_write_all(fd, data, len) == 0;
	/* Errors of a full disk or quota may be reported only here. */
	is_good = close(fd) == 0 && is_good;
	is_good = is_good && renameat(folder, new_name, folder, name) == 0;
	if (!is_good)
		unlinkat(folder, new_name, 0);
	return is_good;
}

/* --- removal -------------------------------------------------------------------------------- */

struct entry {
	char *name;
	struct timespec used;
	uint64_t bytes;
};

static void entry_clear(void *data)
{
	g_free(((struct entry *)data)->name);
}

static int compare_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct entry *)a)->used;
	const struct timespec *y = &((const struct entry *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* Takes ownership of the descriptor.  Least recently used files first. */
static GArray *list_entries(int folder)
{
	GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
	DIR *dir = fdopendir(folder);
	const struct dirent *found;

	g_array_set_clear_func(entries, entry_clear);
	if (!dir) {
		close(folder);
		return entries;
	}
	while ((found = readdir(dir))) {
		struct stat st;
		struct entry entry = {0};

		if (fstatat(dirfd(dir), found->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		entry.name = g_strdup(found->d_name);
		entry.used = st.st_mtim;
		entry.bytes = (uint64_t)st.st_size;
		g_array_append_val(entries, entry);
	}
	closedir(dir);
	g_array_sort(entries, compare_use);
	return entries;
}

static bool is_abandoned(const struct entry *entry)
{
	return g_str_has_prefix(entry->name, NEW_PREFIX) &&
	       time(NULL) - entry->used.tv_sec > NEW_MAX_SECONDS;
}

static void remove_unused(int folder)
{
	g_autoptr(GArray) entries = list_entries(fcntl(folder, F_DUPFD_CLOEXEC, 0));
	guint n_left = entries->len;
	uint64_t bytes_left = 0;

	for (guint i = 0; i < entries->len; i++)
		bytes_left += g_array_index(entries, struct entry, i).bytes;
	for (guint i = 0; i < entries->len; i++) {
		const struct entry *entry = &g_array_index(entries, struct entry, i);

		if (n_left <= PP_SYMBOL_CACHE_FILES && bytes_left <= PP_SYMBOL_CACHE_TOTAL_BYTES &&
		    !is_abandoned(entry))
			continue;
		unlinkat(folder, entry->name, 0);
		n_left--;
		bytes_left -= entry->bytes;
	}
}

void pp_symbol_cache_write(const char *name, GBytes *bytes)
{
	int folder = may_write(g_bytes_get_size(bytes)) ? open_folder() : -1;

	if (folder < 0)
		return;
	if (write_file(folder, name, bytes))
		remove_unused(folder);
	close(folder);
}
