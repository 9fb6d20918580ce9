/* SPDX-License-Identifier: MIT */
/* The options of a subcommand, read as all of them read theirs. */
#ifndef PP_CLI_OPTIONS_H
#define PP_CLI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "input/symbols.h"

/* For the table of a subcommand, last: --help, which pp_cli_options_read() sees to, and the end. */
#define PP_CLI_OPTIONS_END                                                                         \
	{"help", no_argument, NULL, 'h'},                                                          \
	{                                                                                          \
		NULL, 0, NULL, 0                                                                   \
	}

/* For that of one that names addresses: how, which pp_cli_options_read() sees to, too. */
#define PP_CLI_OPTIONS_SYMBOLS                                                                     \
	{"demangle", required_argument, NULL, PP_OPTION_DEMANGLE},                                 \
	    {"no-inline", no_argument, NULL, PP_OPTION_NO_INLINE},                                 \
	{                                                                                          \
		"no-cache", no_argument, NULL, PP_OPTION_NO_CACHE                                  \
	}

enum { PP_OPTION_DEMANGLE = 0x1000, PP_OPTION_NO_INLINE, PP_OPTION_NO_CACHE };

/* As the help has them. */
#define PP_CLI_HELP_SYMBOLS                                                                        \
	"  --demangle HOW     names of C++: full (default), simple (without parameters), no\n"     \
	"  --no-inline        sites and paths by function, without what was inlined there\n"       \
	"  --no-cache         names and lines from the files alone, none from earlier runs\n"

struct pp_cli_options {
	const char *command;
	const char *letters; /* as getopt() has them, "h" among them: ":i:h" */
	const struct option *table;
	void (*print_help)(void);
	/* Takes one option; `value` is NULL where it has none.  PP_EXIT_GOOD, or the exit status.
	 */
	int (*take)(void *data, int option, const char *value);
};

/*
 * Reads the options; `optind` is then the first word that is none.  -1: go on; else the exit
 * status: help was printed, or something is wrong and was said.
 */
int pp_cli_options_read(const struct pp_cli_options *options, int argc, char **argv, void *data);

/* What --demangle and --no-inline said. */
const struct pp_symbols_options *pp_cli_symbols(void);

enum pp_cli_format { PP_CLI_TEXT, PP_CLI_JSON, PP_CLI_CSV };

/* Its line of --help. */
#define PP_CLI_HELP_FORMAT "  --format FORMAT    text (default), json or csv\n"

/* Of options that more than one subcommand has; PP_EXIT_GOOD, or the exit status. */
int pp_cli_take_format(const char *command, const char *value, enum pp_cli_format *ret_format);

#endif
