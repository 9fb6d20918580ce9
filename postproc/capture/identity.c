/* SPDX-License-Identifier: MIT */
/* A digest of the names, sizes and times of a capture's files. */
#include "capture/identity.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A capture's folders are nested three deep. */
#define MOST_DEEP 8

struct files {
	GPtrArray *lines; /* of char *: path, mode, size and time of modification */
	uint64_t bytes;
};

static void add_folder(struct files *files, int parent, const char *name, const char *path,
		       const char *except, unsigned depth);

static void add(struct files *files, int folder, const char *name, const char *path, unsigned depth)
{
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	if (S_ISDIR(st.st_mode)) {
		if (depth < MOST_DEEP)
			add_folder(files, folder, name, path, NULL, depth + 1);
		return;
	}
	g_ptr_array_add(files->lines,
			g_strdup_printf("%s %o %" PRIi64 " %" PRIi64 ".%09ld\n", path, st.st_mode,
					(int64_t)st.st_size, (int64_t)st.st_mtim.tv_sec,
					st.st_mtim.tv_nsec));
	files->bytes += (uint64_t)st.st_size;
}

static void add_folder(struct files *files, int parent, const char *name, const char *path,
		       const char *except, unsigned depth)
{
	int fd =
	    openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth ? O_NOFOLLOW : 0));
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		g_autofree char *below = NULL;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    (except && g_str_has_prefix(entry->d_name, except)))
			continue;
		below = g_strdup_printf("%s/%s", path, entry->d_name);
		add(files, fd, entry->d_name, below, depth);
	}
	closedir(dir);
}

static gint compare_lines(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void pp_capture_identify(const char *dir, const char *except, GChecksum *sum, uint64_t *ret_bytes)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
	struct files files = {.lines = lines};

	add_folder(&files, AT_FDCWD, dir, "", except, 0);
	g_ptr_array_sort(lines, compare_lines);
	for (guint i = 0; i < lines->len; i++)
		g_checksum_update(sum, lines->pdata[i], -1);
	*ret_bytes = files.bytes;
}
