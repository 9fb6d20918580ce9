/* SPDX-License-Identifier: MIT */
/* Builds the JSON document from the run, and replaces the file by rename. */
#include "record/info.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <gnu/libc-version.h>
#include <json-glib/json-glib.h>

#include "core/text/duration.h"
#include "core/text/json_writer.h"
#include "core/text/write.h"
#include "record/ring_growth.h"
#include "gmon-mt/format.h"

#define INFO_FILE     "info.json"
#define RESERVED_FILE "info.json.new"
/* Reserved for the second version, which is longer than the first by less than this. */
#define RESERVED_BYTES (64 << 10)

static void loss_free(void *data)
{
	struct pp_loss *loss = data;

	g_free(loss->what);
	g_free(loss->where);
	g_free(loss);
}

GPtrArray *pp_losses_new(void)
{
	return g_ptr_array_new_with_free_func(loss_free);
}

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

/* --- members --- */

static void add_strings(struct pp_json_writer *json, const char *member, const char *const *values)
{
	pp_json_write_open(json, member, '[');
	for (; values && *values; values++)
		pp_json_write_text(json, NULL, *values);
	pp_json_write_close(json, ']');
}

static void add_time(struct pp_json_writer *json, const char *member, int64_t time_us)
{
	g_autoptr(GDateTime) seconds = g_date_time_new_from_unix_utc(time_us / G_USEC_PER_SEC);
	g_autoptr(GDateTime) time = g_date_time_add(seconds, time_us % G_USEC_PER_SEC);
	g_autofree char *text = g_date_time_format_iso8601(time);

	pp_json_write_text(json, member, text);
}

static void add_command(struct pp_json_writer *json, const struct pp_run *run)
{
	g_autofree char *own_cwd = g_get_current_dir();
	const char *cwd = run->attached ? run->attached->cwd : own_cwd;

	add_strings(json, "command", (const char *const *)run->argv);
	pp_json_write_int(json, "pid", run->collector->root);
	if (cwd)
		pp_json_write_text(json, "cwd", cwd);
	pp_json_write_int(json, "start_ns", run->start_ns);
	add_time(json, "start_time", run->start_us);
}

static void add_rusage(struct pp_json_writer *json, const struct rusage *usage)
{
	pp_json_write_open(json, "rusage", '{');
	pp_json_write_int(json, "user_ns", pp_timeval_ns(&usage->ru_utime));
	pp_json_write_int(json, "system_ns", pp_timeval_ns(&usage->ru_stime));
	pp_json_write_int(json, "max_rss_bytes", usage->ru_maxrss * INT64_C(1024));
	pp_json_write_int(json, "minor_faults", usage->ru_minflt);
	pp_json_write_int(json, "major_faults", usage->ru_majflt);
	pp_json_write_int(json, "blocks_in", usage->ru_inblock);
	pp_json_write_int(json, "blocks_out", usage->ru_oublock);
	pp_json_write_int(json, "voluntary", usage->ru_nvcsw);
	pp_json_write_int(json, "involuntary", usage->ru_nivcsw);
	pp_json_write_close(json, '}');
}

static void add_attached(struct pp_json_writer *json, const struct pp_run *run, bool complete)
{
	static const char *const ends[] = {
	    [PP_ATTACH_EXIT] = "exit",
	    [PP_ATTACH_DURATION] = "duration",
	    [PP_ATTACH_SIGNAL] = "signal",
	};

	pp_json_write_open(json, "attached", '{');
	pp_json_write_int(json, "age_ns", run->attached->age_ns);
	if (complete)
		pp_json_write_text(json, "end", ends[run->attached->end]);
	pp_json_write_close(json, '}');
}

static void add_end(struct pp_json_writer *json, const struct pp_run *run)
{
	pp_json_write_int(json, "end_ns", run->end_ns);
	add_time(json, "end_time", run->end_us);
	if (!run->attached)
		pp_json_write_exit(json, run->status);
	pp_json_write_int(json, "processes", run->processes);
	pp_json_write_int(json, "threads", run->threads);
	if (!run->attached)
		add_rusage(json, &run->usage);
}

/* Those on which the program may run, unless it changes that. */
static long usable_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set)
							    : sysconf(_SC_NPROCESSORS_ONLN);
}

static void add_host(struct pp_json_writer *json)
{
	struct utsname host;

	uname(&host);
	pp_json_write_open(json, "host", '{');
	pp_json_write_text(json, "sysname", host.sysname);
	pp_json_write_text(json, "release", host.release);
	pp_json_write_text(json, "machine", host.machine);
	pp_json_write_text(json, "hostname", host.nodename);
	pp_json_write_int(json, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	pp_json_write_int(json, "usable_cpus", usable_cpus());
	pp_json_write_text(json, "glibc", gnu_get_libc_version());
	pp_json_write_close(json, '}');
}

static void add_environment(struct pp_json_writer *json)
{
	static const char *const names[] = {"LD_PRELOAD",      "LD_LIBRARY_PATH", "LD_BIND_NOW",
					    "GMON_OUT_PREFIX", "GPROF_MT_CONFIG", "GLIBC_TUNABLES",
					    "OMP_NUM_THREADS"};

	pp_json_write_open(json, "environment", '{');
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (g_getenv(names[i]))
			pp_json_write_text(json, names[i], g_getenv(names[i]));
	pp_json_write_close(json, '}');
}

/*
 * Adds every key, from the text that the configuration writer produces: "[group]" and "key = value"
 * lines.
 */
static void add_config(struct pp_json_writer *json, const struct gm_config *config)
{
	g_autofree char *text = g_malloc(2 * GM_PATH_MAX);
	g_auto(GStrv) lines = NULL;
	g_autofree char *group = NULL;

	gm_config_format(config, text, 2 * GM_PATH_MAX);
	lines = g_strsplit(text, "\n", -1);
	pp_json_write_open(json, "config", '{');
	pp_json_write_text(json, "level", gm_level_name(config->level));
	for (char **line = lines; *line; line++) {
		char *equals = strstr(*line, " = ");

		if (**line == '[') {
			g_free(group);
			group = g_strndup(*line + 1, strcspn(*line, "]") - 1);
		} else if (equals && group) {
			g_autofree char *key =
			    g_strdup_printf("%s.%.*s", group, (int)(equals - *line), *line);

			pp_json_write_text(json, key, equals + strlen(" = "));
		}
	}
	pp_json_write_close(json, '}');
}

static void add_rings(struct pp_json_writer *json, const struct pp_collector *collector)
{
	pp_json_write_open(json, "cpus", '[');
	for (unsigned i = 0; i < collector->n_rings; i++)
		pp_json_write_int(json, NULL, collector->rings[i].cpu);
	pp_json_write_close(json, ']');
	pp_json_write_int(json, "ring_bytes", pp_collector_ring_start_bytes(collector));
}

static void add_ring_ends(struct pp_json_writer *json, const struct pp_collector *collector)
{
	pp_json_write_open(json, "ring_end_bytes", '[');
	for (unsigned i = 0; i < collector->n_rings; i++)
		pp_json_write_int(json, NULL, pp_collector_ring_bytes(collector, i));
	pp_json_write_close(json, ']');
}

static void add_kernel_end(struct pp_json_writer *json, const struct pp_collector *collector)
{
	add_ring_ends(json, collector);
	pp_json_write_int(json, "events", pp_kernel_ctf_events(collector->ctf));
	pp_json_write_open(json, "lost_events", '[');
	for (unsigned i = 0; i < collector->n_rings; i++)
		pp_json_write_int(json, NULL, pp_kernel_ctf_discarded(collector->ctf, i));
	pp_json_write_close(json, ']');
	pp_json_write_int(json, "filled_switches", collector->filled);
	pp_json_write_int(json, "unwritten_events", pp_kernel_ctf_unwritten(collector->ctf));
	pp_json_write_int(json, "processes", collector->tree.processes);
	pp_json_write_int(json, "threads", collector->tree.threads);
	pp_json_write_int(json, "still_running",
			  pp_tree_running(&collector->tree, collector->root));
}

/* collector_pid: the collector that a program started; 0: `record`. */
static void add_kernel(struct pp_json_writer *json, const struct pp_collector *collector,
		       bool complete, pid_t collector_pid)
{
	pp_json_write_open(json, "kernel", '{');
	pp_json_write_text(json, "source", gm_kernel_source_name(collector->source));
	pp_json_write_text(json, "why", collector->why);
	pp_json_write_bool(json, "pairs", pp_collector_has_pairs(collector));
	pp_json_write_bool(json, "wakings", pp_collector_has_pairs(collector));
	pp_json_write_bool(json, "io", pp_collector_has_pairs(collector));
	add_rings(json, collector);
	if (complete && collector->ctf)
		add_kernel_end(json, collector);
	if (collector_pid)
		pp_json_write_int(json, "collector", collector_pid);
	pp_json_write_close(json, '}');
}

static void add_losses(struct pp_json_writer *json, const GPtrArray *losses)
{
	pp_json_write_open(json, "losses", '[');
	for (guint i = 0; i < losses->len; i++) {
		const struct pp_loss *loss = losses->pdata[i];

		pp_json_write_open(json, NULL, '{');
		pp_json_write_text(json, "what", loss->what);
		pp_json_write_text(json, "where", loss->where);
		pp_json_write_int(json, "count", loss->count);
		pp_json_write_close(json, '}');
	}
	pp_json_write_close(json, ']');
}

static void add_clock(struct pp_json_writer *json, const struct gm_capture *capture)
{
	pp_json_write_open(json, "clock", '{');
	pp_json_write_text(json, "name", "monotonic");
	pp_json_write_text(json, "uuid", capture->clock_uuid);
	pp_json_write_int(json, "offset_ns", capture->clock_offset_ns);
	pp_json_write_close(json, '}');
}

static void add_relay(struct pp_json_writer *json, const struct pp_run *run)
{
	pp_json_write_open(json, "relay", '{');
	pp_json_write_text(json, "url", run->relay_url);
	pp_json_write_text(json, "session", run->relay_session);
	pp_json_write_close(json, '}');
}

static char *make_text(const struct pp_run *run, bool complete)
{
	struct pp_json_writer writer = {.to = g_string_new(NULL), .indent = 2}, *json = &writer;

	pp_json_write_open(json, NULL, '{');
	pp_json_write_int(json, "schema", GM_CAPTURE_SCHEMA);
	pp_json_write_text(json, "version", GM_VERSION);
	pp_json_write_text(json, "recorder", "record");
	pp_json_write_bool(json, "complete", complete);
	add_command(json, run);
	if (run->attached)
		add_attached(json, run, complete);
	if (complete)
		add_end(json, run);
	add_clock(json, run->capture);
	add_host(json);
	if (!run->attached)
		add_environment(json);
	add_strings(json, "libraries", (const char *const *)run->libraries);
	add_config(json, run->config);
	add_strings(json, "not_collected", (const char *const *)run->collector->missing);
	if (run->relay_session)
		add_relay(json, run);
	add_kernel(json, run->collector, complete, 0);
	add_losses(json, run->losses);
	pp_json_write_close(json, '}');
	g_string_append_c(writer.to, '\n');
	return g_string_free(writer.to, FALSE);
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

/*
 * Writes a member of which the collector of a running program has newer data; false: it has none.
 */
static bool add_newer(struct pp_json_writer *json, const char *member, const struct pp_run *run,
		      bool complete)
{
	if (g_str_equal(member, "kernel"))
		add_kernel(json, run->collector, complete, complete ? 0 : getpid());
	else if (g_str_equal(member, "losses"))
		add_losses(json, run->losses);
	else if (g_str_equal(member, "pid"))
		pp_json_write_int(json, "pid", run->collector->root);
	else
		return false;
	return true;
}

/* Copies the members of `info` in their order, and replaces those that have changed. */
static char *make_newer_text(JsonObject *info, const struct pp_run *run, bool complete)
{
	static const char *const newer[] = {"kernel", "losses", "pid"};
	struct pp_json_writer writer = {.to = g_string_new(NULL)}, *json = &writer;
	JsonObjectIter iter;
	const char *member;
	JsonNode *node;

	pp_json_write_open(json, NULL, '{');
	json_object_iter_init_ordered(&iter, info);
	while (json_object_iter_next_ordered(&iter, &member, &node))
		if (!add_newer(json, member, run, complete))
			pp_json_write_node(json, member, node);
	for (unsigned i = 0; i < G_N_ELEMENTS(newer); i++)
		if (!json_object_has_member(info, newer[i]))
			add_newer(json, newer[i], run, complete);
	pp_json_write_close(json, '}');
	return g_string_free(writer.to, FALSE);
}

static int replace_info(const struct pp_run *run, const char *text)
{
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
	g_autofree char *text = NULL;
	int rc;

	if (!json_parser_load_from_file(parser, path, NULL) ||
	    !JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser)))
		return pp_error_add(err, -EINVAL, "%s: damaged: not a JSON object", path);
	text = make_newer_text(json_node_get_object(json_parser_get_root(parser)), run, complete);
	rc = replace_info(run, text);
	return rc < 0 ? pp_error_add(err, rc, "%s: %s", path, g_strerror(-rc)) : 0;
}
