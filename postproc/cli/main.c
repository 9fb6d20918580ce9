/* SPDX-License-Identifier: MIT */
/* gprof-mt COMMAND ARG...: runs a subcommand. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
};

static const struct command commands[] = {
    {"record", pp_cmd_record, "run a program and record its calls, waits and scheduling"},
    {"report", pp_cmd_report, "print tables: per thread, per lock, per function"},
    {"history", pp_cmd_history, "print the operations on objects, in order of time"},
    {"timeline", pp_cmd_timeline, "print all events of one thread, in order of time"},
    {"graph", pp_cmd_graph, "print a graph of threads, functions or locks"},
    {"diff", pp_cmd_diff, "compare two captures, by thread, function, object and site"},
    {"bottlenecks", pp_cmd_bottlenecks, "rank critical sections over the captures of several runs"},
    {"sweep", pp_cmd_sweep, "find workloads that expose a synchronization problem"},
    {"predict", pp_cmd_predict, "predict what other ways of locking would gain"},
    {"replay", pp_cmd_replay, "replay a run on other CPUs, or with a change"},
    {"suggest", pp_cmd_suggest, "suggest changes of locks, with what they would gain"},
    {"snapshot", pp_cmd_snapshot, "write what a running recording has now as a capture"},
    {"top", pp_cmd_top, "show the threads and waits of a running program"},
    {"browse", pp_cmd_browse, "browse a capture in the terminal"},
    {"export", pp_cmd_export, "write a capture for another viewer"},
    {"doctor", pp_cmd_doctor, "show what can be recorded here, and how to record more"},
    {"collector", pp_cmd_collector, NULL}, /* internal, for libgmon-mt */
    {"calibrate", pp_cmd_calibrate, NULL}, /* internal, for predict */
    {"complete", pp_cmd_complete, NULL},   /* internal, for the shells' completions */
};

static void print_help(FILE *to)
{
	fprintf(to, "gprof-mt, a profiler for threads\n\nusage: gprof-mt COMMAND [ARG...]\n\n");
	for (unsigned i = 0; i < G_N_ELEMENTS(commands); i++)
		if (commands[i].summary)
			fprintf(to, "  %-11s  %s\n", commands[i].name, commands[i].summary);
	fprintf(to, "\nSee gprof-mt COMMAND --help, or man gprof-mt-COMMAND.\n");
}

static const struct command *find_command(const char *name)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* Flushes standard output, since writing its buffer may still fail. */
static int finish(int status)
{
	struct pp_error err = PP_ERROR_INIT;

	if (status != PP_EXIT_GOOD || (fflush(stdout) == 0 && !ferror(stdout)))
		return status;
	pp_error_add(&err, -errno, "standard output: %s", g_strerror(errno));
	return pp_cli_fail(&err);
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		print_help(stderr);
		return PP_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("gprof-mt %s\n", GM_VERSION);
		return finish(PP_EXIT_GOOD);
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		print_help(stdout);
		return finish(PP_EXIT_GOOD);
	}
	command = find_command(argv[1]);
	if (!command) {
		fprintf(stderr, "gprof-mt: no command '%s'; see `gprof-mt --help`\n", argv[1]);
		return PP_EXIT_USAGE;
	}
	return finish(command->run(argc - 1, argv + 1));
}
