/* SPDX-License-Identifier: MIT */
/* gprof-mt replay: replays a run on simulated CPUs, from a capture or a model. */
#include "cli/commands.h"
#include "cli/live/live.h"
#include "cli/replay/arguments.h"
#include "cli/replay/rows.h"
#include "cli/replay/source.h"
#include "replay/model_file.h"

static int replay(const struct pp_cli_replay_arguments *arguments)
{
	struct pp_cli_replay_source source;
	struct pp_error err = PP_ERROR_INIT;
	int status = PP_EXIT_GOOD, rc = pp_cli_replay_source_read(&source, arguments, &err);

	if (rc == 0 && arguments->write)
		rc = pp_replay_write(source.model, arguments->write, &err);
	status = rc ? pp_cli_fail(&err) : pp_cli_replay_print_rows(arguments, &source);
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
