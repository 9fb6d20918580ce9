/* SPDX-License-Identifier: MIT */
/*
 * Finds symlinks out of a capture.  A capture from elsewhere may point to files that its reader may
 * read and its maker may not.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"

static bool is_inside(const char *dir, const char *path)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0' || len == 1);
}

/* A dangling symlink leads out to nothing. */
static bool leads_out(const char *root, const char *path)
{
	char *real = realpath(path, NULL);
	bool is_out = real && !is_inside(root, real);

	free(real);
	return is_out;
}

static bool is_link(const char *path, const struct dirent *entry)
{
	return entry->d_type == DT_LNK ||
	       (entry->d_type == DT_UNKNOWN && g_file_test(path, G_FILE_TEST_IS_SYMLINK));
}

bool pp_capture_leads_out(const struct pp_capture *capture, const char *path)
{
	char *root = realpath(capture->model->dir, NULL);
	bool is_out = root && leads_out(root, path);

	free(root);
	return is_out;
}

char *pp_capture_link_out(const struct pp_capture *capture, const char *dir_path)
{
	char *root = realpath(capture->model->dir, NULL);
	const struct dirent *entry;
	char *found = NULL;
	DIR *dir;

	if (!root)
		return NULL;
	if (leads_out(root, dir_path))
		found = g_strdup(dir_path);
	dir = found ? NULL : opendir(dir_path);
	while (dir && !found && (entry = readdir(dir))) {
		g_autofree char *path = g_build_filename(dir_path, entry->d_name, NULL);

		if (is_link(path, entry) && leads_out(root, path))
			found = g_steal_pointer(&path);
	}
	if (dir)
		closedir(dir);
	free(root);
	return found;
}
