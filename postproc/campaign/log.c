/* SPDX-License-Identifier: MIT */
/* See log.h.  A line is written by one write(), so that it is in the file whole or not at all. */
#include "campaign/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/text/json.h"
#include "core/text/json_writer.h"
#include "core/text/write.h"

/* How long to wait for another process that has the log open. */
#define LOCK_WAIT_US 1000000

const char *const pp_run_kinds[PP_N_RUN_KINDS] = {
    [PP_RUN_PLAIN] = "plain", [PP_RUN_WARMUP] = "warm-up", [PP_RUN_RECORDED] = "recorded"};

void pp_campaign_run_free(void *data)
{
	struct pp_campaign_run *run = data;

	g_free(run->test);
	g_free(run->failure);
	g_free(run->file);
	g_free(run);
}

/* Not in place of a standard stream that is closed: messages would get into the file. */
static int open_file(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0666), above, rc;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	rc = errno;
	close(fd);
	errno = rc;
	return above;
}

/*
 * Two campaigns must not write to the same file.  One that was just killed may have left a child
 * that has the file open for an instant, until it executes the command.
 */
static int lock_file(const struct pp_campaign_log *log, const char *path, struct pp_error *err)
{
	gint64 until_us = g_get_monotonic_time() + LOCK_WAIT_US;
	int rc;

	while ((rc = flock(log->fd, LOCK_EX | LOCK_NB)) && errno == EWOULDBLOCK &&
	       g_get_monotonic_time() < until_us)
		g_usleep(LOCK_WAIT_US / 100);
	if (rc == 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return pp_error_add(err, -EBUSY,
				    "%s: in use by another sweep: wait for its end, or choose "
				    "another directory (-o)",
				    log->dir);
	return errno == EOPNOTSUPP || errno == ENOLCK
		   ? 0
		   : pp_error_add(err, -errno, "%s: %s", path, g_strerror(errno));
}

/* --- reading -------------------------------------------------------------------------------- */

static bool read_kind(const char *text, enum pp_run_kind *ret)
{
	for (unsigned i = 0; i < PP_N_RUN_KINDS; i++)
		if (g_strcmp0(text, pp_run_kinds[i]) == 0) {
			*ret = i;
			return true;
		}
	return false;
}

/* Sums of such numbers, and their means rounded to nanoseconds, fit into 64 bits. */
#define MAX_NUMBER (INT64_C(1) << 60)

static const struct {
	const char *key;
	size_t offset;
	int64_t least;
} numbers[] = {
    {"workload", offsetof(struct pp_campaign_run, point.workload), 0},
    {"cpus", offsetof(struct pp_campaign_run, point.cpus), 0},
    {"threads", offsetof(struct pp_campaign_run, point.threads), 0},
    {"peak_threads", offsetof(struct pp_campaign_run, peak_threads), 0},
    {"wall_ns", offsetof(struct pp_campaign_run, measured.wall_ns), 1},
    {"user_ns", offsetof(struct pp_campaign_run, measured.user_ns), 0},
    {"system_ns", offsetof(struct pp_campaign_run, measured.system_ns), 0},
    {"max_rss_bytes", offsetof(struct pp_campaign_run, measured.max_rss_bytes), 0},
    {"voluntary", offsetof(struct pp_campaign_run, measured.voluntary), 0},
    {"involuntary", offsetof(struct pp_campaign_run, measured.involuntary), 0},
    {"program_bytes", offsetof(struct pp_campaign_run, program_bytes), 0},
};

/* Numbers that are missing are 0. */
static bool read_numbers(JsonObject *line, struct pp_campaign_run *run)
{
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		int64_t number = pp_json_int(line, numbers[i].key, 0);

		if (number < numbers[i].least || number > MAX_NUMBER)
			return false;
		*(int64_t *)(void *)((char *)run + numbers[i].offset) = number;
	}
	/* Only compared, and beyond MAX_NUMBER today. */
	run->program_modified_ns = pp_json_int(line, "program_modified_ns", 0);
	return true;
}

static bool read_status(JsonObject *line, struct pp_measured *measured)
{
	int64_t code = pp_json_int(line, "exit_status", 0);
	int64_t signal = pp_json_int(line, "signal", 0);

	if (code < 0 || code > 255 || signal < 0 || signal > 126)
		return false;
	measured->status = W_EXITCODE((int)code, (int)signal);
	return true;
}

/* A file in DIR. */
static bool is_name(const char *file)
{
	return *file && !strchr(file, '/') && strcmp(file, ".") != 0 && strcmp(file, "..") != 0;
}

/* False if a run cannot have these values. */
static bool read_values(JsonObject *line, struct pp_campaign_run *run)
{
	run->test = g_strdup(pp_json_string(line, "test"));
	run->failure = g_strdup(pp_json_string(line, "failure"));
	run->file = g_strdup(pp_json_string(line, "file"));
	if (!read_kind(pp_json_string(line, "kind"), &run->kind) || !run->test)
		return false;
	/* A recorded run that has not failed has a capture. */
	if (run->file ? !is_name(run->file) : run->kind == PP_RUN_RECORDED && !run->failure)
		return false;
	return read_numbers(line, run) && read_status(line, &run->measured);
}

/* NULL: it is no run. */
static struct pp_campaign_run *read_run(JsonObject *line)
{
	struct pp_campaign_run *run = g_new0(struct pp_campaign_run, 1);

	if (read_values(line, run))
		return run;
	pp_campaign_run_free(run);
	return NULL;
}

/* NULL: it is no JSON object. */
static JsonObject *parse(JsonParser *parser, const char *line, size_t len)
{
	JsonNode *root;

	if (!pp_json_is_shallow(line, len) ||
	    !json_parser_load_from_data(parser, line, (gssize)len, NULL))
		return NULL;
	root = json_parser_get_root(parser);
	return root && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
}

/* The tests as the first line has them. */
static char *tests_of(JsonObject *head)
{
	struct pp_json_writer json = {.to = g_string_new(NULL)};
	JsonArray *tests = pp_json_array(head, "tests");

	pp_json_write_node(&json, NULL, tests ? json_object_get_member(head, "tests") : NULL);
	return g_string_free(json.to, FALSE);
}

/* *ret_len: without a line that was cut short. */
static int read_lines(struct pp_campaign_log *log, const char *path, const char *plan,
		      const char *text, size_t len, size_t *ret_len, struct pp_error *err)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	const char *line = text, *end;

	for (; (end = memchr(line, '\n', (size_t)(text + len - line))); line = end + 1) {
		JsonObject *object = parse(parser, line, (size_t)(end - line));
		struct pp_campaign_run *run;

		if (line == text) {
			g_autofree char *tests = tests_of(object);

			if (!g_str_equal(tests, plan))
				return pp_error_add(err, -EINVAL,
						    "%s: begun with other tests: repeat its "
						    "arguments, or choose another directory (-o)",
						    path);
			continue;
		}
		run = object ? read_run(object) : NULL;
		if (!run)
			return pp_error_add(err, -EINVAL,
					    "%s: damaged: the line at byte %zu is no run: "
					    "remove it to continue with the others",
					    path, (size_t)(line - text));
		g_ptr_array_add(log->runs, run);
	}
	*ret_len = (size_t)(line - text);
	return 0;
}

static int resume_file(struct pp_campaign_log *log, const char *path, const char *plan,
		       struct pp_error *err)
{
	g_autofree char *text = NULL;
	g_autoptr(GError) failure = NULL;
	gsize size = 0;
	size_t len = 0;
	int rc;

	log->fd = open_file(path, O_WRONLY | O_APPEND);
	if (log->fd < 0)
		return pp_error_add(err, -errno, "nothing to resume: %s: %s", path,
				    g_strerror(errno));
	rc = lock_file(log, path, err);
	if (rc)
		return rc;
	if (!g_file_get_contents(path, &text, &size, &failure))
		return pp_error_add(err, -EIO, "%s", failure->message);
	rc = read_lines(log, path, plan, text, size, &len, err);
	if (rc)
		return rc;
	if (!len)
		return pp_error_add(err, -EINVAL,
				    "%s: empty: begin again in another directory (-o)", path);
	return ftruncate(log->fd, (off_t)len)
		   ? pp_error_add(err, -errno, "%s: %s", path, g_strerror(errno))
		   : 0;
}

/* --- writing -------------------------------------------------------------------------------- */

static int create_file(struct pp_campaign_log *log, const char *path, const char *plan,
		       struct pp_error *err)
{
	g_autofree char *head =
	    g_strdup_printf("{\"schema\":1,\"version\":\"%s\",\"tests\":%s}\n", GM_VERSION, plan);
	int rc = mkdir(log->dir, 0777) ? -errno : 0;

	if (rc == -EEXIST)
		return pp_error_add(err, -EEXIST,
				    "%s exists: continue it with --resume, or choose another "
				    "directory (-o)",
				    log->dir);
	if (rc)
		return pp_error_add(err, rc, "cannot create the directory '%s': %s", log->dir,
				    g_strerror(-rc));
	log->fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
	if (log->fd < 0)
		return pp_error_add(err, -errno, "%s: %s", path, g_strerror(errno));
	rc = lock_file(log, path, err);
	if (rc)
		return rc;
	rc = pp_write_all(log->fd, head, strlen(head));
	return rc ? pp_error_add(err, rc, "%s: %s", path, g_strerror(-rc)) : 0;
}

static void write_optional(struct pp_json_writer *json, const char *key, int64_t number)
{
	if (number)
		pp_json_write_int(json, key, number);
}

static char *make_line(const struct pp_campaign_run *run)
{
	struct pp_json_writer writer = {.to = g_string_new(NULL)}, *json = &writer;
	const struct pp_measured *measured = &run->measured;

	pp_json_write_open(json, NULL, '{');
	pp_json_write_text(json, "test", run->test);
	write_optional(json, "workload", run->point.workload);
	write_optional(json, "cpus", run->point.cpus);
	write_optional(json, "threads", run->point.threads);
	pp_json_write_text(json, "kind", pp_run_kinds[run->kind]);
	pp_json_write_int(json, "wall_ns", measured->wall_ns);
	pp_json_write_int(json, "user_ns", measured->user_ns);
	pp_json_write_int(json, "system_ns", measured->system_ns);
	pp_json_write_int(json, "max_rss_bytes", measured->max_rss_bytes);
	pp_json_write_int(json, "voluntary", measured->voluntary);
	pp_json_write_int(json, "involuntary", measured->involuntary);
	pp_json_write_exit(json, measured->status);
	if (run->failure)
		pp_json_write_text(json, "failure", run->failure);
	if (run->file)
		pp_json_write_text(json, "file", run->file);
	write_optional(json, "peak_threads", run->peak_threads);
	write_optional(json, "program_bytes", run->program_bytes);
	write_optional(json, "program_modified_ns", run->program_modified_ns);
	pp_json_write_close(json, '}');
	g_string_append_c(writer.to, '\n');
	return g_string_free(writer.to, FALSE);
}

int pp_campaign_log_add(struct pp_campaign_log *log, struct pp_campaign_run *run,
			struct pp_error *err)
{
	g_autofree char *line = make_line(run);
	int rc = pp_write_all(log->fd, line, strlen(line));

	g_ptr_array_add(log->runs, run);
	return rc ? pp_error_add(err, rc, "%s/" PP_CAMPAIGN_LOG ": %s", log->dir, g_strerror(-rc))
		  : 0;
}

/* -------------------------------------------------------------------------------------------- */

int pp_campaign_log_open(struct pp_campaign_log *log, const char *dir, const GPtrArray *tests,
			 bool resume, struct pp_error *err)
{
	g_autofree char *path = g_build_filename(dir, PP_CAMPAIGN_LOG, NULL);
	g_autofree char *plan = pp_plan_text(tests);

	*log = (struct pp_campaign_log){g_strdup(dir),
					g_ptr_array_new_with_free_func(pp_campaign_run_free), -1};
	return resume ? resume_file(log, path, plan, err) : create_file(log, path, plan, err);
}

void pp_campaign_log_done(struct pp_campaign_log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	g_ptr_array_unref(log->runs);
	g_free(log->dir);
}

bool pp_campaign_run_is_of(const struct pp_campaign_run *run, const struct pp_test *test,
			   const struct pp_point *point, enum pp_run_kind kind)
{
	return run->kind == kind && pp_point_equal(&run->point, point) &&
	       g_strcmp0(run->test, test->name) == 0;
}

GPtrArray *pp_campaign_log_find(const struct pp_campaign_log *log, const struct pp_test *test,
				const struct pp_point *point, enum pp_run_kind kind)
{
	GPtrArray *found = g_ptr_array_new();

	for (guint i = 0; i < log->runs->len; i++) {
		struct pp_campaign_run *run = log->runs->pdata[i];

		if (pp_campaign_run_is_of(run, test, point, kind))
			g_ptr_array_add(found, run);
	}
	return found;
}
