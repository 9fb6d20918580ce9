/* SPDX-License-Identifier: MIT */
/*
 * A run is recorded by this program itself, as `gprof-mt record`.
 *
 * A run prints into one file, which is kept under another name if the run fails.
 */
#include "cli/campaign/runs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/capture.h"
#include "cli/peak.h"
#include "cli/progress.h"
#include "core/text/duration.h"

#define OUTPUT "output"

static bool progress_shown;

/* --- progress ------------------------------------------------------------------------------- */

static int64_t now_ns(void)
{
	return g_get_monotonic_time() * 1000;
}

/* ", at most 3:20 min left", or "" at first. */
static char *left_text(const struct pp_campaign *campaign)
{
	int64_t passed_ns = now_ns() - campaign->start_ns;
	double left_s = (double)passed_ns / 1e9 / campaign->n_made * campaign->n_left;
	g_autofree char *left = NULL;

	if (!campaign->n_made)
		return g_strdup("");
	if (campaign->budget_ns)
		left_s = MIN(left_s, (double)(campaign->budget_ns - passed_ns) / 1e9);
	left = pp_cli_progress_left(MAX(left_s, 0));
	return g_strdup_printf(", at most %s left", left);
}

static void add_value(GString *text, const char *name, int64_t value)
{
	if (value)
		g_string_append_printf(text, " %s=%" PRId64, name, value);
}

static void show_progress(const struct pp_campaign *campaign, const struct pp_test *test,
			  const struct pp_point *point, enum pp_run_kind kind, guint at, uint64_t n)
{
	g_autofree char *left = NULL;
	g_autoptr(GString) values = g_string_new(NULL);

	if (!pp_cli_progress_is_wanted())
		return;
	left = left_text(campaign);
	add_value(values, "w", point->workload);
	add_value(values, "cpus", point->cpus);
	add_value(values, "t", point->threads);
	dprintf(STDERR_FILENO, "\rgprof-mt: %s%s: %s run %u of %" PRIu64 "%s\033[K", test->name,
		values->str, pp_run_kinds[kind], at + 1, n, left);
	progress_shown = true;
}

void pp_campaign_progress_end(void)
{
	if (progress_shown)
		dprintf(STDERR_FILENO, "\r\033[K");
	progress_shown = false;
}

/* --- failures ------------------------------------------------------------------------------- */

/* Why a run does not count, from how it ended; NULL: it ended well. */
static char *failure_of(const struct pp_campaign *campaign, const struct pp_measured *measured)
{
	int status = measured->status;

	if (measured->timed_out) {
		g_autofree char *limit = pp_duration_text(campaign->timeout_ns);

		return g_strdup_printf("killed after %s (--timeout)", limit);
	}
	if (WIFSIGNALED(status))
		return g_strdup_printf("ended by signal %d (%s)", WTERMSIG(status),
				       strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		return g_strdup_printf("exit status %d", WEXITSTATUS(status));
	return NULL;
}

/* Runs the test's check; returns why it failed, or NULL. */
static char *check_failure(const struct pp_campaign *campaign, const struct pp_test *test,
			   const char *output, int *ret_interrupted)
{
	char *argv[] = {(char *)"sh", (char *)"-c", test->check, NULL};
	struct pp_measure how = {.argv = argv, .input = output, .timeout_ns = campaign->timeout_ns};
	g_autofree char *failure = NULL;
	struct pp_error err = PP_ERROR_INIT;
	struct pp_measured measured;

	if (!test->check)
		return NULL;
	if (pp_measure_run(&how, &measured, &err)) {
		failure = pp_error_text(&err);
		pp_error_done(&err);
	} else {
		*ret_interrupted = measured.interrupted;
		failure = failure_of(campaign, &measured);
	}
	return failure ? g_strdup_printf("check: %s", failure) : NULL;
}

/* --- captures ------------------------------------------------------------------------------- */

/* Reads the number of threads.  Returns why the capture cannot be used, or NULL. */
static char *read_capture(const char *dir, int64_t *ret_peak)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_capture *capture;
	char *text;

	if (pp_capture_open(dir, &capture, &err) == 0) {
		*ret_peak = pp_cli_peak_threads(capture->model);
		pp_capture_free(capture);
		return NULL;
	}
	text = pp_error_text(&err);
	pp_error_done(&err);
	return text;
}

/* gprof-mt record -q --set ... -o DIR -- COMMAND...  The caller frees it with g_strfreev(). */
static char **record_command(const struct pp_campaign *campaign, const char *dir, char **command)
{
	GPtrArray *argv = g_ptr_array_new();

	g_ptr_array_add(argv, g_strdup("/proc/self/exe"));
	g_ptr_array_add(argv, g_strdup("record"));
	g_ptr_array_add(argv, g_strdup("-q"));
	for (guint i = 0; i < campaign->settings->len; i++) {
		g_ptr_array_add(argv, g_strdup("--set"));
		g_ptr_array_add(argv, g_strdup(campaign->settings->pdata[i]));
	}
	g_ptr_array_add(argv, g_strdup("-o"));
	g_ptr_array_add(argv, g_strdup(dir));
	g_ptr_array_add(argv, g_strdup("--"));
	for (char **word = command; *word; word++)
		g_ptr_array_add(argv, g_strdup(*word));
	g_ptr_array_add(argv, NULL);
	return (char **)g_ptr_array_free(argv, FALSE);
}

static char *capture_name(const struct pp_campaign *campaign, const struct pp_test *test,
			  const struct pp_point *point)
{
	g_autoptr(GString) name = g_string_new(test->name);
	static const char letters[] = {'w', 'c', 't'};
	const int64_t values[] = {point->workload, point->cpus, point->threads};

	for (unsigned i = 0; i < G_N_ELEMENTS(values); i++)
		if (values[i])
			g_string_append_printf(name, ".%c%" PRId64, letters[i], values[i]);
	g_string_append_printf(name, ".%u", campaign->log.runs->len + 1);
	return g_string_free(g_steal_pointer(&name), FALSE);
}

/* --- a run ---------------------------------------------------------------------------------- */

/* Keeps what a failed run printed, if it printed something.  Returns its name in DIR, or NULL. */
static char *keep_output(const struct pp_campaign *campaign, const char *output)
{
	g_autofree char *name = g_strdup_printf("failed.%u", campaign->log.runs->len + 1);
	g_autofree char *path = g_build_filename(campaign->log.dir, name, NULL);
	struct stat status;

	if (stat(output, &status) || !status.st_size || rename(output, path))
		return NULL;
	return g_steal_pointer(&name);
}

static int execute(const struct pp_campaign *campaign, const struct pp_test *test,
		   struct pp_campaign_run *run, const char *output, struct pp_error *err)
{
	g_auto(GStrv) command = pp_test_command(test, &run->point), argv = NULL;
	struct pp_measure how = {.n_cpus = (unsigned)run->point.cpus,
				 .timeout_ns = campaign->timeout_ns,
				 .output = output};
	g_autofree char *dir = NULL;
	int rc;

	if (run->kind == PP_RUN_RECORDED) {
		run->file = capture_name(campaign, test, &run->point);
		dir = g_build_filename(campaign->log.dir, run->file, NULL);
		argv = record_command(campaign, dir, command);
	}
	how.argv = argv ? argv : command;
	rc = pp_measure_run(&how, &run->measured, err);
	if (rc || run->measured.interrupted)
		return rc;
	run->failure = failure_of(campaign, &run->measured);
	if (!run->failure)
		run->failure = check_failure(campaign, test, output, &run->measured.interrupted);
	if (dir && !run->failure)
		run->failure = read_capture(dir, &run->peak_threads);
	if (run->failure) {
		g_free(run->file);
		run->file = keep_output(campaign, output);
	}
	return 0;
}

/* True if the campaign is to end. */
static bool ends(struct pp_campaign *campaign)
{
	if (campaign->end == PP_END_DONE && pp_measure_interrupted())
		campaign->end = PP_END_INTERRUPTED;
	if (campaign->end == PP_END_DONE && campaign->budget_ns &&
	    now_ns() - campaign->start_ns >= campaign->budget_ns)
		campaign->end = PP_END_BUDGET;
	return campaign->end != PP_END_DONE;
}

/* Notes which build of the program runs, if its file does not depend on the point. */
static void note_program(const struct pp_test *test, struct pp_campaign_run *run)
{
	g_autofree char *path =
	    strchr(test->command[0], '{') ? NULL : g_find_program_in_path(test->command[0]);
	struct stat status;

	if (!path || stat(path, &status))
		return;
	run->program_bytes = status.st_size;
	run->program_modified_ns =
	    status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
}

/* Runs of two builds are not averaged. */
static int check_program(const struct pp_campaign *campaign, const struct pp_test *test,
			 const struct pp_campaign_run *run, struct pp_error *err)
{
	for (guint i = campaign->log.runs->len; i-- > 0;) {
		const struct pp_campaign_run *before = campaign->log.runs->pdata[i];

		if (!g_str_equal(before->test, run->test) || !before->program_modified_ns ||
		    !run->program_modified_ns)
			continue;
		return before->program_bytes == run->program_bytes &&
			       before->program_modified_ns == run->program_modified_ns
			   ? 0
			   : pp_error_add(err, -EINVAL,
					  "%s has changed since run %u of the campaign: begin "
					  "again in another directory (-o)",
					  test->command[0], i + 1);
	}
	return 0;
}

static int make_run(struct pp_campaign *campaign, const struct pp_test *test,
		    const struct pp_point *point, enum pp_run_kind kind, struct pp_error *err)
{
	g_autofree char *output = g_build_filename(campaign->log.dir, OUTPUT, NULL);
	struct pp_campaign_run *run = g_new0(struct pp_campaign_run, 1);
	int rc;

	run->test = g_strdup(test->name);
	run->point = *point;
	run->kind = kind;
	note_program(test, run);
	rc = check_program(campaign, test, run, err);
	if (rc == 0)
		rc = execute(campaign, test, run, output, err);
	if (rc || run->measured.interrupted) {
		pp_campaign_run_free(run);
		return rc;
	}
	campaign->n_made++;
	campaign->n_left -= campaign->n_left > 0;
	return pp_campaign_log_add(&campaign->log, run, err);
}

static guint count_failed(const GPtrArray *runs)
{
	guint n = 0;

	for (guint i = 0; i < runs->len; i++)
		n += ((const struct pp_campaign_run *)runs->pdata[i])->failure != NULL;
	return n;
}

int pp_campaign_make_runs(struct pp_campaign *campaign, const struct pp_test *test,
			  const struct pp_point *point, enum pp_run_kind kind, uint64_t n,
			  struct pp_error *err)
{
	int rc = 0;

	while (rc == 0) {
		g_autoptr(GPtrArray) made = pp_campaign_log_find(&campaign->log, test, point, kind);
		guint n_failed = count_failed(made);

		if (made->len >= n || (n_failed >= PP_CAMPAIGN_HOPELESS && n_failed == made->len) ||
		    ends(campaign))
			break;
		show_progress(campaign, test, point, kind, made->len, n);
		rc = make_run(campaign, test, point, kind, err);
	}
	if (rc)
		campaign->end = PP_END_FAILED;
	return rc;
}
