/* SPDX-License-Identifier: MIT */
/* Renames the old capture at the start, and deletes it after the program has ended. */
#include "record/discard.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <glib.h>

#include "runtime/capture/capture.h"

/* May the capture be renamed and removed?  If not, gm_capture_open() reports why. */
static bool is_finished(const char *dir)
{
	struct gm_config_error unused;

	return gm_capture_check(dir, &unused) == 0;
}

/* Returns a descriptor that locks the directory, or -1: it is locked, or does not exist. */
static int lock(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void unlock(struct pp_discard *discard)
{
	if (discard->lock_fd >= 0)
		close(discard->lock_fd);
	discard->lock_fd = -1;
}

static char *absolute_path(const char *dir)
{
	g_autofree char *current = g_get_current_dir();
	char *path = g_path_is_absolute(dir) ? g_strdup(dir) : g_build_filename(current, dir, NULL);

	for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
	return path;
}

void pp_discard_begin(struct pp_discard *discard, const char *dir)
{
	g_autofree char *path = absolute_path(dir);
	g_autofree char *base = g_path_get_basename(path);

	*discard = (struct pp_discard){.lock_fd = -1};
	if (g_str_equal(base, ".") || g_str_equal(base, "..") || g_str_equal(base, "/"))
		return;
	discard->parent = g_path_get_dirname(path);
	discard->prefix = g_strdup_printf(".%s.discarded.", base);
	discard->old = g_strconcat(path, ".old", NULL);
	discard->aside =
	    g_strdup_printf("%s/%s%d", discard->parent, discard->prefix, (int)getpid());
	if (!is_finished(path) || !is_finished(discard->old))
		return;
	discard->lock_fd = lock(discard->old);
	discard->is_aside = discard->lock_fd >= 0 && rename(discard->old, discard->aside) == 0;
	if (!discard->is_aside)
		unlock(discard);
}

void pp_discard_undo(struct pp_discard *discard)
{
	if (discard->is_aside &&
	    renameat2(AT_FDCWD, discard->aside, AT_FDCWD, discard->old, RENAME_NOREPLACE) == 0) {
		discard->is_aside = false;
		unlock(discard);
	}
}

static bool is_aside(const struct pp_discard *discard, const char *name)
{
	const char *pid = name + strlen(discard->prefix);

	return g_str_has_prefix(name, discard->prefix) && *pid &&
	       strlen(pid) == strspn(pid, "0123456789");
}

static void delete_left_behind(const struct pp_discard *discard)
{
	g_autoptr(GDir) dir = g_dir_open(discard->parent, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(discard->parent, name, NULL);
		int fd = is_aside(discard, name) ? lock(path) : -1;

		/* Unlocked: the `record` process that moved it no longer runs, here or elsewhere.
		 */
		if (fd >= 0) {
			gm_capture_remove_old(path);
			close(fd);
		}
	}
}

void pp_discard_end(struct pp_discard *discard)
{
	if (discard->is_aside)
		gm_capture_remove_old(discard->aside);
	if (discard->parent)
		delete_left_behind(discard);
	unlock(discard);
	g_free(discard->parent);
	g_free(discard->prefix);
	g_free(discard->old);
	g_free(discard->aside);
}
