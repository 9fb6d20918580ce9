/* SPDX-License-Identifier: MIT */
/* gprof-mt replay: replays a run from a capture or model, on simulated CPUs or by real threads. */
#include <errno.h>

#include "cli/commands.h"
#include "cli/live/live.h"
#include "cli/replay/arguments.h"
#include "cli/replay/check.h"
#include "cli/replay/page.h"
#include "cli/replay/rank.h"
#include "cli/replay/rows.h"
#include "cli/replay/same.h"
#include "cli/replay/source.h"
#include "cli/replay/what_if.h"
#include "replay/model_file.h"

/* Returns -EINVAL if there is no table. */
static int add(GPtrArray *tables, struct pp_table *table)
{
	if (!table)
		return -EINVAL;
	g_ptr_array_add(tables, table);
	return 0;
}

/* Adds the tables that are asked for. Returns 0 or -errno; *ret_good: what --check tells. */
static int make_tables(const struct pp_cli_replay_arguments *arguments,
		       const struct pp_cli_replay_source *source, GPtrArray *tables, bool *ret_good,
		       struct pp_error *err)
{
	*ret_good = true;
	if (arguments->changes->len)
		return pp_cli_replay_what_if(arguments, source, tables, err);
	if (arguments->check)
		return add(tables, pp_cli_replay_check(arguments, source, ret_good));
	if (arguments->rank && pp_cli_replay_rank(arguments, source, tables, err))
		return -EINVAL;
	return arguments->rank && !arguments->cpus
		   ? 0
		   : add(tables, pp_cli_replay_rows(arguments, source, NULL, err));
}

static int print(const struct pp_cli_replay_arguments *arguments,
		 const struct pp_cli_replay_source *source)
{
	g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func((GDestroyNotify)pp_table_free);
	struct pp_error err = PP_ERROR_INIT;
	int status = PP_EXIT_GOOD;
	bool is_good;

	if (make_tables(arguments, source, tables, &is_good, &err) ||
	    (arguments->is_page && pp_cli_replay_page(arguments, tables, &err)))
		return pp_cli_fail(&err);
	if (!arguments->is_page)
		status = pp_cli_tables_print(&arguments->how,
					     (struct pp_table *const *)tables->pdata, tables->len);
	return is_good ? status : PP_EXIT_FAILED;
}

static int replay(const struct pp_cli_replay_arguments *arguments)
{
	struct pp_cli_replay_source source;
	struct pp_error err = PP_ERROR_INIT;
	int status = PP_EXIT_GOOD, rc = pp_cli_replay_source_read(&source, arguments, &err);

	if (rc == 0 && arguments->write)
		rc = pp_replay_write(source.model, arguments->write, &err);
	if (rc == 0)
		rc = pp_cli_replay_same(arguments, &source, &err);
	status = rc ? pp_cli_fail(&err) : print(arguments, &source);
	status = MAX(status, source.status);
	pp_cli_replay_source_done(&source);
	return status;
}

int pp_cmd_replay(int argc, char **argv)
{
	struct pp_cli_replay_arguments arguments;
	int status;

	if (pp_cli_live_is_meant(argc, argv))
		return pp_cli_live(argc, argv);
	status = pp_cli_replay_arguments_read(&arguments, argc, argv);
	if (status < 0)
		status = replay(&arguments);
	pp_cli_replay_arguments_done(&arguments);
	return status;
}
