/* SPDX-License-Identifier: MIT */
/*
 * The capture directory (capture.h).
 *
 * Runs before main() or in `record`, never on a hot path, and without libc, since the first
 * profiled call after fork() may lead here. The buffers are static: the callers (the process
 * opener, which is one thread, and `record`) do not run this code concurrently.
 */
#include <errno.h>
#include <stddef.h>

#include "gmon-mt/format.h"
#include "runtime/capture/capture.h"
#include "runtime/capture/in_use.h"
#include "runtime/capture/session.h"
#include "runtime/files/dir.h"
#include "runtime/files/file.h"
#include "runtime/sys/sys.h"

#define NAME_BYTES	(GM_PATH_MAX + 64)
#define OPEN_ATTEMPTS	16
#define CREATE_ATTEMPTS 100
#define WHY_BYTES	384
#define NEW_FILE	(O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)

/* Closes fd. */
static int write_whole(int fd, const char *bytes, size_t n)
{
	long written = 0;

	while (n > 0 && (written = gm_write_quietly(fd, bytes, n)) > 0) {
		bytes += written;
		n -= (size_t)written;
	}
	gm_sys_close(fd);
	if (n == 0)
		return 0;
	return written < 0 ? (int)written : -ENOSPC;
}

int gm_file_write(const char *path, const void *bytes, size_t n)
{
	int fd = gm_sys_open(path, NEW_FILE, 0600);
	int code = fd < 0 ? fd : write_whole(fd, bytes, n);

	if (fd >= 0 && code < 0)
		gm_sys_unlink(path);
	return code;
}

static int write_session(int dir, const struct gm_session *session)
{
	char file[GM_SESSION_BYTES];
	struct gm_text text = GM_TEXT(file);
	int fd = gm_open_below(dir, GM_SESSION_FILE, NEW_FILE, 0600);

	gm_session_format(session, &text);
	return fd < 0 ? fd : write_whole(fd, file, text.length);
}

/* A sandbox or an unusual kernel may accept the lock without keeping it. */
static bool mark_is_seen(int dir)
{
	if (gm_in_use_mark(dir) == 0 && gm_in_use(dir) == 1)
		return true;
	gm_in_use_end();
	return false;
}

/* It is marked as in use before another process can find it. */
static int write_marked_session(int dir, struct gm_session *session)
{
	int code;

	gm_in_use_end(); /* of an earlier attempt */
	session->pid_namespace = gm_in_use_namespace();
	session->is_locked = gm_in_use_is_possible(dir);
	if (session->is_locked) {
		code = write_session(dir, session);
		if (code < 0 || mark_is_seen(dir))
			return code;
		session->is_locked = false;
		gm_syscall3(SYS_unlinkat, dir, (long)GM_SESSION_FILE, 0);
	}
	return write_session(dir, session);
}

/* Without this file each process counts only its own space. */
static void make_used(int dir)
{
	static const char zeros[GM_USED_BYTES];
	int fd = gm_open_below(dir, GM_USED_FILE, NEW_FILE, 0600);

	if (fd >= 0)
		write_whole(fd, zeros, sizeof(zeros));
}

static int absolute_path(const char *path, char *buffer, size_t size_bytes)
{
	struct gm_text text = {buffer, size_bytes, 0};

	if (path[0] != '/') {
		long n = gm_syscall3(SYS_getcwd, (long)buffer, (long)size_bytes, 0);

		if (n < 0)
			return (int)n;
		if (buffer[0] != '/') /* "(unreachable)..." */
			return -ENOENT;
		text.length = (size_t)n - 1;
		if (text.length > 1)
			gm_text_add(&text, "/");
	}
	gm_text_add(&text, path);
	while (text.length > 1 && text.length < size_bytes && buffer[text.length - 1] == '/')
		buffer[--text.length] = '\0';
	/* Leaves room for the longest name below it. */
	return text.length + 256 > size_bytes ? -ENAMETOOLONG : 0;
}

/* The capture's location: its name in the directory `parent`, a descriptor. */
struct location {
	int parent;
	char *name;
	char path[NAME_BYTES];
};

/* Returns 0, or -errno without a descriptor. */
static int locate(const char *dir, struct location *at)
{
	struct gm_text text = GM_TEXT(at->path);
	size_t slash = 0;

	gm_text_add(&text, dir);
	for (size_t i = 0; i < text.length; i++)
		if (at->path[i] == '/')
			slash = i;
	at->path[slash] = '\0';
	at->name = at->path + slash + 1;
	at->parent = gm_dir_open(slash > 0 ? at->path : "/");
	return at->parent < 0 ? at->parent : 0;
}

static int open_dir(int parent, const char *name)
{
	return (int)gm_syscall6(SYS_openat, parent, (long)name,
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0, 0, 0);
}

/*
 * Notes the identity of the capture directory. Returns false if that is unknown or another user may
 * write to it.
 */
static bool identify(int dir, struct gm_capture *capture)
{
	struct stat status;

	if (gm_syscall3(SYS_fstat, dir, (long)&status, 0) != 0 || !gm_is_own(&status))
		return false;
	capture->device = status.st_dev;
	capture->inode = status.st_ino;
	return true;
}

static bool is_same(int dir, const struct gm_capture *capture)
{
	struct gm_capture found;

	return identify(dir, &found) && found.device == capture->device &&
	       found.inode == capture->inode;
}

static int renameat_new(int parent, const char *from, const char *to)
{
	long code = gm_syscall6(SYS_renameat2, parent, (long)from, parent, (long)to,
				1 /* RENAME_NOREPLACE */, 0);

	return (int)code;
}

/* Removes parent/name if it is a finished capture. Returns 0, or -errno with the reason in *why. */
static int remove_old(int parent, const char *name, struct gm_text *why)
{
	int dir = open_dir(parent, name), code;

	if (dir < 0) {
		gm_text_add(why, "it is not a directory of this user");
		return dir;
	}
	code = gm_capture_prove(dir, why);
	if (code == 0)
		gm_capture_remove_at(parent, name, dir);
	gm_sys_close(dir);
	return code == -ENOENT ? -EEXIST : code;
}

/*
 * Renames the finished capture `dir`, located by `at`, to NAME.old, over an older one. Returns 0,
 * -ENOENT if another process was faster, or -errno with the reason in *why.
 */
static int rename_to_old(const struct location *at, int dir, struct gm_text *why)
{
	static GM_LARGE char old[NAME_BYTES];
	struct gm_capture proven, moved;
	struct gm_text text = GM_TEXT(old);
	int code, fd;

	gm_text_add(&text, at->name);
	gm_text_add(&text, ".old");
	code =
	    (int)gm_syscall6(SYS_renameat, at->parent, (long)at->name, at->parent, (long)old, 0, 0);
	if (code == -ENOTEMPTY || code == -EEXIST || code == -ENOTDIR) {
		gm_text_add(why, "cannot rename it to ");
		gm_text_add(why, old);
		gm_text_add(why, ": there, ");
		code = remove_old(at->parent, old, why);
		if (code < 0)
			return code;
		code = (int)gm_syscall6(SYS_renameat, at->parent, (long)at->name, at->parent,
					(long)old, 0, 0);
	}
	if (code < 0) {
		why->length = 0;
		gm_text_add(why, "cannot rename it to .old: ");
		gm_text_add_errno(why, code);
		return code;
	}
	/* Another process may have replaced it in between; that one is not finished. */
	fd = open_dir(at->parent, old);
	if (fd < 0 || !identify(dir, &proven))
		return 0;
	if (identify(fd, &moved) && !is_same(fd, &proven))
		renameat_new(at->parent, old, at->name);
	gm_sys_close(fd);
	return 0;
}

/*
 * Makes an empty directory beside the capture, owned by this user. Returns its descriptor or
 * -errno.
 */
static int create_beside(const struct location *at, char *name, size_t size_bytes)
{
	int code = -EEXIST;

	/* An existing one was left by a thread with the same id, or belongs to another user. */
	for (unsigned i = 0; code == -EEXIST && i < CREATE_ATTEMPTS; i++) {
		struct gm_text text = {name, size_bytes, 0};

		gm_text_add(&text, at->name);
		gm_text_add(&text, ".new.");
		gm_text_add_u64(&text, (uint64_t)gm_sys_gettid());
		if (i > 0) {
			gm_text_add(&text, ".");
			gm_text_add_u64(&text, i);
		}
		code = (int)gm_syscall3(SYS_mkdirat, at->parent, (long)name, 0700);
	}
	return code < 0 ? code : open_dir(at->parent, name);
}

static void take_session(struct gm_capture *capture, const struct gm_session *session)
{
	capture->clock_offset_ns = session->clock_offset_ns;
	memcpy(capture->clock_uuid, session->boot_id, sizeof(capture->clock_uuid));
	capture->owner = session->owner;
	memcpy(capture->secret, session->secret, sizeof(capture->secret));
}

static int create(const struct location *at, struct gm_capture *capture)
{
	static GM_LARGE char temporary[NAME_BYTES];
	struct gm_session session;
	int code, dir = create_beside(at, temporary, sizeof(temporary));

	if (dir < 0)
		return dir;
	gm_session_begin(&session);
	code = identify(dir, capture) ? write_marked_session(dir, &session) : -EPERM;
	if (code == 0)
		make_used(dir);
	if (code == 0)
		code = (int)gm_syscall6(SYS_renameat, at->parent, (long)temporary, at->parent,
					(long)at->name, 0, 0);
	if (code < 0 && code != -EPERM)
		gm_capture_remove_at(at->parent, temporary, dir);
	if (code < 0)
		gm_in_use_end(); /* of the temporary session */
	gm_sys_close(dir);
	capture->created = code == 0;
	take_session(capture, &session);
	return code;
}

static bool may_join(const struct gm_config *config, int dir, const struct gm_session *session)
{
	if (config->existing == GM_EXISTING_NEW)
		return false;
	return config->existing == GM_EXISTING_JOIN || gm_session_owner_runs(session) ||
	       gm_session_has_member(dir, session, gm_sys_getpid()) ||
	       gm_session_has_member(dir, session, gm_sys_getppid()) ||
	       (gm_session_is_of_this_boot(session) && (gm_children_have(dir, gm_sys_getpid()) ||
							gm_children_have(dir, gm_sys_getppid())));
}

/*
 * Returns 1: joined; 0: renamed, or it no longer exists; -errno: neither, with the reason in *why.
 */
static int join_or_rename(const struct gm_config *config, const struct location *at, int dir,
			  struct gm_capture *capture, struct gm_text *why)
{
	struct gm_session session;
	int code = gm_session_read(dir, &session);

	if (code == 0 && identify(dir, capture) && may_join(config, dir, &session)) {
		take_session(capture, &session);
		if (session.is_locked)
			gm_in_use_mark(dir); /* if it fails, gm_in_use_namespace() tells */
		return 1;
	}
	if (code != -EMFILE)
		code = gm_capture_prove(dir, why);
	if (code < 0)
		return code;
	code = rename_to_old(at, dir, why);
	return code == -ENOENT ? 0 : code;
}

static int capture_error(struct gm_config_error *error, const char *dir, const char *what, int code)
{
	struct gm_text text = GM_TEXT(error->text);

	gm_text_add(&text, dir);
	gm_text_add(&text, ": ");
	gm_text_add(&text, what);
	if (code != 0) {
		gm_text_add(&text, ": ");
		gm_text_add_errno(&text, code);
	}
	/* A limit applies to the process, whatever the directory. */
	if (code != -EFBIG)
		gm_text_add(&text, "; choose another directory ([output] dir, or record -o)");
	return code != 0 ? code : -EEXIST;
}

static int doubt_error(struct gm_config_error *error, const char *dir, int code, const char *why)
{
	static char what[WHY_BYTES + 64];
	struct gm_text text = GM_TEXT(what);

	if (code == -ENOENT)
		return capture_error(error, dir, "exists and is not a gprof-mt capture", 0);
	gm_text_add(&text, code == -EBUSY ? "is still being written to: "
					  : "exists and is not a finished gprof-mt capture: ");
	gm_text_add(&text, why);
	capture_error(error, dir, what, 0);
	return code;
}

static int create_error(struct gm_config_error *error, const char *dir, int code)
{
	if (code == -ENOTDIR)
		return capture_error(error, dir, "exists and is not a directory", 0);
	return capture_error(error, dir, "cannot create the capture directory", code);
}

/* An empty directory is replaced. */
static bool is_empty(int dir)
{
	char entries[512];

	/* "." and "..", 24 bytes each */
	return gm_syscall3(SYS_getdents64, dir, (long)entries, sizeof(entries)) <= 48;
}

static int open_at(const struct gm_config *config, const struct location *at,
		   struct gm_capture *capture, struct gm_config_error *error)
{
	static char why[WHY_BYTES];
	int code;

	/*
	 * Another process may create or rename it between any two steps: check again after each
	 * failure.
	 */
	for (unsigned attempt = 0; attempt < OPEN_ATTEMPTS; attempt++) {
		struct gm_text text = GM_TEXT(why);
		int dir = open_dir(at->parent, at->name);

		if (dir == -ENOENT || (dir >= 0 && is_empty(dir))) {
			if (dir >= 0)
				gm_sys_close(dir);
			code = create(at, capture);
			if (code == 0)
				return 0;
			if (code != -ENOTEMPTY && code != -EEXIST)
				return create_error(error, capture->dir, code);
			continue;
		}
		if (dir == -EACCES || dir == -EPERM)
			return capture_error(error, capture->dir, "belongs to another user", dir);
		if (dir < 0)
			return capture_error(error, capture->dir, "is not a directory of this user",
					     dir);
		code = join_or_rename(config, at, dir, capture, &text);
		gm_sys_close(dir);
		if (code > 0)
			return 0;
		if (code == -EMFILE)
			return capture_error(error, capture->dir, "cannot be examined", code);
		if (code < 0)
			return doubt_error(error, capture->dir, code, why);
	}
	return capture_error(error, capture->dir, "other runs keep replacing it", -EBUSY);
}

int gm_capture_open(const struct gm_config *config, struct gm_capture *ret_capture,
		    struct gm_config_error *error)
{
	static GM_LARGE struct location at;
	int code = absolute_path(config->dir, ret_capture->dir, sizeof(ret_capture->dir));

	if (code < 0)
		return capture_error(error, config->dir, "cannot resolve its path", code);
	ret_capture->created = false;
	code = locate(ret_capture->dir, &at);
	if (code == -EPERM)
		return capture_error(error, ret_capture->dir,
				     "its path contains a symlink of another user", 0);
	if (code < 0)
		return capture_error(error, ret_capture->dir, "cannot create the capture directory",
				     code);
	code = open_at(config, &at, ret_capture, error);
	if (code == 0)
		ret_capture->is_exposed = gm_dir_is_exposed(at.parent);
	gm_sys_close(at.parent);
	return code;
}

bool gm_capture_set_away(const char *config_path, struct gm_capture *ret_capture)
{
	size_t n = (size_t)(gm_base_name(config_path) - config_path);

	if (config_path[0] != '/' || gm_strcmp(config_path + n, GM_CONFIG_CAPTURE) != 0 ||
	    n > sizeof(ret_capture->dir))
		return false;
	memcpy(ret_capture->dir, config_path, n - 1);
	ret_capture->dir[n - 1] = '\0';
	ret_capture->is_away = true;
	return true;
}

int gm_capture_join_away(const struct gm_config *config, struct gm_capture *ret_capture,
			 struct gm_config_error *error)
{
	static GM_LARGE char path[GM_PATH_MAX + sizeof(GM_SESSION_FILE)];
	char file[GM_SESSION_BYTES];
	struct gm_session session;
	struct gm_text text = GM_TEXT(path);
	long code = absolute_path(config->dir, ret_capture->dir, sizeof(ret_capture->dir));
	int fd;

	gm_text_add(&text, ret_capture->dir);
	gm_text_add(&text, "/" GM_SESSION_FILE);
	if (code == 0)
		code = gm_read_text(path, file, sizeof(file));
	if (code >= 0)
		code = gm_session_parse(file, &session);
	fd = code >= 0 && session.is_locked ? gm_sys_open(path, O_RDONLY | O_NOFOLLOW, 0) : -1;
	if (fd >= 0) {
		gm_in_use_mark_session(fd);
		gm_sys_close(fd);
	}
	if (code < 0)
		return capture_error(error, config->dir, "cannot be reached", (int)code);
	take_session(ret_capture, &session);
	ret_capture->created = ret_capture->is_exposed = false;
	return 0;
}

/* For the functions below, which only `record` calls, one at a time. */
static GM_LARGE struct location located;

int gm_capture_dir_open(const struct gm_capture *capture)
{
	struct location *at = &located;
	int dir, code = locate(capture->dir, at);

	if (code < 0)
		return code;
	dir = open_dir(at->parent, at->name);
	gm_sys_close(at->parent);
	if (dir >= 0 && !is_same(dir, capture)) {
		gm_sys_close(dir);
		return -ESTALE;
	}
	return dir;
}

void gm_capture_remove(const struct gm_capture *capture)
{
	struct location *at = &located;
	int dir;

	if (locate(capture->dir, at) < 0)
		return;
	dir = open_dir(at->parent, at->name);
	if (dir >= 0 && is_same(dir, capture))
		gm_capture_remove_at(at->parent, at->name, dir);
	if (dir >= 0)
		gm_sys_close(dir);
	gm_sys_close(at->parent);
}

int gm_capture_check(const char *dir, struct gm_config_error *error)
{
	struct location *at = &located;
	char why[WHY_BYTES];
	struct gm_text text = GM_TEXT(why);
	int fd, code = locate(dir, at);

	if (code < 0)
		return capture_error(error, dir, "cannot be reached", code);
	fd = code = open_dir(at->parent, at->name);
	gm_sys_close(at->parent);
	if (fd >= 0) {
		code = gm_capture_prove(fd, &text);
		gm_sys_close(fd);
	}
	return code < 0 ? doubt_error(error, dir, code, why) : 0;
}

void gm_capture_remove_old(const char *dir)
{
	struct location *at = &located;
	char why[WHY_BYTES];
	struct gm_text text = GM_TEXT(why);

	if (locate(dir, at) < 0)
		return;
	remove_old(at->parent, at->name, &text);
	gm_sys_close(at->parent);
}
