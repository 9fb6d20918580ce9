/* SPDX-License-Identifier: MIT */
#include "record/info.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gnu/libc-version.h>
#include <json-glib/json-glib.h>

#include "core/write.h"
#include "record/move.h"
#include "gmon-mt/format.h"

#define INFO_FILE     "info.json"
#define RESERVED_FILE "info.json.new"
/* For the second writing: it is longer than the first by less than this. */
#define RESERVED_BYTES (64 << 10)

void pp_run_add_loss(struct pp_run *run, const char *what, const char *where, uint64_t count)
{
	struct pp_loss *loss = g_new(struct pp_loss, 1);

	*loss = (struct pp_loss){g_strdup(what), g_strdup(where), count, false};
	g_ptr_array_add(run->losses, loss);
}

void pp_run_add_silent_loss(struct pp_run *run, const char *what, const char *where, uint64_t count)
{
	struct pp_loss *loss;

	pp_run_add_loss(run, what, where, count);
	loss = run->losses->pdata[run->losses->len - 1];
	loss->is_silent = true;
}

/* --- parts --- */

static void name(JsonBuilder *json, const char *text)
{
	json_builder_set_member_name(json, text);
}

static void add_string(JsonBuilder *json, const char *member, const char *value)
{
	g_autofree char *valid = g_utf8_make_valid(value, -1);

	name(json, member);
	json_builder_add_string_value(json, valid);
}

static void add_int(JsonBuilder *json, const char *member, int64_t value)
{
	name(json, member);
	json_builder_add_int_value(json, value);
}

static void add_bool(JsonBuilder *json, const char *member, bool value)
{
	name(json, member);
	json_builder_add_boolean_value(json, value);
}

static void add_strings(JsonBuilder *json, const char *member, const char *const *values)
{
	name(json, member);
	json_builder_begin_array(json);
	for (; values && *values; values++) {
		g_autofree char *valid = g_utf8_make_valid(*values, -1);

		json_builder_add_string_value(json, valid);
	}
	json_builder_end_array(json);
}

static void add_time(JsonBuilder *json, const char *member, int64_t time_us)
{
	g_autoptr(GDateTime) seconds = g_date_time_new_from_unix_utc(time_us / G_USEC_PER_SEC);
	g_autoptr(GDateTime) time = g_date_time_add(seconds, time_us % G_USEC_PER_SEC);
	g_autofree char *text = g_date_time_format_iso8601(time);

	add_string(json, member, text);
}

static void add_command(JsonBuilder *json, const struct pp_run *run)
{
	g_autofree char *cwd = g_get_current_dir();

	add_strings(json, "command", (const char *const *)run->argv);
	add_int(json, "pid", run->collector->root);
	add_string(json, "cwd", cwd);
	add_int(json, "start_ns", run->start_ns);
	add_time(json, "start_time", run->start_us);
}

static void add_end(JsonBuilder *json, const struct pp_run *run)
{
	add_int(json, "end_ns", run->end_ns);
	add_time(json, "end_time", run->end_us);
	if (WIFSIGNALED(run->status))
		add_int(json, "signal", WTERMSIG(run->status));
	else
		add_int(json, "exit_status", WEXITSTATUS(run->status));
	add_int(json, "processes", run->processes);
	add_int(json, "threads", run->threads);
}

static void add_host(JsonBuilder *json)
{
	struct utsname host;

	uname(&host);
	name(json, "host");
	json_builder_begin_object(json);
	add_string(json, "sysname", host.sysname);
	add_string(json, "release", host.release);
	add_string(json, "machine", host.machine);
	add_string(json, "hostname", host.nodename);
	add_int(json, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	add_string(json, "glibc", gnu_get_libc_version());
	json_builder_end_object(json);
}

static void add_environment(JsonBuilder *json)
{
	static const char *const names[] = {"LD_PRELOAD",      "LD_LIBRARY_PATH", "LD_BIND_NOW",
					    "GMON_OUT_PREFIX", "GPROF_MT_CONFIG", "GLIBC_TUNABLES",
					    "OMP_NUM_THREADS"};

	name(json, "environment");
	json_builder_begin_object(json);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (g_getenv(names[i]))
			add_string(json, names[i], g_getenv(names[i]));
	json_builder_end_object(json);
}

/* Every key, as the one writer of configurations gives it: "[group]" and "key = value" lines. */
static void add_config(JsonBuilder *json, const struct gm_config *config)
{
	g_autofree char *text = g_malloc(2 * GM_PATH_MAX);
	g_auto(GStrv) lines = NULL;
	g_autofree char *group = NULL;

	gm_config_format(config, text, 2 * GM_PATH_MAX);
	lines = g_strsplit(text, "\n", -1);
	name(json, "config");
	json_builder_begin_object(json);
	add_string(json, "level", gm_level_name(config->level));
	for (char **line = lines; *line; line++) {
		char *equals = strstr(*line, " = ");

		if (**line == '[') {
			g_free(group);
			group = g_strndup(*line + 1, strcspn(*line, "]") - 1);
		} else if (equals && group) {
			g_autofree char *key =
			    g_strdup_printf("%s.%.*s", group, (int)(equals - *line), *line);

			add_string(json, key, equals + strlen(" = "));
		}
	}
	json_builder_end_object(json);
}

static void add_rings(JsonBuilder *json, const struct pp_collector *collector)
{
	name(json, "cpus");
	json_builder_begin_array(json);
	for (unsigned i = 0; i < collector->n_rings; i++)
		json_builder_add_int_value(json, collector->rings[i].cpu);
	json_builder_end_array(json);
	add_int(json, "ring_bytes", pp_collector_ring_start_bytes(collector));
}

static void add_ring_ends(JsonBuilder *json, const struct pp_collector *collector)
{
	name(json, "ring_end_bytes");
	json_builder_begin_array(json);
	for (unsigned i = 0; i < collector->n_rings; i++)
		json_builder_add_int_value(json, pp_collector_ring_bytes(collector, i));
	json_builder_end_array(json);
}

static void add_kernel_end(JsonBuilder *json, const struct pp_collector *collector)
{
	add_ring_ends(json, collector);
	add_int(json, "events", pp_kernel_ctf_events(collector->ctf));
	name(json, "lost_events");
	json_builder_begin_array(json);
	for (unsigned i = 0; i < collector->n_rings; i++)
		json_builder_add_int_value(json, pp_kernel_ctf_discarded(collector->ctf, i));
	json_builder_end_array(json);
	add_int(json, "filled_switches", collector->filled);
	add_int(json, "unwritten_events", pp_kernel_ctf_unwritten(collector->ctf));
	add_int(json, "processes", collector->tree.processes);
	add_int(json, "threads", collector->tree.threads);
	add_int(json, "still_running", pp_tree_running(&collector->tree, collector->root));
}

static void add_kernel(JsonBuilder *json, const struct pp_collector *collector, bool complete)
{
	name(json, "kernel");
	json_builder_begin_object(json);
	add_string(json, "source", gm_kernel_source_name(collector->source));
	add_string(json, "why", collector->why);
	add_bool(json, "pairs", pp_collector_has_pairs(collector));
	add_bool(json, "wakings", pp_collector_has_pairs(collector));
	add_bool(json, "io", pp_collector_has_pairs(collector));
	add_rings(json, collector);
	if (complete && collector->ctf)
		add_kernel_end(json, collector);
	json_builder_end_object(json);
}

static void add_losses(JsonBuilder *json, const GPtrArray *losses)
{
	name(json, "losses");
	json_builder_begin_array(json);
	for (guint i = 0; i < losses->len; i++) {
		const struct pp_loss *loss = losses->pdata[i];

		json_builder_begin_object(json);
		add_string(json, "what", loss->what);
		add_string(json, "where", loss->where);
		add_int(json, "count", loss->count);
		json_builder_end_object(json);
	}
	json_builder_end_array(json);
}

static void add_clock(JsonBuilder *json, const struct gm_capture *capture)
{
	name(json, "clock");
	json_builder_begin_object(json);
	add_string(json, "name", "monotonic");
	add_string(json, "uuid", capture->clock_uuid);
	add_int(json, "offset_ns", capture->clock_offset_ns);
	json_builder_end_object(json);
}

static char *make_text(const struct pp_run *run, bool complete)
{
	g_autoptr(JsonBuilder) json = json_builder_new();
	g_autoptr(JsonNode) root = NULL;
	g_autofree char *text = NULL;

	json_builder_begin_object(json);
	add_int(json, "schema", GM_CAPTURE_SCHEMA);
	add_string(json, "version", GM_VERSION);
	add_string(json, "recorder", "record");
	add_bool(json, "complete", complete);
	add_command(json, run);
	if (complete)
		add_end(json, run);
	add_clock(json, run->capture);
	add_host(json);
	add_environment(json);
	add_strings(json, "libraries", (const char *const *)run->libraries);
	add_config(json, run->config);
	add_strings(json, "not_collected", (const char *const *)run->collector->missing);
	add_kernel(json, run->collector, complete);
	add_losses(json, run->losses);
	json_builder_end_object(json);
	root = json_builder_get_root(json);
	text = json_to_string(root, TRUE);
	return g_strconcat(text, "\n", NULL);
}

/* --- files --- */

static int write_at_start(int fd, const char *text)
{
	size_t n_bytes = strlen(text);
	int rc = pp_write_all_at(fd, text, n_bytes, 0);

	if (rc)
		return rc;
	return ftruncate(fd, (off_t)n_bytes) ? -errno : 0;
}

static int open_file(int dir_fd, const char *file, int flags)
{
	int fd = openat(dir_fd, file, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags, 0600);

	return fd < 0 ? -errno : fd;
}

int pp_info_begin(const struct pp_run *run, struct pp_error *err)
{
	g_autofree char *text = make_text(run, false);
	int fd = open_file(run->dir_fd, INFO_FILE, O_CREAT | O_EXCL), rc = fd;

	if (fd >= 0) {
		rc = write_at_start(fd, text);
		close(fd);
	}
	if (rc < 0)
		return pp_error_add(err, rc, "%s/" INFO_FILE ": %s", run->capture->dir,
				    g_strerror(-rc));
	fd = open_file(run->dir_fd, RESERVED_FILE, O_CREAT | O_EXCL);
	if (fd >= 0) {
		posix_fallocate(fd, 0, strlen(text) + RESERVED_BYTES);
		close(fd);
	}
	return 0;
}

int pp_info_end(const struct pp_run *run, struct pp_error *err)
{
	g_autofree char *text = make_text(run, true);
	int fd = open_file(run->dir_fd, RESERVED_FILE, O_CREAT), rc = fd;

	if (fd >= 0) {
		rc = write_at_start(fd, text);
		close(fd);
	}
	if (rc == 0 && renameat(run->dir_fd, RESERVED_FILE, run->dir_fd, INFO_FILE))
		rc = -errno;
	return rc < 0 ? pp_error_add(err, rc, "%s/" INFO_FILE ": %s", run->capture->dir,
				     g_strerror(-rc))
		      : 0;
}

static JsonNode *kernel_node(const struct pp_run *run, bool complete, const char *member)
{
	g_autoptr(JsonBuilder) json = json_builder_new();
	g_autoptr(JsonNode) root = NULL;

	json_builder_begin_object(json);
	add_kernel(json, run->collector, complete);
	add_losses(json, run->losses);
	json_builder_end_object(json);
	root = json_builder_get_root(json);
	return json_object_dup_member(json_node_get_object(root), member);
}

static int replace_info(const struct pp_run *run, JsonNode *root)
{
	g_autofree char *text = json_to_string(root, FALSE);
	int fd = open_file(run->dir_fd, RESERVED_FILE, O_CREAT | O_TRUNC), rc = fd;

	if (fd >= 0) {
		rc = write_at_start(fd, text);
		close(fd);
	}
	if (rc == 0 && renameat(run->dir_fd, RESERVED_FILE, run->dir_fd, INFO_FILE))
		rc = -errno;
	return rc;
}

int pp_info_set_kernel(const struct pp_run *run, bool complete, struct pp_error *err)
{
	g_autofree char *path = g_build_filename(run->capture->dir, INFO_FILE, NULL);
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GError) error = NULL;
	JsonObject *info, *kernel;
	JsonNode *node;
	int rc;

	if (!json_parser_load_from_file(parser, path, &error) ||
	    !JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser)))
		return pp_error_add(err, -EINVAL, "%s: no JSON object", path);
	info = json_node_get_object(json_parser_get_root(parser));
	node = kernel_node(run, complete, "kernel");
	kernel = json_node_get_object(node);
	if (!complete)
		json_object_set_int_member(kernel, "collector", getpid());
	json_object_set_member(info, "kernel", node);
	json_object_set_member(info, "losses", kernel_node(run, complete, "losses"));
	json_object_set_int_member(info, "pid", run->collector->root);
	rc = replace_info(run, json_parser_get_root(parser));
	return rc < 0 ? pp_error_add(err, rc, "%s: %s", path, g_strerror(-rc)) : 0;
}
