/* SPDX-License-Identifier: MIT */
/* See run_pages.h.  A page is made by this program itself, as `gprof-mt export`. */
#include "cli/campaign/run_pages.h"

#include <errno.h>

#include "cli/campaign/page.h"
#include "cli/progress.h"

static int export_page(const char *dir, const char *page, struct pp_error *err)
{
	const char *argv[] = {"/proc/self/exe", "export", "-i", dir,  "--format",
			      "html",		"-o",	  page, NULL, NULL};
	g_autoptr(GError) failure = NULL;
	int status = 0;

	if (!pp_cli_progress_is_wanted())
		argv[G_N_ELEMENTS(argv) - 2] = "-q";
	if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL,
			  &status, &failure))
		return pp_error_add(err, -EIO, "%s: %s", page, failure->message);
	if (!g_file_test(page, G_FILE_TEST_IS_REGULAR))
		return pp_error_add(err, -EIO, "%s: the export failed", page);
	return 0;
}

int pp_campaign_make_run_pages(const struct pp_campaign *campaign, struct pp_error *err)
{
	int ret = 0;

	for (guint i = 0; i < campaign->log.runs->len; i++) {
		const struct pp_campaign_run *run = campaign->log.runs->pdata[i];
		g_autofree char *dir = NULL, *page = NULL;
		struct pp_error failure = PP_ERROR_INIT;
		int rc = 0;

		if (run->kind != PP_RUN_RECORDED || run->failure)
			continue;
		dir = g_build_filename(campaign->log.dir, run->file, NULL);
		page = pp_campaign_run_page(dir);
		if (!g_file_test(page, G_FILE_TEST_EXISTS))
			rc = export_page(dir, page, ret ? &failure : err);
		ret = ret ? ret : rc;
		pp_error_done(&failure);
	}
	return ret;
}
