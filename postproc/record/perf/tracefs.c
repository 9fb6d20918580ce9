/* SPDX-License-Identifier: MIT */
/*
 * Reads the format files of tracepoints, in a child with its own mount namespace if tracefs is not
 * mounted.
 */
#include "record/perf/tracefs.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/magic.h>

#include "core/text/write.h"

#define MOUNT_POINT "/sys/kernel/tracing"

static const char *const mount_points[] = {MOUNT_POINT, "/sys/kernel/debug/tracing"};

const char *pp_tracefs_path(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(mount_points); i++) {
		struct statfs fs;

		if (statfs(mount_points[i], &fs) == 0 && fs.f_type == TRACEFS_MAGIC)
			return mount_points[i];
	}
	return NULL;
}

/* Reads one format file; *ret_text is NUL-terminated. */
static int read_format(const char *tracefs, const char *name, char **ret_text)
{
	g_autofree char *path = g_strdup_printf("%s/events/%s/format", tracefs, name);
	g_autoptr(GString) text = g_string_new(NULL);
	char chunk[4096];
	size_t n;
	FILE *file = fopen(path, "re");

	if (!file)
		return -errno;
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		g_string_append_len(text, chunk, n);
	if (ferror(file)) {
		fclose(file);
		return -EIO;
	}
	fclose(file);
	*ret_text = g_string_free(g_steal_pointer(&text), FALSE);
	return 0;
}

static int read_formats(const char *tracefs, const char *const *names, unsigned n_needed,
			GPtrArray *texts, struct pp_error *err)
{
	for (unsigned i = 0; names[i]; i++) {
		char *text = NULL;
		int rc = read_format(tracefs, names[i], &text);

		if (rc && i < n_needed)
			return pp_error_add(err, rc, "%s/events/%s: %s", tracefs, names[i],
					    g_strerror(-rc));
		g_ptr_array_add(texts, rc ? g_strdup("") : text);
	}
	return 0;
}

/*
 * Runs in the child.  Sends each text with its NUL; on failure sends nothing and exits with the
 * errno.
 */
static void mount_and_send(const char *const *names, unsigned n_needed, int to)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
	int rc;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tracefs", MOUNT_POINT, "tracefs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  NULL))
		_exit(errno);
	rc = read_formats(MOUNT_POINT, names, n_needed, texts, NULL);
	if (rc)
		_exit(-rc);
	for (guint i = 0; i < texts->len; i++) {
		const char *text = texts->pdata[i];

		rc = pp_write_all(to, text, strlen(text) + 1);
		if (rc)
			_exit(-rc);
	}
	_exit(0);
}

static int receive(int from, GPtrArray *texts)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char chunk[4096];
	ssize_t n;

	while ((n = TEMP_FAILURE_RETRY(read(from, chunk, sizeof(chunk)))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (chunk[i]) {
				g_string_append_c(text, chunk[i]);
				continue;
			}
			g_ptr_array_add(texts, g_strdup(text->str));
			g_string_truncate(text, 0);
		}
	return n < 0 ? -errno : 0;
}

static int read_privately(const char *const *names, unsigned n_needed, GPtrArray *texts,
			  struct pp_error *err)
{
	int fds[2], rc, status = 0;
	pid_t child;

	if (pipe2(fds, O_CLOEXEC))
		return pp_error_add(err, -errno, "pipe: %s", g_strerror(errno));
	child = fork();
	if (child == 0) {
		close(fds[0]);
		mount_and_send(names, n_needed, fds[1]);
	}
	close(fds[1]);
	rc = child < 0 ? -errno : receive(fds[0], texts);
	close(fds[0]);
	if (child > 0 && TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) < 0)
		rc = -errno;
	if (!rc && status)
		rc = WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
	if (!rc && texts->len != g_strv_length((char **)names))
		rc = -EIO;
	return rc ? pp_error_add(err, rc, "tracefs is not mounted, and mounting it failed: %s",
				 g_strerror(-rc))
		  : 0;
}

int pp_tracefs_read(const char *const *names, unsigned n_needed, GPtrArray **ret_texts,
		    struct pp_error *err)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
	const char *path = pp_tracefs_path();
	int rc;

	if (path)
		rc = read_formats(path, names, n_needed, texts, err);
	else if (geteuid() == 0)
		rc = read_privately(names, n_needed, texts, err);
	else
		rc = pp_error_add(err, -ENOENT, "tracefs is not mounted");
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
