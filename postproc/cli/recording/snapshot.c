/* SPDX-License-Identifier: MIT */
/*
 * The order of the steps: first the instant, then the streams, which a ring may remove soon; then
 * the kernel's events, which the recorder writes up to three seconds later; then the rest, which
 * only grows.  The directory gets its name when it is complete.
 */
#include "cli/recording/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <json-glib/json-glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/recording/snapshot_files.h"
#include "capture/capture.h"
#include "capture/live.h"
#include "core/clock.h"
#include "core/text/json.h"
#include "core/text/json_writer.h"
#include "core/text/write.h"
#include "gmon-mt/format.h"
#include "runtime/capture/session.h"

#define GRACE_NS     20000000 /* a record is stored within this time (capture/live.c) */
#define POLL_NS	     20000000
#define KERNEL_POLLS 500
#define OUT_MAX	     10000
#define INFO	     "info.json"

struct instant {
	int64_t time_ns;
	int64_t kernel_ns; /* kernel events are complete up to then */
};

static void pause_ns(long ns)
{
	const struct timespec pause = {0, ns};

	nanosleep(&pause, NULL);
}

/* --- kernel events --------------------------------------------------------------------------- */

/* The time up to which they are written; INT64_MAX: no recorder writes any, or not any more. */
static int64_t kernel_complete_ns(int dir_fd)
{
	int fd = openat(dir_fd, "kernel/" GM_KERNEL_COMPLETE,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	uint64_t time_ns = 0;

	if (fd < 0)
		return INT64_MAX;
	if (pread(fd, &time_ns, sizeof(time_ns), 0) != sizeof(time_ns))
		time_ns = 0;
	close(fd);
	return (int64_t)MIN(GUINT64_FROM_LE(time_ns), INT64_MAX);
}

/*
 * Meanwhile, a ring may remove files: each is linked before.  *ret_ns: the time up to which all
 * events are there, at most time_ns.
 */
static int copy_kernel(int from_fd, int to_fd, int64_t time_ns, const int *is_over, int64_t *ret_ns,
		       struct pp_error *err)
{
	int rc = pp_snapshot_link_kernel(from_fd, to_fd, err);

	for (unsigned i = 0; rc == 0 && i < KERNEL_POLLS && kernel_complete_ns(from_fd) < time_ns;
	     i++) {
		if (is_over && __atomic_load_n(is_over, __ATOMIC_RELAXED))
			break;
		pause_ns(POLL_NS);
		rc = pp_snapshot_link_kernel(from_fd, to_fd, err);
	}
	*ret_ns = MIN(kernel_complete_ns(from_fd), time_ns);
	return rc ? rc : pp_snapshot_copy_kernel(from_fd, to_fd, err);
}

/* --- info.json ------------------------------------------------------------------------------- */

/* Returns the object of the capture's info.json, or a new one.  The caller unrefs it. */
static JsonObject *read_info(const char *dir)
{
	g_autofree char *path = g_build_filename(dir, INFO, NULL);
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonObject *info;

	if (json_parser_load_from_file(parser, path, NULL) &&
	    JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser)))
		return json_node_dup_object(json_parser_get_root(parser));
	info = json_object_new();
	json_object_set_int_member(info, "schema", GM_CAPTURE_SCHEMA);
	return info;
}

static int write_info(const char *dir, int to_fd, const struct instant *instant, const char *why,
		      struct pp_error *err)
{
	g_autoptr(JsonObject) info = read_info(dir);
	JsonObject *snapshot = json_object_new();
	g_autoptr(JsonNode) root = json_node_new(JSON_NODE_OBJECT);
	g_autoptr(GString) text = g_string_new(NULL);
	struct pp_json_writer json = {.to = text, .indent = 2};
	int fd, rc;

	json_object_set_int_member(snapshot, "time_ns", instant->time_ns);
	json_object_set_int_member(snapshot, "kernel_ns", instant->kernel_ns);
	json_object_set_string_member(snapshot, "why", why);
	json_object_set_object_member(info, "snapshot", snapshot);
	json_node_set_object(root, info);
	pp_json_write_node(&json, NULL, root);
	g_string_append_c(text, '\n');
	fd = openat(to_fd, INFO, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	rc = fd < 0 ? -errno : pp_write_all(fd, text->str, text->len);
	if (fd >= 0)
		close(fd);
	return rc ? pp_error_add(err, rc, INFO ": %s", g_strerror(-rc)) : 0;
}

/* --- the directory --------------------------------------------------------------------------- */

static int fill(const char *dir, int from_fd, int to_fd, const char *why, const int *is_over,
		struct pp_error *err)
{
	struct instant instant = {.time_ns = pp_clock_now_ns()};
	int rc;

	rc = pp_snapshot_link(from_fd, to_fd, err);
	pause_ns(GRACE_NS);
	/* Again: events from before that instant may be in files that were made since. */
	if (rc == 0)
		rc = pp_snapshot_link(from_fd, to_fd, err);
	if (rc == 0)
		rc = pp_snapshot_copy(from_fd, to_fd, err);
	if (rc == 0)
		rc = copy_kernel(from_fd, to_fd, instant.time_ns, is_over, &instant.kernel_ns, err);
	if (rc == 0)
		rc = pp_snapshot_others(from_fd, to_fd, err);
	if (rc == 0)
		rc = write_info(dir, to_fd, &instant, why, err);
	/* No process writes into it: `record -o` may replace it. */
	if (rc == 0)
		gm_session_end(to_fd);
	return rc;
}

/* Gives the complete directory its name.  Returns 0, or -EEXIST. */
static int name_it(const char *dir, const char *made, const char *out, char **ret_out)
{
	for (unsigned n = 1; n < OUT_MAX; n++) {
		g_autofree char *name =
		    out ? g_strdup(out) : g_strdup_printf("%s.snapshot.%u", dir, n);

		if (renameat2(AT_FDCWD, made, AT_FDCWD, name, RENAME_NOREPLACE) == 0) {
			*ret_out = g_steal_pointer(&name);
			return 0;
		}
		if (errno != EEXIST || out)
			return -errno;
	}
	return -EEXIST;
}

static void discard(const char *made)
{
	g_autofree char *parent = g_path_get_dirname(made), *name = g_path_get_basename(made);
	int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		gm_remove_tree_at(fd, name);
		close(fd);
	}
}

static char *strip_slashes(const char *dir)
{
	char *name = g_strdup(dir);

	for (size_t n = strlen(name); n > 1 && name[n - 1] == '/'; n--)
		name[n - 1] = '\0';
	return name;
}

/* Later snapshots would copy it, and readers take it for a process. */
static bool is_inside(const char *parent, const char *base)
{
	g_autofree char *to = realpath(parent, NULL), *from = realpath(base, NULL);
	size_t len = from ? strlen(from) : 0;

	return to && from && strncmp(to, from, len) == 0 && (!to[len] || to[len] == '/');
}

int pp_snapshot_write(const char *dir, const char *out, const char *why, const int *is_over,
		      char **ret_out, struct pp_error *err)
{
	g_autofree char *base = strip_slashes(dir), *target = strip_slashes(out ? out : base);
	g_autofree char *parent = g_path_get_dirname(target), *name = g_path_get_basename(target);
	g_autofree char *made =
	    g_strdup_printf("%s/.%s.snapshot.%d.XXXXXX", parent, name, (int)getpid());
	int from_fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC), to_fd, rc;

	if (from_fd < 0)
		return pp_error_add(err, -errno, "%s: %s", base, g_strerror(errno));
	if (is_inside(parent, base)) {
		close(from_fd);
		return pp_error_add(err, -EINVAL,
				    "%s is inside the capture %s; choose another directory (-o)",
				    target, base);
	}
	if (!g_mkdtemp(made)) {
		rc = -errno;
		close(from_fd);
		return pp_error_add(err, rc, "cannot make a snapshot in %s: %s", parent,
				    g_strerror(-rc));
	}
	to_fd = open(made, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = to_fd < 0 ? -errno : fill(base, from_fd, to_fd, why, is_over, err);
	if (rc == 0) {
		rc = name_it(base, made, out ? target : NULL, ret_out);
		if (rc)
			pp_error_add(err, rc, "%s", g_strerror(-rc));
	}
	if (to_fd >= 0)
		close(to_fd);
	close(from_fd);
	if (rc == 0)
		return 0;
	discard(made);
	return pp_error_add(err, rc, "cannot make the snapshot %s", out ? out : base);
}

char *pp_snapshot_describe(const char *out)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_capture *capture;
	g_autofree char *live = NULL, *ring = NULL;

	if (pp_capture_open(out, &capture, &err)) {
		pp_error_done(&err);
		return g_strdup_printf("%s: a snapshot without events", out);
	}
	live = pp_model_live_text(capture->model);
	ring = pp_model_ring_text(capture->model);
	pp_capture_free(capture);
	return g_strdup_printf("%s: %s%s%s", out, live ? live : "a snapshot", ring ? "; " : "",
			       ring ? ring : "");
}
