/* SPDX-License-Identifier: MIT */
/*
 * Reads the format files of tracepoints.  If tracefs is not mounted, a mount without a mount point
 * is used: it needs no mount namespace, no /sys and no "/" that is a mount point, and ends with its
 * descriptor.  A second mount(2) could change the options of mounts elsewhere, since all of them
 * share one superblock.
 */
#include "record/perf/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/magic.h>
#include <linux/mount.h>

static const char *const mount_points[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

const char *pp_tracefs_path(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(mount_points); i++) {
		struct statfs fs;

		if (statfs(mount_points[i], &fs) == 0 && fs.f_type == TRACEFS_MAGIC)
			return mount_points[i];
	}
	return NULL;
}

/* By system call, since glibc has functions for these only from 2.36 on. */
static int mount_without_point(void)
{
	int fs = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
	int fd = -1, code;

	if (fs < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
				  MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
				      MOUNT_ATTR_NOEXEC);
	code = errno;
	close(fs);
	return fd < 0 ? -code : fd;
}

int pp_tracefs_open(struct pp_error *err)
{
	const char *path = pp_tracefs_path();
	int fd;

	if (path) {
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		return fd < 0 ? pp_error_add(err, -errno, "%s: %s", path, g_strerror(errno)) : fd;
	}
	fd = mount_without_point();
	if (fd == -EPERM || fd == -ENOSYS)
		return pp_error_add(err, -ENOENT, "tracefs is not mounted");
	if (fd == -ENODEV)
		return pp_error_add(err, fd, "this kernel has no tracefs");
	return fd < 0 ? pp_error_add(err, fd, "tracefs is not mounted, and mounting it failed: %s",
				     g_strerror(-fd))
		      : fd;
}

/* Reads one format file; *ret_text is NUL-terminated. */
static int read_format(int tracefs_fd, const char *name, char **ret_text)
{
	g_autofree char *path = g_strdup_printf("events/%s/format", name);
	g_autoptr(GString) text = g_string_new(NULL);
	int fd = openat(tracefs_fd, path, O_RDONLY | O_CLOEXEC);
	char chunk[4096];
	ssize_t n;
	int rc;

	if (fd < 0)
		return -errno;
	while ((n = TEMP_FAILURE_RETRY(read(fd, chunk, sizeof(chunk)))) > 0)
		g_string_append_len(text, chunk, n);
	rc = n < 0 ? -errno : 0;
	close(fd);
	if (!rc)
		*ret_text = g_string_free(g_steal_pointer(&text), FALSE);
	return rc;
}

static int read_formats(int tracefs_fd, const char *const *names, unsigned n_needed,
			GPtrArray *texts, struct pp_error *err)
{
	for (unsigned i = 0; names[i]; i++) {
		char *text = NULL;
		int rc = read_format(tracefs_fd, names[i], &text);

		if (rc && i < n_needed)
			return pp_error_add(err, rc, "%s/events/%s: %s",
					    pp_tracefs_path() ?: "tracefs", names[i],
					    g_strerror(-rc));
		g_ptr_array_add(texts, rc ? g_strdup("") : text);
	}
	return 0;
}

int pp_tracefs_read(const char *const *names, unsigned n_needed, GPtrArray **ret_texts,
		    struct pp_error *err)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
	int fd = pp_tracefs_open(err), rc;

	if (fd < 0)
		return fd;
	rc = read_formats(fd, names, n_needed, texts, err);
	close(fd);
	if (!rc)
		*ret_texts = g_steal_pointer(&texts);
	return rc;
}

/* Parses "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;". */
static bool find_field(const char *text, const char *name, struct pp_field *ret_field)
{
	size_t name_len = strlen(name);

	for (const char *line = strstr(text, "field:"); line; line = strstr(line + 1, "field:")) {
		const char *end = strchr(line, ';');
		const char *start;
		unsigned offset, size;

		if (!end)
			return false;
		/* char comm[16]: the name ends before the bracket. */
		for (const char *p = line; p < end; p++)
			if (*p == '[' && p[1] != ']')
				end = p;
		start = end - name_len;
		if (start <= line || (start[-1] != ' ' && start[-1] != '*') ||
		    memcmp(start, name, name_len) != 0)
			continue;
		end = strchr(end, ';');
		if (!end || sscanf(end, "; offset:%u; size:%u;", &offset, &size) != 2 ||
		    offset > UINT16_MAX || size > UINT16_MAX)
			return false;
		ret_field->offset = offset;
		ret_field->size = size;
		return true;
	}
	return false;
}

int pp_tracefs_parse(const char *text, const struct pp_field_wanted *wanted, void *into,
		     uint64_t *ret_id, struct pp_error *err)
{
	const char *id = strstr(text, "\nID:");

	if (!id || (*ret_id = strtoull(id + 4, NULL, 10)) == 0)
		return pp_error_add(err, -EINVAL, "damaged tracepoint format: no ID");
	for (; wanted->name; wanted++)
		if (!find_field(text, wanted->name,
				(struct pp_field *)((char *)into + wanted->into)))
			return pp_error_add(err, -EINVAL,
					    "tracepoint %" G_GUINT64_FORMAT
					    " has no readable field %s",
					    *ret_id, wanted->name);
	return 0;
}
