/* SPDX-License-Identifier: MIT */
/* Lists the folders of a capture and the files of places in them, and finds who uses these. */
#include "capture/children/find.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/children/fill.h"
#include "gmon-mt/children.h"

static DIR *list_dir(int dir, const char *name)
{
	int fd = pp_child_open_dir(dir, name);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;

	if (fd >= 0 && !list)
		close(fd);
	return list;
}

static GPtrArray *names_of(int dir, const char *name, bool (*is_wanted)(const char *))
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	DIR *list = list_dir(dir, name);
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (is_wanted(entry->d_name))
			g_ptr_array_add(names, g_strdup(entry->d_name));
	if (list)
		closedir(list);
	return names;
}

static bool is_folder(const char *name)
{
	return g_ascii_isdigit(name[0]);
}

static bool is_file_of_places(const char *name)
{
	return g_str_has_prefix(name, GM_CHILDREN_NAME);
}

static bool is_pack(const char *name)
{
	return g_str_has_prefix(name, GM_PACK_PREFIX);
}

GPtrArray *pp_children_folders(int capture_fd)
{
	return names_of(capture_fd, ".", is_folder);
}

GPtrArray *pp_children_files(int capture_fd, const char *folder)
{
	return names_of(capture_fd, folder, is_file_of_places);
}

GPtrArray *pp_children_packs(int capture_fd, const char *folder)
{
	return names_of(capture_fd, folder, is_pack);
}

/*
 * Does a line of /proc/PID/maps name the file?  Fields before the path: range, permissions, offset,
 * device, inode.
 */
static bool maps_file(const char *maps, uint64_t inode)
{
	for (const char *at = maps; (at = strstr(at, "/" GM_CHILDREN_NAME)); at++) {
		const char *line = at;
		uint64_t found;

		while (line > maps && line[-1] != '\n')
			line--;
		if (sscanf(line, "%*s %*s %*s %*s %" SCNu64, &found) == 1 && found == inode)
			return true;
	}
	return false;
}

bool pp_children_has_places(const char *dir, pid_t pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/maps", (int)pid);
	g_autoptr(GPtrArray) folders = NULL;
	g_autofree char *maps = NULL;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool found = false;

	if (fd < 0)
		return false;
	folders = pp_children_folders(fd);
	if (g_file_get_contents(path, &maps, NULL, NULL))
		for (guint i = 0; i < folders->len && !found; i++) {
			g_autoptr(GPtrArray) files = pp_children_files(fd, folders->pdata[i]);

			for (guint j = 0; j < files->len && !found; j++) {
				g_autofree char *name = g_build_filename(
				    folders->pdata[i], (char *)files->pdata[j], NULL);
				struct stat st;

				found = fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
					maps_file(maps, st.st_ino);
			}
		}
	close(fd);
	return found;
}
