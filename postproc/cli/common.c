/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"

#include <stdio.h>

int pp_cli_fail(struct pp_error *err)
{
	g_autofree char *text = pp_error_text(err);

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
