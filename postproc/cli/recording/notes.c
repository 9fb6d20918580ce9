/* SPDX-License-Identifier: MIT */
/* Notes go to stderr, where they do not mix with the program's output. */
#include "cli/recording/notes.h"

#include <stdio.h>

#include "cli/options.h"

void pp_record_note(const char *format, ...)
{
	va_list args;

	if (pp_cli_is_quiet())
		return;
	fputs("gprof-mt: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

void pp_record_note_kernel(const struct pp_run *run)
{
	const struct pp_collector *collector = run->collector;
	bool has_pairs = pp_collector_has_pairs(collector);
	bool is_lttng = run->config->kernel == GM_KERNEL_LTTNG;
	/* The reason why another source was refused is of interest to those who asked for it. */
	bool has_reason =
	    !collector->best && !has_pairs && !is_lttng && run->config->kernel != GM_KERNEL_AUTO;
	g_autofree char *events = g_strjoinv(", ", collector->missing);
	const char *scheduling = "";

	if (!collector->best && (has_pairs || is_lttng))
		pp_record_note("kernel events: %s", collector->why);
	else if (!collector->best)
		scheduling = collector->source == GM_KERNEL_SWITCHES ? "wakers, next threads"
								     : "scheduling events";
	if (!*scheduling && !*events)
		return;
	pp_record_note("not recorded here: %s%s%s%s%s%s; see gprof-mt doctor", scheduling,
		       *scheduling && *events ? ", " : "", events, has_reason ? " (" : "",
		       has_reason ? collector->why : "", has_reason ? ")" : "");
}
