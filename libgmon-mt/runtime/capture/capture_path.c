/* SPDX-License-Identifier: MIT */
/*
 * Access to files by path, although the path of the capture may lead to another directory later: in
 * another root or mount namespace, or because another user renames the directories on the way.
 *
 * Each access opens the capture, compares device and inode with those of the directory that was
 * made or joined, and continues from that descriptor. (The inode keeps its number: files of the
 * capture are mapped, which keeps the directories above them in memory.) Only this user can write
 * to a capture's own directory, so its contents are safe. Its name is not, if others may write to a
 * directory above it; then the owner is compared, too, and symlinks in the capture are not
 * followed.
 *
 * For a process that has given up the rights to open files, `record` does it (recorder.h).
 *
 * May be called by any thread, in a step of helper_task.h; the only state is that of
 * gm_place_set().
 */
#include <errno.h>

#include "runtime/files/dir.h"
#include "runtime/capture/capture_path.h"
#include "runtime/capture/recorder.h"
#include "runtime/sys/sys.h"

static const struct gm_capture *capture_here;
static gm_ask *ask_record; /* NULL: no `record` to ask */
static size_t prefix_bytes;

void gm_place_set(const struct gm_capture *capture, gm_ask *ask)
{
	ask_record = ask;
	prefix_bytes = gm_strlen(capture->dir);
	capture_here = capture;
}

/*
 * A path and the directory that it is relative to: a descriptor to be closed, AT_FDCWD, or -errno.
 */
struct place {
	int dir;
	const char *path;
};

static bool is_below_capture(const char *path)
{
	return capture_here != NULL && gm_strlen(path) > prefix_bytes &&
	       memcmp(path, capture_here->dir, prefix_bytes) == 0 && path[prefix_bytes] == '/';
}

static bool is_capture(const struct stat *status)
{
	return status->st_dev == capture_here->device && status->st_ino == capture_here->inode &&
	       (!capture_here->is_exposed || gm_is_own(status));
}

static struct place place_of(const char *path)
{
	struct place place = {AT_FDCWD, path};
	struct stat status;

	if (!is_below_capture(path))
		return place;
	place.dir = -ESTALE;
	if (capture_here->is_away)
		return place;
	place.path = path + prefix_bytes + 1;
	place.dir = (int)gm_syscall6(SYS_openat, AT_FDCWD, (long)capture_here->dir,
				     O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0, 0, 0);
	if (place.dir >= 0 &&
	    (gm_syscall3(SYS_fstat, place.dir, (long)&status, 0) != 0 || !is_capture(&status))) {
		gm_sys_close(place.dir);
		place.dir = -ESTALE;
	}
	return place;
}

static bool is_reached(struct place place)
{
	return place.dir >= 0 || place.dir == AT_FDCWD;
}

static void leave(struct place place)
{
	if (place.dir >= 0)
		gm_sys_close(place.dir);
}

/*
 * Returns true if this process cannot reach the capture. A missing file alone does not mean that.
 */
static bool is_away(int code)
{
	struct stat status;

	if (code != -ENOENT && code != -ENOTDIR)
		return code == -EACCES || code == -EPERM || code == -EROFS || code == -ESTALE;
	/* stat(), since a filter may answer system calls outside the list in seal.c by a signal */
	return gm_syscall3(SYS_stat, (long)capture_here->dir, (long)&status, 0) != 0 ||
	       status.st_dev != capture_here->device || status.st_ino != capture_here->inode;
}

/*
 * Returns `code`, the result here. If the file is out of reach, asks `record` and returns its
 * result.
 */
static int or_ask(int code, enum gm_recorder_kind kind, const char *path, const char *to, int flags)
{
	int answer;

	if (code >= 0 || ask_record == NULL || !is_below_capture(path) ||
	    (to != NULL && !is_below_capture(to)) || !is_away(code))
		return code;
	answer = ask_record(kind, path + prefix_bytes + 1,
			    to != NULL ? to + prefix_bytes + 1 : NULL, flags);
	return answer == -ENOTCONN ? code : answer;
}

int gm_sys_open(const char *path, int flags, int mode)
{
	struct place place = place_of(path);
	int fd = place.dir;

	if (place.dir >= 0 && capture_here->is_exposed)
		fd = gm_open_below(place.dir, place.path, flags, mode);
	else if (is_reached(place))
		fd = (int)gm_syscall6(SYS_openat, place.dir, (long)place.path, flags | O_CLOEXEC,
				      mode, 0, 0);
	leave(place);
	/* A directory would be useless: the files in it are out of reach, too. */
	return flags & O_DIRECTORY ? fd : or_ask(fd, GM_RECORDER_OPEN, path, NULL, flags);
}

static int remove_at(const char *path, int flags)
{
	struct place place = place_of(path);
	int code = place.dir;

	if (is_reached(place))
		code = (int)gm_syscall3(SYS_unlinkat, place.dir, (long)place.path, flags);
	leave(place);
	return code;
}

int gm_sys_unlink(const char *path)
{
	return or_ask(remove_at(path, 0), GM_RECORDER_UNLINK, path, NULL, 0);
}

int gm_sys_rmdir(const char *path)
{
	return remove_at(path, AT_REMOVEDIR);
}

void gm_sys_remove_away(const char *path, int code)
{
	or_ask(code, GM_RECORDER_REMOVE, path, NULL, 0);
}

int gm_sys_mkdir(const char *path, int mode)
{
	struct place place = place_of(path);
	int code = place.dir;

	if (is_reached(place))
		code = (int)gm_syscall3(SYS_mkdirat, place.dir, (long)place.path, mode);
	leave(place);
	return or_ask(code, GM_RECORDER_MKDIR, path, NULL, 0);
}

int gm_sys_symlink(const char *target, const char *path)
{
	struct place place = place_of(path);
	int code = place.dir;

	if (is_reached(place))
		code = (int)gm_syscall3(SYS_symlinkat, (long)target, place.dir, (long)place.path);
	leave(place);
	return code;
}

int gm_sys_rename(const char *from, const char *to)
{
	struct place old = place_of(from), new = place_of(to);
	int code = is_reached(old) ? new.dir : old.dir;

	if (is_reached(old) && is_reached(new))
		code = (int)gm_syscall6(SYS_renameat, old.dir, (long)old.path, new.dir,
					(long)new.path, 0, 0);
	leave(old);
	leave(new);
	return or_ask(code, GM_RECORDER_RENAME, from, to, 0);
}
