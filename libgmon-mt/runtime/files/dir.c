/* SPDX-License-Identifier: MIT */
/* Opens files in directories to which other users may write (dir.h). */
#include <errno.h>
#include <linux/openat2.h>

#include "runtime/files/dir.h"
#include "runtime/files/file.h"
#include "runtime/sys/sys.h"

#define LINKS_MAX  40
#define DEPTH_MAX  128
#define REST_BYTES (2 * GM_PATH_MAX)

static unsigned effective_user(void)
{
	return (unsigned)gm_syscall3(SYS_geteuid, 0, 0, 0);
}

static int open_how(int dir, const char *path, int flags, int mode, uint64_t resolve)
{
	struct open_how how = {
	    .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
	    .mode = (uint64_t)mode,
	    .resolve = resolve,
	};

	return (int)gm_syscall6(SYS_openat2, dir, (long)path, (long)&how, sizeof(how), 0, 0);
}

static int open_at(int dir, const char *path, int flags, int mode)
{
	return (int)gm_syscall6(SYS_openat, dir, (long)path, flags | O_CLOEXEC, mode, 0, 0);
}

/* Linux before 5.6, or a sandbox without the system call. */
static bool is_unsupported(int code)
{
	return code == -ENOSYS || code == -EPERM || code == -E2BIG || code == -EINVAL;
}

/* Removes the first component from *rest; returns its length. */
static size_t next_component(const char **rest, char *component, size_t size_bytes)
{
	size_t n = 0;

	while (**rest == '/')
		++*rest;
	while (**rest != '\0' && **rest != '/') {
		if (n + 1 < size_bytes)
			component[n] = **rest;
		n++;
		++*rest;
	}
	component[n < size_bytes ? n : size_bytes - 1] = '\0';
	return n;
}

/* Prepends the target of the symlink `link` to *rest. Returns 0 or -errno. */
static int expand_link(int link, const struct stat *status, const char **rest, char *buffer)
{
	static GM_LARGE char target[REST_BYTES];
	struct gm_text text = GM_TEXT(target);
	long n;

	if (status->st_uid != 0 && status->st_uid != effective_user())
		return -EPERM;
	n = gm_syscall6(SYS_readlinkat, link, (long)"", (long)target, GM_PATH_MAX, 0, 0);
	if (n < 0)
		return (int)n;
	text.length = (size_t)n;
	gm_text_add(&text, "/");
	gm_text_add(&text, *rest);
	if (text.length >= sizeof(target))
		return -ENAMETOOLONG;
	memcpy(buffer, target, text.length + 1);
	*rest = buffer;
	return 0;
}

/* Opens one component at a time. Closes `dir`. */
static int walk(int dir, char *buffer)
{
	const char *rest = buffer;
	static char component[256];
	struct stat status;
	unsigned links = 0;
	size_t n;

	while (dir >= 0 && (n = next_component(&rest, component, sizeof(component))) > 0) {
		int next = n < sizeof(component) ? open_at(dir, component, O_PATH | O_NOFOLLOW, 0)
						 : -ENAMETOOLONG;
		int code = next;

		if (next >= 0)
			code = (int)gm_syscall3(SYS_fstat, next, (long)&status, 0);
		if (code >= 0 && S_ISLNK(status.st_mode)) {
			code = ++links > LINKS_MAX ? -ELOOP
						   : expand_link(next, &status, &rest, buffer);
			gm_sys_close(next);
			next = dir;
			if (code == 0 && *rest == '/')
				next = open_at(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
		}
		if (next != dir)
			gm_sys_close(dir);
		dir = next;
		if (code < 0) {
			if (dir >= 0)
				gm_sys_close(dir);
			return code;
		}
	}
	return dir;
}

int gm_dir_open(const char *path)
{
	static GM_LARGE char buffer[REST_BYTES];
	struct gm_text text = GM_TEXT(buffer);
	struct stat status;
	int fd = open_how(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);

	if (fd != -ELOOP && !is_unsupported(fd))
		return fd;
	gm_text_add(&text, path);
	if (text.length >= sizeof(buffer))
		return -ENAMETOOLONG;
	fd = walk(open_at(AT_FDCWD, path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY, 0), buffer);
	if (fd >= 0 &&
	    (gm_syscall3(SYS_fstat, fd, (long)&status, 0) != 0 || !S_ISDIR(status.st_mode))) {
		gm_sys_close(fd);
		return -ENOTDIR;
	}
	return fd;
}

/* Opens "a/b/c" without openat2(): each component with O_NOFOLLOW. */
static int open_parts(int dir, const char *path, int flags, int mode)
{
	char component[256];
	int at = dir;

	if (path[0] == '/')
		return -EXDEV;
	for (;;) {
		size_t n = next_component(&path, component, sizeof(component));
		bool last = *path == '\0';
		int next = n >= sizeof(component)	     ? -ENAMETOOLONG
			   : gm_strcmp(component, "..") == 0 ? -EXDEV
			   : last ? open_at(at, component, flags | O_NOFOLLOW, mode)
				  : open_at(at, component, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);

		if (at != dir)
			gm_sys_close(at);
		if (last || next < 0)
			return next;
		at = next;
	}
}

/* Returns true if no other user can rename or replace files of this user or root in it. */
static bool is_safe_parent(const struct stat *status)
{
	return gm_is_trusted(status) || ((status->st_mode & S_ISVTX) && status->st_uid == 0);
}

int gm_open_below(int dir, const char *path, int flags, int mode)
{
	int fd;

	if (!(flags & O_PATH))
		flags |= O_NONBLOCK | O_NOCTTY;
	fd = open_how(dir, path, flags, mode, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	return is_unsupported(fd) ? open_parts(dir, path, flags, mode) : fd;
}

bool gm_dir_is_exposed(int dir)
{
	struct stat status, below = {0};
	bool trusted = true;
	int at = dir;

	/* Up to the root, which is its own parent. */
	for (unsigned i = 0; trusted && i < DEPTH_MAX; i++) {
		int up;

		trusted =
		    gm_syscall3(SYS_fstat, at, (long)&status, 0) == 0 && is_safe_parent(&status);
		if (trusted && i > 0 && status.st_dev == below.st_dev &&
		    status.st_ino == below.st_ino)
			break;
		below = status;
		up = trusted ? open_at(at, "..", O_PATH | O_DIRECTORY, 0) : -ENOENT;
		if (at != dir)
			gm_sys_close(at);
		at = up;
		trusted = up >= 0;
	}
	if (at >= 0 && at != dir)
		gm_sys_close(at);
	return !trusted;
}

/* Closes fd. */
static long read_regular(int fd, char *buffer, size_t size_bytes)
{
	struct stat status;
	long n;

	buffer[0] = '\0';
	if (fd < 0)
		return fd;
	n = gm_syscall3(SYS_fstat, fd, (long)&status, 0);
	if (n == 0)
		n = S_ISREG(status.st_mode) ? gm_sys_read(fd, buffer, size_bytes - 1) : -EINVAL;
	gm_sys_close(fd);
	buffer[n > 0 ? n : 0] = '\0';
	return n;
}

long gm_read_below(int dir, const char *path, char *buffer, size_t size_bytes)
{
	return read_regular(gm_open_below(dir, path, O_RDONLY, 0), buffer, size_bytes);
}

long gm_read_text(const char *path, char *buffer, size_t size_bytes)
{
	return read_regular(gm_sys_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0),
			    buffer, size_bytes);
}

bool gm_is_trusted(const struct stat *status)
{
	if (status->st_uid != 0 && status->st_uid != effective_user())
		return false;
	if ((status->st_mode & S_IWGRP) && status->st_gid != status->st_uid)
		return false;
	return !(status->st_mode & S_IWOTH);
}

bool gm_is_own(const struct stat *status)
{
	return status->st_uid == effective_user() && gm_is_trusted(status);
}

bool gm_is_own_file(int fd)
{
	struct stat status;

	return gm_syscall3(SYS_fstat, fd, (long)&status, 0) == 0 && S_ISREG(status.st_mode) &&
	       status.st_nlink == 1 && gm_is_own(&status);
}
