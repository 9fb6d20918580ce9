/* SPDX-License-Identifier: MIT */
/* Functions shared by all subcommands: printing errors, and reading the default configuration. */
#include "cli/commands.h"
#include "cli/progress.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

int pp_cli_fail(struct pp_error *err)
{
	g_autofree char *text = pp_error_text(err);

	pp_cli_progress_stop();
	fprintf(stderr, "gprof-mt: %s\n", text);
	pp_error_done(err);
	return PP_EXIT_FAILED;
}

int pp_cli_usage(const char *command, const char *format, ...)
{
	g_autofree char *message = NULL;
	va_list args;

	va_start(args, format);
	message = g_strdup_vprintf(format, args);
	va_end(args);
	fprintf(stderr, "gprof-mt %s: %s; see `gprof-mt %s --help`\n", command, message, command);
	return PP_EXIT_USAGE;
}

/* True if an outer `record` set the variable, which applies to its own capture. */
static bool is_of_capture(const char *config_file)
{
	g_autofree char *dir = g_path_get_dirname(config_file);
	g_autofree char *session = g_build_filename(dir, "session", NULL);

	return access(session, F_OK) == 0;
}

int pp_cli_read_default_config(struct gm_config *config, struct gm_config_error *error)
{
	const char *file = g_getenv("GPROF_MT_CONFIG");
	int rc;

	if (file && *file && !is_of_capture(file))
		return gm_config_read(file, config, error);
	rc = gm_config_read_local(config, error);
	return rc == -ENOENT ? 0 : rc;
}
