/* SPDX-License-Identifier: MIT */
/*
 * The files of `gprof-mt sweep`: the log of a campaign, which is continued without a run, and its
 * tables; and the key file with its tests.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "campaign/plan.h"
#include "cli/campaign/engine.h"
#include "cli/campaign/tables.h"
#include "fuzz.h"
#include "render/render.h"

/* The tests of the campaign: a log of others is refused. */
#define PLAN                                                                                       \
	"[test t]\ncommand=true {w} {t}\nworkload=1,2,3\nthreads=1,2,4\nwarmup=1\n"                \
	"[test u]\ncommand=true {w}\ncpus=1\nthreads=2\nworkload=1,2\n"

/* An error is one line for a terminal. */
static void check_error(struct pp_error *err)
{
	g_autofree char *text = NULL;

	MUST(err->causes && err->causes->len);
	text = pp_error_text(err);
	MUST(g_utf8_validate(text, -1, NULL) && *text);
	for (const char *p = text; *p; p = g_utf8_next_char(p))
		MUST(!g_unichar_iscntrl(g_utf8_get_char(p)));
	pp_error_done(err);
}

/* --- the log ---------------------------------------------------------------------------------- */

static char *campaign_dir;

static void remove_campaign(void)
{
	g_autofree char *path = g_build_filename(campaign_dir, PP_CAMPAIGN_LOG, NULL);

	unlink(path);
	rmdir(campaign_dir);
}

/* Inputs need no line with the tests. */
static void write_log(const GPtrArray *tests, const uint8_t *data, size_t len_bytes)
{
	g_autofree char *path = NULL, *plan = pp_plan_text(tests);
	g_autofree char *head = g_strdup_printf("{\"schema\":1,\"tests\":%s}\n", plan);
	int fd;

	if (!campaign_dir) {
		campaign_dir = g_dir_make_tmp("gprof-mt-fuzz-XXXXXX", NULL);
		MUST(campaign_dir);
		atexit(remove_campaign);
	}
	path = g_build_filename(campaign_dir, PP_CAMPAIGN_LOG, NULL);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	MUST(fd >= 0);
	if (!(len_bytes > 1 && data[0] == '{' && data[1] == '"' &&
	      memmem(data, len_bytes, "schema", 6)))
		MUST(write(fd, head, strlen(head)) == (ssize_t)strlen(head));
	MUST(write(fd, data, len_bytes) == (ssize_t)len_bytes);
	close(fd);
}

static void render_tables(struct pp_campaign *campaign)
{
	g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	g_autoptr(GString) text = g_string_new(NULL), json = g_string_new(NULL);

	pp_campaign_tables(campaign, tables);
	for (guint i = 0; i < tables->len; i++)
		pp_render_text(text, tables->pdata[i], &(struct pp_text_style){0});
	fuzz_check_printable(text);
	pp_render_json(json, (struct pp_table **)tables->pdata, tables->len);
}

void fuzz_run_campaign(const uint8_t *data, size_t len_bytes)
{
	struct pp_campaign campaign = {.n_runs = 4, .metric = PP_BY_APWT};
	struct pp_error err = PP_ERROR_INIT;
	static const char plan[] = PLAN;

	MUST(pp_plan_read(fuzz_file((const uint8_t *)plan, sizeof(plan) - 1), &campaign.tests,
			  &err) == 0);
	write_log(campaign.tests, data, len_bytes);
	campaign.settings = g_ptr_array_new();
	campaign.budget_ns = -1; /* used up before the first run */
	if (pp_campaign_log_open(&campaign.log, campaign_dir, campaign.tests, true, &err) < 0) {
		check_error(&err);
	} else {
		guint n = campaign.log.runs->len;

		MUST(pp_campaign_run_all(&campaign, &err) == 0);
		MUST(campaign.log.runs->len == n);
		render_tables(&campaign);
		pp_campaign_done(&campaign);
	}
	pp_campaign_log_done(&campaign.log);
	g_ptr_array_unref(campaign.settings);
	g_ptr_array_unref(campaign.tests);
}

/* --- the key file ----------------------------------------------------------------------------- */

/* Each test's commands can be made. */
static void make_commands(const struct pp_test *test)
{
	const GArray *workload = test->workload, *threads = test->threads;
	struct pp_point point = {
	    .workload = workload && workload->len ? g_array_index(workload, int64_t, 0) : 0,
	    .threads =
		threads && threads->len ? g_array_index(threads, int64_t, threads->len - 1) : 0};
	g_auto(GStrv) command = pp_test_command(test, &point);

	MUST(g_strv_length(command) == g_strv_length(test->command) && *command);
	for (char **word = command; *word; word++)
		MUST(g_utf8_validate(*word, -1, NULL));
}

void fuzz_run_plan(const uint8_t *data, size_t len_bytes)
{
	struct pp_error err = PP_ERROR_INIT;
	g_autoptr(GPtrArray) tests = NULL;
	g_autofree char *text = NULL;

	if (pp_plan_read(fuzz_file(data, len_bytes), &tests, &err) < 0) {
		check_error(&err);
		return;
	}
	for (guint i = 0; i < tests->len; i++)
		make_commands(tests->pdata[i]);
	text = pp_plan_text(tests);
	MUST(!strchr(text, '\n') && g_utf8_validate(text, -1, NULL));
}
