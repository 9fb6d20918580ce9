/* SPDX-License-Identifier: MIT */
/* gprof-mt predict ulcp: makes the models, replays both, and prints the tables. */
#include "cli/ulcp/ulcp.h"

#include "cli/commands.h"
#include "cli/ulcp/tables.h"
#include "export/out.h"
#include "render/page.h"
#include "replay/model_file.h"
#include "table/top.h"

static int write_page(const struct pp_cli_ulcp_arguments *arguments, const char *words,
		      GPtrArray *tables, struct pp_error *err)
{
	const struct pp_page page = {.title = "Unnecessary lock contention", .words = words};
	struct pp_out out = {0};
	int rc = pp_out_open(&out, arguments->replay.page, err);

	if (rc == 0) {
		pp_render_page(out.text, &page, (struct pp_table *const *)tables->pdata,
			       tables->len);
		rc = pp_out_finish(&out, err);
	}
	pp_out_done(&out);
	return rc;
}

static int print(const struct pp_cli_ulcp_arguments *arguments, GPtrArray *tables)
{
	const struct pp_cli_tables *how = &arguments->replay.how;
	struct pp_table *times = tables->pdata[0];
	g_autofree char *words = pp_cli_ulcp_words(times);
	struct pp_error err = PP_ERROR_INIT;

	if (how->has_top && how->top)
		pp_table_keep_top(tables->pdata[tables->len - 1], how->top);
	if (arguments->replay.is_page)
		return write_page(arguments, words, tables, &err) ? pp_cli_fail(&err)
								  : PP_EXIT_GOOD;
	if (words)
		g_ptr_array_insert(times->notes, 0, g_steal_pointer(&words));
	return pp_cli_tables_print(how, (struct pp_table *const *)tables->pdata, tables->len);
}

static int predict(const struct pp_cli_ulcp_arguments *arguments, struct pp_cli_ulcp_models *models)
{
	g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	struct pp_error err = PP_ERROR_INIT;
	int rc = 0;

	if (arguments->replay.write)
		rc = pp_replay_write(models->without[PP_CLI_ULCP_RECORDED].model,
				     arguments->replay.write, &err);
	if (rc == 0)
		rc = pp_cli_ulcp_tables(arguments, models, tables, &err);
	return rc ? pp_cli_fail(&err) : print(arguments, tables);
}

int pp_cli_ulcp(const struct pp_cli_ulcp_arguments *arguments)
{
	struct pp_cli_ulcp_models models;
	struct pp_error err = PP_ERROR_INIT;
	int rc = pp_cli_ulcp_models_make(&models, arguments, &err);
	int status = rc ? pp_cli_fail(&err) : predict(arguments, &models);

	status = MAX(status, MAX(models.source.status, models.accesses.status));
	pp_cli_ulcp_models_done(&models);
	return status;
}
