/* SPDX-License-Identifier: MIT */
/*
 * Lists the files of a finished recording with their sizes, in DIR/files, so that a reader notices
 * a file that was lost or cut short later (capture/manifest.c).
 *
 * Left out are files that no report needs (gmon files, `used`, `config`), those that LTTng writes,
 * and the files of processes that still run.
 */
#include "record/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/write.h"
#include "gmon-mt/format.h"

#define MAX_DEPTH 3

struct listing {
	GString *lines;
	unsigned n_files;
	GHashTable *live; /* a set of folders */
};

/* The folders of processes that still run, as a set.  The caller unrefs it. */
static GHashTable *live_folders(const struct pp_model *model)
{
	GHashTable *folders = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		if (process->is_live)
			g_hash_table_add(folders, process->folder);
	}
	return folders;
}

static bool is_left_out(const char *name)
{
	static const char *const names[] = {GM_MANIFEST_FILE, "used", "config", "index", "ust"};

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
		if (g_str_equal(name, names[i]))
			return true;
	return name[0] == '.' || g_str_has_prefix(name, "gmon.") ||
	       g_str_has_prefix(name, "children.");
}

static void list_folder(struct listing *listing, int parent, const char *name, const char *path,
			unsigned depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		g_autofree char *below = g_strdup_printf("%s%s", path, entry->d_name);
		struct stat st;

		if (is_left_out(entry->d_name) ||
		    fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH &&
		    !g_hash_table_contains(listing->live, below)) {
			g_autofree char *folder = g_strconcat(below, "/", NULL);

			list_folder(listing, fd, entry->d_name, folder, depth + 1);
		} else if (S_ISREG(st.st_mode)) {
			g_string_append_printf(listing->lines, "%jd %s\n", (intmax_t)st.st_size,
					       below);
			listing->n_files++;
		}
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

int pp_manifest_write(int dir_fd, const struct pp_model *model)
{
	g_autoptr(GString) lines = g_string_new(NULL);
	g_autofree char *head = NULL;
	g_autoptr(GHashTable) live = live_folders(model);
	struct listing listing = {lines, 0, live};
	int fd, ret;

	list_folder(&listing, dir_fd, ".", "", 0);
	head = g_strdup_printf("%u\n", listing.n_files);
	g_string_prepend(lines, head);
	fd = openat(dir_fd, GM_MANIFEST_NEW, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;
	ret = pp_write_all(fd, lines->str, lines->len);
	close(fd);
	/* A part of the list would look like damage. */
	if (ret == 0 && renameat(dir_fd, GM_MANIFEST_NEW, dir_fd, GM_MANIFEST_FILE))
		ret = -errno;
	if (ret < 0)
		unlinkat(dir_fd, GM_MANIFEST_NEW, 0);
	return ret;
}
