/* SPDX-License-Identifier: MIT */
/*
 * Checks each request by process, folder and name before a file is opened, and passes the
 * descriptor.
 */
#include "record/serve_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gmon-mt/format.h"
#include "runtime/files/dir.h"
#include "runtime/stream/output.h"
#include "runtime/capture/session.h"

#define MADE_MAX    1000000u
#define LOOK_NS	    UINT64_C(1000000000)
#define SLACK_BYTES (UINT64_C(64) << 20) /* not covered by [output] max */
#define DEPTH_MAX   3
#define NEW_PREFIX  ".new."
#define MAY_HAVE                                                                                   \
	(O_ACCMODE | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

struct owner {
	int pid;
	uint64_t start;
};

void pp_grants_init(struct pp_grants *grants, int dir_fd, uint64_t max_bytes)
{
	*grants = (struct pp_grants){
	    .dir_fd = dir_fd,
	    .max_bytes = max_bytes,
	    .folders = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
	};
}

void pp_grants_done(struct pp_grants *grants)
{
	g_clear_pointer(&grants->folders, g_hash_table_unref);
}

/* --- ownership ----- */

/* Is `number` the process's pid, here or in its own PID namespace? */
static bool has_number(int pid, long number)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/status", pid);
	g_autofree char *text = NULL;
	const char *at;
	char *end;

	if (number == pid)
		return true;
	if (!g_file_get_contents(path, &text, NULL, NULL) || !(at = strstr(text, "\nNSpid:")))
		return false;
	for (at += strlen("\nNSpid:"); *at == '\t'; at = end)
		if (strtol(at + 1, &end, 10) == number)
			return true;
	return false;
}

/* Matches "1234" and "1234.1". */
static bool is_numbered(const char *folder, int pid)
{
	char *end;
	long number;

	if (folder[0] < '1' || folder[0] > '9')
		return false;
	number = strtol(folder, &end, 10);
	return (*end == '\0' || *end == '.') && has_number(pid, number);
}

static void take_folder(struct pp_grants *grants, const char *folder, int pid)
{
	struct owner *owner = g_new(struct owner, 1);

	*owner = (struct owner){pid, gm_proc_start(pid)};
	g_hash_table_replace(grants->folders, g_strdup(folder), owner);
}

static bool is_own(const struct pp_grants *grants, const char *folder, int pid)
{
	const struct owner *owner = g_hash_table_lookup(grants->folders, folder);

	if (owner)
		return owner->pid == pid && owner->start == gm_proc_start(pid);
	return is_numbered(folder, pid) &&
	       gm_folder_is_of(grants->dir_fd, folder, gm_proc_start(pid));
}

/* Returns the first component; *ret_rest is the rest, NULL: none. */
static char *folder_of(const char *name, const char **ret_rest)
{
	const char *slash = strchr(name, '/');

	*ret_rest = slash ? slash + 1 : NULL;
	return slash ? g_strndup(name, (gsize)(slash - name)) : g_strdup(name);
}

/* Is it a name in one of the process's own folders? */
static bool is_in_own(const struct pp_grants *grants, const char *name, int pid)
{
	const char *rest;
	g_autofree char *folder = folder_of(name, &rest);

	return rest && is_own(grants, folder, pid);
}

static bool may_open(const struct pp_grants *grants, const struct gm_recorder_request *request,
		     int pid)
{
	const char *rest;
	g_autofree char *folder = folder_of(request->name, &rest);

	if (request->flags & ~MAY_HAVE)
		return false;
	if (!rest)
		return strcmp(folder, GM_USED_FILE) == 0 && !(request->flags & O_CREAT);
	/* A child of fork copies its parent's load map. */
	if (strcmp(rest, "maps") == 0 && (request->flags & (O_ACCMODE | O_CREAT)) == O_RDONLY)
		return true;
	return is_own(grants, folder, pid);
}

static bool may_rename(const struct pp_grants *grants, const struct gm_recorder_request *request,
		       int pid)
{
	const char *from_rest, *to_rest;
	g_autofree char *from = folder_of(request->name, &from_rest);
	g_autofree char *to = folder_of(request->to, &to_rest);

	if (!is_own(grants, from, pid))
		return false;
	if (from_rest)
		return to_rest && strcmp(from, to) == 0;
	return g_str_has_prefix(from, NEW_PREFIX) && !to_rest && is_numbered(to, pid);
}

static bool may(const struct pp_grants *grants, const struct gm_recorder_request *request, int pid)
{
	const char *name = request->name, *slash = strrchr(name, '/');

	switch (request->kind) {
	case GM_RECORDER_OPEN:
		return may_open(grants, request, pid);
	case GM_RECORDER_MKDIR:
		return slash ? is_in_own(grants, name, pid) : g_str_has_prefix(name, NEW_PREFIX);
	case GM_RECORDER_RENAME:
		return may_rename(grants, request, pid);
	case GM_RECORDER_UNLINK:
		return is_in_own(grants, name, pid);
	case GM_RECORDER_REMOVE: /* only a folder that still has its temporary name */
		return slash ? slash[1] == '.' && is_in_own(grants, name, pid)
			     : g_str_has_prefix(name, NEW_PREFIX) && is_own(grants, name, pid);
	default:
		return false;
	}
}

/* --- size ------------- */

/* Takes ownership of the descriptor. */
static uint64_t bytes_below(int dir, unsigned depth)
{
	DIR *list = dir >= 0 ? fdopendir(dir) : NULL;
	const struct dirent *entry;
	uint64_t bytes = 0;
	struct stat status;

	if (!list) {
		if (dir >= 0)
			close(dir);
		return 0;
	}
	while ((entry = readdir(list))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    fstatat(dir, entry->d_name, &status, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISREG(status.st_mode))
			bytes += (uint64_t)status.st_blocks * 512;
		else if (S_ISDIR(status.st_mode) && depth < DEPTH_MAX &&
			 (depth > 0 || g_ascii_isdigit(entry->d_name[0])))
			bytes += bytes_below(
			    gm_open_below(dir, entry->d_name, O_RDONLY | O_DIRECTORY, 0),
			    depth + 1);
	}
	closedir(list);
	return bytes;
}

/*
 * The runtime counts its own output and stops at the limit.  A process that instead extends the
 * files that it was given gets no more files.
 */
static bool has_room(struct pp_grants *grants)
{
	uint64_t now_ns = gm_sys_clock_ns(CLOCK_MONOTONIC);
	uint64_t max_bytes = grants->max_bytes + grants->max_bytes / 4 + SLACK_BYTES;

	if (grants->looked_ns == 0 || now_ns - grants->looked_ns > LOOK_NS) {
		int dir = gm_open_below(grants->dir_fd, ".", O_RDONLY | O_DIRECTORY, 0);

		grants->used_bytes = bytes_below(dir, 0);
		grants->looked_ns = now_ns;
	}
	return grants->n_made++ < MADE_MAX &&
	       (max_bytes < grants->max_bytes || grants->used_bytes <= max_bytes);
}

/* --- operations --- */

static int do_open(int dir, const struct gm_recorder_request *request)
{
	int fd = gm_open_below(dir, request->name, request->flags | O_NOFOLLOW, 0600);

	if (fd >= 0 && !gm_is_own_file(fd)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

/*
 * Returns a descriptor of the directory that holds the file, or -errno; *ret_name is the file's
 * name in it.
 */
static int open_parent(int dir, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	g_autofree char *parent = slash ? g_strndup(path, (gsize)(slash - path)) : g_strdup(".");

	*ret_name = slash ? slash + 1 : path;
	return gm_open_below(dir, parent, O_PATH | O_DIRECTORY, 0);
}

static int do_rename(int dir, const struct gm_recorder_request *request)
{
	const char *from, *to;
	int old = open_parent(dir, request->name, &from), new = open_parent(dir, request->to, &to);
	int code = old < 0 ? old : new;

	if (old >= 0 && new >= 0)
		code = renameat(old, from, new, to) ? -errno : 0;
	if (old >= 0)
		close(old);
	if (new >= 0)
		close(new);
	return code;
}

static int do_in_parent(int dir, const struct gm_recorder_request *request)
{
	const char *name;
	int parent = open_parent(dir, request->name, &name), code = 0;

	if (parent < 0)
		return parent;
	if (request->kind == GM_RECORDER_MKDIR)
		code = mkdirat(parent, name, 0700) ? -errno : 0;
	else if (request->kind == GM_RECORDER_UNLINK)
		code = unlinkat(parent, name, 0) ? -errno : 0;
	else
		gm_remove_tree_at(parent, name);
	close(parent);
	return code;
}

/* In another root, a process may be unable to find its start time. */
static void note_start(int dir, const char *folder, int pid)
{
	const off_t at = offsetof(struct gm_threads_header, proc_start);
	g_autofree char *path = g_strconcat(folder, "/threads", NULL);
	int fd = gm_open_below(dir, path, O_RDWR, 0);
	uint64_t start = 0;

	if (fd < 0)
		return;
	if (pread(fd, &start, sizeof(start), at) == sizeof(start) && start == 0) {
		start = gm_proc_start(pid);
		if (pwrite(fd, &start, sizeof(start), at) != sizeof(start))
			start = 0;
	}
	close(fd);
}

static int perform(struct pp_grants *grants, const struct gm_recorder_request *request, int pid)
{
	bool makes = request->kind == GM_RECORDER_MKDIR ||
		     (request->kind == GM_RECORDER_OPEN && request->flags & O_CREAT);
	int code;

	if (makes && !has_room(grants))
		return -EDQUOT;
	if (request->kind == GM_RECORDER_OPEN)
		return do_open(grants->dir_fd, request);
	if (request->kind != GM_RECORDER_RENAME) {
		code = do_in_parent(grants->dir_fd, request);
		if (code == 0 && makes && !strchr(request->name, '/'))
			take_folder(grants, request->name, pid);
		return code;
	}
	code = do_rename(grants->dir_fd, request);
	if (code == 0 && !strchr(request->name, '/')) {
		g_hash_table_remove(grants->folders, request->name);
		take_folder(grants, request->to, pid);
		note_start(grants->dir_fd, request->to, pid);
	}
	return code;
}

/* Is it NUL-terminated, and a name that gprof-mt uses? */
static bool is_name(const char *name)
{
	return memchr(name, '\0', GM_RECORDER_NAME_BYTES) && gm_capture_is_name(name);
}

/*
 * A process looks for its folder by the pid that it sees; in the capture that name is missing, or
 * another process's.
 */
static bool looks_for_own(const struct pp_grants *grants, const struct gm_recorder_request *request,
			  int pid)
{
	const char *rest;
	g_autofree char *folder = folder_of(request->name, &rest);

	return request->kind == GM_RECORDER_OPEN && !(request->flags & O_CREAT) && rest &&
	       is_numbered(folder, pid) && !is_own(grants, folder, pid);
}

int pp_grant(struct pp_grants *grants, const struct gm_recorder_request *request, int pid)
{
	if (!is_name(request->name) ||
	    (request->kind == GM_RECORDER_RENAME && !is_name(request->to)))
		return -EBADRQC;
	if (!may(grants, request, pid))
		return looks_for_own(grants, request, pid) ? -ENOENT : -EBADRQC;
	return perform(grants, request, pid);
}
