/* SPDX-License-Identifier: MIT */
/*
 * A recorded process has DIR/FOLDER/threads mapped, and DIR has a session.  If `record` has
 * attached to the process, `record` alone has DIR/PID/threads open, to write to it.
 */
#include "monitor/capture_of.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gmon-mt/format.h"

/* The capture of a mapped file; NULL: it is no thread table.  The caller frees it. */
static char *dir_of(const char *path)
{
	g_autofree char *name = g_path_get_basename(path);
	g_autofree char *folder = g_path_get_dirname(path);
	g_autofree char *dir = g_path_get_dirname(folder);
	g_autofree char *session = g_build_filename(dir, GM_SESSION_FILE, NULL);

	return strcmp(name, "threads") == 0 && g_file_test(session, G_FILE_TEST_IS_REGULAR)
		   ? g_steal_pointer(&dir)
		   : NULL;
}

/* The capture that this process writes as the recorder of `pid`; NULL: none. */
static char *dir_of_recorder(const char *recorder, pid_t pid)
{
	g_autofree char *fds = g_strdup_printf("/proc/%s/fd", recorder);
	g_autofree char *end = g_strdup_printf("/%d/threads", (int)pid);
	g_autoptr(GDir) dir = g_dir_open(fds, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *fd = g_build_filename(fds, name, NULL);
		g_autofree char *path = g_file_read_link(fd, NULL);
		struct stat st;
		char *found;

		if (!path || !g_str_has_suffix(path, end) || lstat(fd, &st) ||
		    !(st.st_mode & S_IWUSR))
			continue;
		found = dir_of(path);
		if (found)
			return found;
	}
	return NULL;
}

/* The capture of a recorder that has attached to the process; NULL: none that may be seen. */
static char *attached_dir(pid_t pid)
{
	g_autoptr(GDir) processes = g_dir_open("/proc", 0, NULL);
	const char *name;
	char *dir = NULL;

	while (!dir && processes && (name = g_dir_read_name(processes)))
		if (g_ascii_isdigit(*name))
			dir = dir_of_recorder(name, pid);
	return dir;
}

char *pp_capture_of(pid_t pid, struct pp_error *err)
{
	g_autofree char *maps = g_strdup_printf("/proc/%d/maps", (int)pid);
	FILE *file = fopen(maps, "re");
	char *line = NULL, *dir = NULL;
	size_t size = 0;

	if (!file) {
		pp_error_add(err, -errno, "process %d: %s", (int)pid,
			     errno == ENOENT ? "there is none" : g_strerror(errno));
		return NULL;
	}
	while (!dir && getline(&line, &size, file) > 0) {
		char *path = strchr(line, '/');

		if (path)
			dir = dir_of(g_strchomp(path));
	}
	g_clear_pointer(&line, free);
	fclose(file);
	if (!dir)
		dir = attached_dir(pid);
	if (!dir)
		pp_error_add(err, -ENOENT,
			     "process %d is not recorded; start it with `gprof-mt record`",
			     (int)pid);
	return dir;
}

char *pp_capture_named(const char *target, struct pp_error *err)
{
	guint64 pid;

	if (!g_file_test(target, G_FILE_TEST_EXISTS) &&
	    g_ascii_string_to_unsigned(target, 10, 1, G_MAXINT32, &pid, NULL))
		return pp_capture_of((pid_t)pid, err);
	return g_strdup(target);
}
