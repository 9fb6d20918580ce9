/* SPDX-License-Identifier: MIT */
/* The subcommands.  Each gets its own name as argv[0] and returns the exit status. */
#ifndef PP_CLI_COMMANDS_H
#define PP_CLI_COMMANDS_H

#include "core/error.h"
#include "runtime/config/config.h"

/* Exit statuses. */
#define PP_EXIT_GOOD	 0
#define PP_EXIT_FAILED	 1
#define PP_EXIT_USAGE	 2
#define PP_EXIT_EXCEEDED 3 /* diff: a budget is exceeded */

int pp_cmd_record(int argc, char **argv);
int pp_cmd_report(int argc, char **argv);
int pp_cmd_history(int argc, char **argv);
int pp_cmd_timeline(int argc, char **argv);
int pp_cmd_graph(int argc, char **argv);
int pp_cmd_diff(int argc, char **argv);
int pp_cmd_bottlenecks(int argc, char **argv);
int pp_cmd_sweep(int argc, char **argv);
int pp_cmd_predict(int argc, char **argv);
int pp_cmd_replay(int argc, char **argv);
int pp_cmd_suggest(int argc, char **argv);
int pp_cmd_snapshot(int argc, char **argv);
int pp_cmd_top(int argc, char **argv);
int pp_cmd_browse(int argc, char **argv);
int pp_cmd_export(int argc, char **argv);
int pp_cmd_doctor(int argc, char **argv);
int pp_cmd_collector(int argc, char **argv);
int pp_cmd_calibrate(int argc, char **argv);
int pp_cmd_complete(int argc, char **argv);

/* Prints "gprof-mt: ERROR" to stderr, clears err, and returns PP_EXIT_FAILED. */
int pp_cli_fail(struct pp_error *err);

/* Prints "gprof-mt COMMAND: MESSAGE" and a reference to --help to stderr; returns PP_EXIT_USAGE. */
int pp_cli_usage(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);

/*
 * Reads the file that the runtime libraries would read for a program started without `record`, on
 * top of *config.  Returns 0, also if there is no such file, or -errno.
 */
int pp_cli_read_default_config(struct gm_config *config, struct gm_config_error *error);

#endif
