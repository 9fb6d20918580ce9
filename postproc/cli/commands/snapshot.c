/* SPDX-License-Identifier: MIT */
/* gprof-mt snapshot: writes what a running recording has now as a capture. */
#include <errno.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/recording/snapshot.h"
#include "cli/view.h"
#include "capture/live.h"
#include "monitor/capture_of.h"

static int take_option(void *data, int option, const char *value)
{
	(void)option;
	*(const char **)data = value;
	return PP_EXIT_GOOD;
}

static const struct pp_cli_option option_table[] = {
    {"output", "DIR", 'o', "the snapshot (default CAPTURE.snapshot.N)"},
    {0},
};

static const struct pp_cli_options options = {
    .command = "snapshot",
    .letters = ":o:h",
    .table = option_table,
    .usage = "snapshot [OPTION...] [PID|DIR]\n\n"
	     "Writes what the recording of process PID, or into the capture DIR "
	     "(default\n" PP_DEFAULT_CAPTURE "), has at this moment as a capture of its own.",
    .take = take_option,
};

/* Returns 0 if a program is being recorded into it. */
static int check_live(const char *dir, struct pp_error *err)
{
	struct pp_capture *capture;
	int ret;

	pp_live_is_without_kernel();
	ret = pp_capture_open(dir, &capture, err);
	if (ret < 0)
		return ret;
	if (!pp_model_is_live(capture->model) || pp_live_is_snapshot(capture->model))
		ret = pp_error_add(err, -ESRCH,
				   "%s: no program is being recorded into it any more; the capture "
				   "itself has all that there is",
				   dir);
	pp_capture_free(capture);
	return ret;
}

static int snapshot(const char *target, const char *out)
{
	struct pp_error err = PP_ERROR_INIT;
	g_autofree char *dir = pp_capture_named(target, &err), *made = NULL, *text = NULL;

	if (!dir || check_live(dir, &err) ||
	    pp_snapshot_write(dir, out, "gprof-mt snapshot", NULL, &made, &err))
		return pp_cli_fail(&err);
	text = pp_snapshot_describe(made);
	printf("%s\n", text);
	return fflush(stdout) ? PP_EXIT_FAILED : PP_EXIT_GOOD;
}

int pp_cmd_snapshot(int argc, char **argv)
{
	const char *out = NULL;
	int status = pp_cli_options_read(&options, argc, argv, &out);

	if (status >= 0)
		return status;
	if (argc - optind > 1)
		return pp_cli_usage("snapshot", "unexpected argument '%s'", argv[optind + 1]);
	return snapshot(optind < argc ? argv[optind] : PP_DEFAULT_CAPTURE, out);
}
