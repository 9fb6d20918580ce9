/* SPDX-License-Identifier: MIT */
/* Links and copies files below two open directories. */
#include "cli/recording/snapshot_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/stream_name.h"
#include "core/text/write.h"
#include "gmon-mt/format.h"

#define BLOCK_BYTES (1u << 20)
#define STREAMS	    "user"
#define KERNEL	    "kernel"
#define MAX_DEPTH   4
#define COPY	    ".copy"

struct entry {
	char *name;
	struct pp_stream_name stream;
	bool is_stream;
};

static void entry_clear(void *data)
{
	g_free(((struct entry *)data)->name);
}

/* Other files first; of each stream, the newest file first. */
static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->is_stream != y->is_stream)
		return x->is_stream ? 1 : -1;
	if (x->stream.stream != y->stream.stream)
		return x->stream.stream < y->stream.stream ? -1 : 1;
	return x->stream.number > y->stream.number ? -1 : x->stream.number < y->stream.number;
}

/* `prefix`: of names of streams.  The caller unrefs the array. */
static GArray *list(int dir_fd, const char *prefix)
{
	GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *item;

	g_array_set_clear_func(entries, entry_clear);
	while (dir && (item = readdir(dir))) {
		struct entry entry = {.name = NULL};

		if (item->d_name[0] == '.')
			continue;
		entry.name = g_strdup(item->d_name);
		entry.is_stream = pp_stream_name_parse(item->d_name, prefix, &entry.stream);
		g_array_append_val(entries, entry);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	g_array_sort(entries, compare_entries);
	return entries;
}

static int fail(struct pp_error *err, int code, const char *name)
{
	return pp_error_add(err, code, "%s: %s", name, g_strerror(-code));
}

static int copy_bytes(int from, int to)
{
	g_autofree char *block = g_malloc(BLOCK_BYTES);
	ssize_t n;
	int rc = 0;

	while (rc == 0 && (n = read(from, block, BLOCK_BYTES)) != 0) {
		if (n < 0)
			rc = errno == EINTR ? 0 : -errno;
		else
			rc = pp_write_all(to, block, (size_t)n);
	}
	return rc;
}

/* A file that has disappeared meanwhile, or is not a regular one, is left out. */
static int copy_file(int from_fd, int to_fd, const char *name, const char *to_name,
		     struct pp_error *err)
{
	int from = openat(from_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), to, rc;
	struct stat st;

	if (from < 0)
		return errno == ENOENT || errno == ELOOP ? 0 : fail(err, -errno, name);
	if (fstat(from, &st) || !S_ISREG(st.st_mode)) {
		close(from);
		return 0;
	}
	to = openat(to_fd, to_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	rc = to < 0 ? -errno : copy_bytes(from, to);
	if (to >= 0 && close(to) && rc == 0)
		rc = -errno;
	close(from);
	return rc ? fail(err, rc, name) : 0;
}

/* On another file system, and where links are not permitted, the file is copied. */
static int link_file(int from_fd, int to_fd, const char *name, struct pp_error *err)
{
	if (linkat(from_fd, name, to_fd, name, 0) == 0 || errno == ENOENT || errno == EEXIST ||
	    faccessat(to_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return copy_file(from_fd, to_fd, name, name, err);
}

/* Is it the newest file of a stream, to which its writer may still write? */
static bool is_newest(const GArray *entries, guint i)
{
	const struct entry *entry = &g_array_index(entries, struct entry, i);

	return entry->is_stream &&
	       !(i && entry[-1].is_stream && entry[-1].stream.stream == entry->stream.stream);
}

static int link_trace(int from_fd, int to_fd, const char *prefix, struct pp_error *err)
{
	g_autoptr(GArray) entries = list(from_fd, prefix);
	int rc = 0;

	for (guint i = 0; rc == 0 && i < entries->len; i++) {
		const struct entry *entry = &g_array_index(entries, struct entry, i);

		if (entry->is_stream)
			rc = link_file(from_fd, to_fd, entry->name, err);
	}
	return rc;
}

/* A file that the ring has removed since is still there by its link. */
static int replace_by_copy(int from_fd, int to_fd, const char *name, struct pp_error *err)
{
	bool is_there = faccessat(from_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	int rc = copy_file(is_there ? from_fd : to_fd, to_fd, name, COPY, err);

	if (rc == 0 && renameat(to_fd, COPY, to_fd, name) && errno != ENOENT)
		rc = fail(err, -errno, name);
	return rc;
}

/* Replaces the newest file of each stream, and adds those that are no streams. */
static int copy_trace(int from_fd, int to_fd, const char *prefix, struct pp_error *err)
{
	g_autoptr(GArray) linked = list(to_fd, prefix), others = list(from_fd, prefix);
	int rc = 0;

	for (guint i = 0; rc == 0 && i < linked->len; i++)
		if (is_newest(linked, i))
			rc = replace_by_copy(from_fd, to_fd,
					     g_array_index(linked, struct entry, i).name, err);
	for (guint i = 0; rc == 0 && i < others->len; i++) {
		const struct entry *entry = &g_array_index(others, struct entry, i);

		if (!entry->is_stream)
			rc = copy_file(from_fd, to_fd, entry->name, entry->name, err);
	}
	return rc;
}

/* Returns a descriptor, or -errno. */
static int open_folder(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int make_folder(int dir_fd, const char *name)
{
	if (mkdirat(dir_fd, name, 0700) && errno != EEXIST)
		return -errno;
	return open_folder(dir_fd, name);
}

typedef int trace_step(int from_fd, int to_fd, const char *prefix, struct pp_error *err);

/* For the trace `name`, if it is there. */
static int do_trace(int from_fd, int to_fd, const char *name, const char *prefix, trace_step *step,
		    struct pp_error *err)
{
	int from = open_folder(from_fd, name), to, rc;

	if (from < 0)
		return 0;
	to = make_folder(to_fd, name);
	rc = to < 0 ? fail(err, to, name) : step(from, to, prefix, err);
	if (to >= 0)
		close(to);
	close(from);
	return rc;
}

static int do_streams_of(int from_fd, int to_fd, const char *folder, trace_step *step,
			 struct pp_error *err)
{
	int from = open_folder(from_fd, folder), to, rc;

	if (from < 0)
		return 0;
	to = make_folder(to_fd, folder);
	rc = to < 0 ? fail(err, to, folder)
		    : do_trace(from, to, STREAMS, PP_STREAM_OF_THREAD, step, err);
	if (to >= 0)
		close(to);
	close(from);
	return rc ? pp_error_add(err, rc, "%s", folder) : 0;
}

static int do_streams(int from_fd, int to_fd, trace_step *step, struct pp_error *err)
{
	g_autoptr(GArray) entries = list(from_fd, PP_STREAM_OF_THREAD);
	int rc = 0;

	for (guint i = 0; rc == 0 && i < entries->len; i++) {
		const char *name = g_array_index(entries, struct entry, i).name;

		if (g_ascii_isdigit(*name))
			rc = do_streams_of(from_fd, to_fd, name, step, err);
	}
	return rc;
}

int pp_snapshot_link(int from_fd, int to_fd, struct pp_error *err)
{
	return do_streams(from_fd, to_fd, link_trace, err);
}

int pp_snapshot_copy(int from_fd, int to_fd, struct pp_error *err)
{
	return do_streams(from_fd, to_fd, copy_trace, err);
}

int pp_snapshot_link_kernel(int from_fd, int to_fd, struct pp_error *err)
{
	return do_trace(from_fd, to_fd, KERNEL, PP_STREAM_OF_CPU, link_trace, err);
}

/* A file that was made since the last link is added. */
int pp_snapshot_copy_kernel(int from_fd, int to_fd, struct pp_error *err)
{
	int rc = pp_snapshot_link_kernel(from_fd, to_fd, err);

	return rc ? rc : do_trace(from_fd, to_fd, KERNEL, PP_STREAM_OF_CPU, copy_trace, err);
}

static bool is_left_out(const char *name, unsigned depth)
{
	static const char *const names[] = {GM_MANIFEST_FILE, "index", "info.json", "info.json.new",
					    KERNEL};

	for (unsigned i = 0; depth == 0 && i < G_N_ELEMENTS(names); i++)
		if (g_str_equal(name, names[i]))
			return true;
	return depth == 1 && g_str_equal(name, STREAMS);
}

static int copy_others(int from_fd, int to_fd, unsigned depth, struct pp_error *err)
{
	g_autoptr(GArray) entries = list(from_fd, PP_STREAM_OF_THREAD);
	int rc = 0;

	for (guint i = 0; rc == 0 && i < entries->len; i++) {
		const char *name = g_array_index(entries, struct entry, i).name;
		int from, to;

		if (is_left_out(name, depth))
			continue;
		from = depth < MAX_DEPTH ? open_folder(from_fd, name) : -ENOTDIR;
		if (from < 0) {
			rc = copy_file(from_fd, to_fd, name, name, err);
			continue;
		}
		to = make_folder(to_fd, name);
		rc = to < 0 ? fail(err, to, name) : copy_others(from, to, depth + 1, err);
		if (to >= 0)
			close(to);
		close(from);
	}
	return rc;
}

int pp_snapshot_others(int from_fd, int to_fd, struct pp_error *err)
{
	return copy_others(from_fd, to_fd, 0, err);
}
