/* SPDX-License-Identifier: MIT */
/*
 * The capture directory (capture.h).
 *
 * Runs before main() or in `record`, never on a hot path; still without libc, since a process may
 * come here from its first profiled call after fork().  The buffers are static: callers (the
 * process opener, which is one thread, and `record`) do not come here twice at a time.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "gmon-mt/format.h"
#include "runtime/capture.h"
#include "runtime/sys.h"

#define NAME_BYTES     (GM_PATH_MAX + 64)
#define TREE_DEPTH_MAX 8
#define OPEN_ATTEMPTS  16

struct directory_entry { /* linux_dirent64 */
	uint64_t inode;
	int64_t next;
	unsigned short record_bytes;
	unsigned char type;
	char name[];
};

/* Reads at most size_bytes - 1 bytes of a file and terminates them.  Length or -errno. */
static long read_text(const char *path, char *buffer, size_t size_bytes)
{
	int fd = gm_sys_open(path, O_RDONLY | O_NOFOLLOW, 0);
	long n;

	if (fd < 0)
		return fd;
	n = gm_sys_read(fd, buffer, size_bytes - 1);
	gm_sys_close(fd);
	buffer[n > 0 ? n : 0] = '\0';
	return n;
}

uint64_t gm_proc_start(int pid)
{
	char path[32], stat[1024];
	struct gm_text text = GM_TEXT(path);
	const char *field, *p;

	gm_text_add(&text, "/proc/");
	gm_text_add_u64(&text, (uint64_t)pid);
	gm_text_add(&text, "/stat");
	if (read_text(path, stat, sizeof(stat)) <= 0)
		return 0;

	/* Field 2 is the name in parentheses and may hold anything: count from the last one. */
	for (field = NULL, p = stat; *p != '\0'; p++)
		if (*p == ')')
			field = p;
	if (field == NULL)
		return 0;
	for (unsigned n = 2; n < 22; n++) {
		while (*field != '\0' && *field != ' ')
			field++;
		while (*field == ' ')
			field++;
	}
	return gm_parse_u64(field, NULL);
}

long gm_write_quietly(int fd, const void *bytes, size_t n)
{
	const uint64_t set = 1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1);
	const struct timespec at_once = {0, 0};
	uint64_t mask, before = 0, after = 0;
	long written;

	gm_syscall6(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, (long)&mask, 8, 0, 0);
	gm_syscall3(SYS_rt_sigpending, (long)&before, 8, 0);
	written = gm_sys_write(fd, bytes, n);
	gm_syscall3(SYS_rt_sigpending, (long)&after, 8, 0);
	after &= set & ~before;
	if (after != 0)
		gm_syscall6(SYS_rt_sigtimedwait, (long)&after, 0, (long)&at_once, 8, 0, 0);
	gm_syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, 8, 0, 0);
	return written;
}

int gm_file_write(const char *path, const void *bytes, size_t n)
{
	const char *p = bytes;
	int fd = gm_sys_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	long written = 0;

	if (fd < 0)
		return fd;
	while (n > 0 && (written = gm_write_quietly(fd, p, n)) > 0) {
		p += written;
		n -= (size_t)written;
	}
	gm_sys_close(fd);
	if (n == 0)
		return 0;
	gm_sys_unlink(path);
	return written < 0 ? (int)written : -ENOSPC;
}

static void remove_tree_at(int parent, const char *name, unsigned depth)
{
	char buffer[1024];
	long n;
	int fd = (int)gm_syscall6(SYS_openat, parent, (long)name,
				  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0, 0, 0);

	if (fd < 0)
		return;
	while ((n = gm_syscall3(SYS_getdents64, fd, (long)buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < n;) {
			struct directory_entry *entry = (void *)(buffer + at);

			at += entry->record_bytes;
			if (gm_strcmp(entry->name, ".") == 0 || gm_strcmp(entry->name, "..") == 0)
				continue;
			if (gm_syscall3(SYS_unlinkat, fd, (long)entry->name, 0) == -EISDIR &&
			    depth < TREE_DEPTH_MAX)
				remove_tree_at(fd, entry->name, depth + 1);
		}
	}
	gm_sys_close(fd);
	gm_syscall3(SYS_unlinkat, parent, (long)name, AT_REMOVEDIR);
}

void gm_remove_tree(const char *path)
{
	remove_tree_at(AT_FDCWD, path, 0);
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
	/* Room for the longest name below it. */
	return text.length + 256 > size_bytes ? -ENAMETOOLONG : 0;
}

struct session {
	int owner;
	uint64_t owner_start;
};

/* Reads DIR/session.  0, -ENOENT: no capture there, -EINVAL: not one we understand. */
static int session_read(const char *dir, struct gm_capture *capture, struct session *session)
{
	static char path[NAME_BYTES];
	char file[512];
	struct gm_text text = GM_TEXT(path);
	const char *p = file;
	long n;
	bool negative;

	gm_text_add(&text, dir);
	gm_text_add(&text, "/session");
	n = read_text(path, file, sizeof(file));
	if (n < 0)
		return (int)n;
	if (memcmp(p, GM_SESSION_MAGIC " ", sizeof(GM_SESSION_MAGIC)) != 0 ||
	    gm_parse_u64(p + sizeof(GM_SESSION_MAGIC), &p) != GM_CAPTURE_SCHEMA)
		return -EINVAL;
	if (memcmp(p, "\nowner ", 7) != 0)
		return -EINVAL;
	session->owner = (int)gm_parse_u64(p + 7, &p);
	session->owner_start = gm_parse_u64(p + (*p == ' '), &p);
	if (memcmp(p, "\nclock_offset_ns ", 17) != 0)
		return -EINVAL;
	p += 17;
	negative = *p == '-';
	capture->clock_offset_ns = (int64_t)gm_parse_u64(p + negative, &p);
	if (negative)
		capture->clock_offset_ns = -capture->clock_offset_ns;
	if (memcmp(p, "\nclock_uuid ", 12) != 0 || gm_strlen(p) < 12 + 36)
		return -EINVAL;
	memcpy(capture->clock_uuid, p + 12, 36);
	capture->clock_uuid[36] = '\0';
	return 0;
}

static void session_format(struct gm_capture *capture, struct gm_text *text)
{
	int pid = gm_sys_getpid();
	char uuid[64];

	/* The pair closest together of three: the offset's error is half their distance. */
	for (unsigned i = 0, best = ~0u; i < 3; i++) {
		uint64_t before = gm_sys_clock_ns(CLOCK_MONOTONIC);
		uint64_t real = gm_sys_clock_ns(CLOCK_REALTIME);
		uint64_t after = gm_sys_clock_ns(CLOCK_MONOTONIC);

		if (after - before < best) {
			best = (unsigned)(after - before);
			capture->clock_offset_ns = (int64_t)(real - before - (after - before) / 2);
		}
	}
	if (read_text("/proc/sys/kernel/random/boot_id", uuid, sizeof(uuid)) < 36)
		memcpy(uuid, "00000000-0000-0000-0000-000000000000", 37);
	memcpy(capture->clock_uuid, uuid, 36);
	capture->clock_uuid[36] = '\0';

	gm_text_add(text, GM_SESSION_MAGIC " ");
	gm_text_add_u64(text, GM_CAPTURE_SCHEMA);
	gm_text_add(text, "\nowner ");
	gm_text_add_u64(text, (uint64_t)pid);
	gm_text_add(text, " ");
	gm_text_add_u64(text, gm_proc_start(pid));
	gm_text_add(text, "\nclock_offset_ns ");
	gm_text_add_i64(text, capture->clock_offset_ns);
	gm_text_add(text, "\nclock_uuid ");
	gm_text_add(text, capture->clock_uuid);
	gm_text_add(text, "\n");
}

/* Is the process `pid`, as it runs now, in the capture? */
static bool is_member(const char *dir, int pid)
{
	static char path[NAME_BYTES];
	static struct gm_threads_header header;
	struct gm_text text = GM_TEXT(path);
	long n;
	int fd;

	gm_text_add(&text, dir);
	gm_text_add(&text, "/");
	gm_text_add_u64(&text, (uint64_t)pid);
	gm_text_add(&text, "/threads");
	fd = gm_sys_open(path, O_RDONLY | O_NOFOLLOW, 0);
	if (fd < 0)
		return false;
	n = gm_sys_read(fd, &header, offsetof(struct gm_threads_header, bucket));
	gm_sys_close(fd);
	return n == (long)offsetof(struct gm_threads_header, bucket) &&
	       memcmp(header.magic, GM_THREADS_MAGIC, 8) == 0 && header.proc_start != 0 &&
	       header.proc_start == gm_proc_start(pid);
}

static int rename_to_old(const char *dir)
{
	static char old[NAME_BYTES];
	static struct gm_capture ignored;
	struct gm_text text = GM_TEXT(old);
	struct session session;
	int code;

	gm_text_add(&text, dir);
	gm_text_add(&text, ".old");
	code = gm_sys_rename(dir, old);
	if (code != -ENOTEMPTY && code != -EEXIST)
		return code;
	if (session_read(old, &ignored, &session) == -ENOENT)
		return code;
	gm_remove_tree(old);
	return gm_sys_rename(dir, old);
}

static int create(struct gm_capture *capture)
{
	static char temporary[NAME_BYTES], path[NAME_BYTES];
	struct gm_text text = GM_TEXT(temporary), file = GM_TEXT(path);
	char session[256];
	struct gm_text content = GM_TEXT(session);
	int code;

	gm_text_add(&text, capture->dir);
	gm_text_add(&text, ".new.");
	gm_text_add_u64(&text, (uint64_t)gm_sys_gettid());
	code = gm_sys_mkdir(temporary, 0700);
	if (code == -EEXIST) { /* left by a thread long gone, whose id this thread now has */
		gm_remove_tree(temporary);
		code = gm_sys_mkdir(temporary, 0700);
	}
	if (code < 0)
		return code;
	gm_text_add(&file, temporary);
	gm_text_add(&file, "/session");
	session_format(capture, &content);
	code = gm_file_write(path, session, content.length);
	if (code == 0)
		code = gm_sys_rename(temporary, capture->dir);
	if (code < 0)
		gm_remove_tree(temporary);
	capture->created = code == 0;
	return code;
}

static bool may_join(const struct gm_config *config, const char *dir, const struct session *session)
{
	return config->existing == GM_EXISTING_JOIN ||
	       (session->owner_start != 0 &&
		gm_proc_start(session->owner) == session->owner_start) ||
	       is_member(dir, gm_sys_getpid()) || is_member(dir, gm_sys_getppid());
}

static int capture_error(struct gm_config_error *error, const char *dir, const char *what, int code,
			 const char *advice)
{
	struct gm_text text = GM_TEXT(error->text);

	gm_text_add(&text, dir);
	gm_text_add(&text, ": ");
	gm_text_add(&text, what);
	if (code != 0) {
		gm_text_add(&text, ": ");
		gm_text_add_errno(&text, code);
	}
	if (code != -EFBIG) { /* a limit goes with the process, wherever it writes */
		gm_text_add(&text, "; ");
		gm_text_add(&text, advice);
	}
	return code != 0 ? code : -EEXIST;
}

int gm_capture_open(const struct gm_config *config, struct gm_capture *ret_capture,
		    struct gm_config_error *error)
{
	static const char other_dir[] = "choose another directory ([output] dir, or record -o)";
	struct session session;
	int code = absolute_path(config->dir, ret_capture->dir, sizeof(ret_capture->dir));

	if (code < 0)
		return capture_error(error, config->dir, "cannot find where it would be", code,
				     other_dir);
	ret_capture->created = false;

	/* Others may create or rename it between any two steps: look again after each failure. */
	for (unsigned attempt = 0; attempt < OPEN_ATTEMPTS; attempt++) {
		code = session_read(ret_capture->dir, ret_capture, &session);
		if (code == 0 && may_join(config, ret_capture->dir, &session))
			return 0;
		if (code == -ENOENT) {
			code = create(ret_capture);
			if (code == 0)
				return 0;
			if (code == -ENOTDIR)
				return capture_error(error, ret_capture->dir,
						     "exists and is no directory", 0, other_dir);
			if (code != -ENOTEMPTY && code != -EEXIST)
				return capture_error(error, ret_capture->dir,
						     "cannot create the capture directory", code,
						     other_dir);
			if (session_read(ret_capture->dir, ret_capture, &session) == -ENOENT)
				return capture_error(error, ret_capture->dir,
						     "exists and is no gprof-mt capture", 0,
						     other_dir);
			continue;
		}
		if (code == -ENOTDIR || code == -ELOOP)
			return capture_error(error, ret_capture->dir, "is no directory of ours",
					     code, other_dir);
		code = rename_to_old(ret_capture->dir);
		if (code < 0 && code != -ENOENT)
			return capture_error(error, ret_capture->dir,
					     "cannot rename the old capture to .old", code,
					     other_dir);
	}
	return capture_error(error, ret_capture->dir, "other runs keep replacing it", -EBUSY,
			     other_dir);
}
