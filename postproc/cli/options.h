/* SPDX-License-Identifier: MIT */
/* The options of a subcommand, read as all of them read theirs. */
#ifndef PP_CLI_OPTIONS_H
#define PP_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "symbols/symbols.h"

/* One option, to the parser and in --help; a table of them ends with one that has no name. */
struct pp_cli_option {
	const char *name;  /* behind "--" */
	const char *value; /* what --help calls its value; NULL: it has none */
	int number;	   /* what take() gets; its letter, too, if that is in `letters` */
	/* A few words, never with two spaces between them; NULL: it is refused, and not shown. */
	const char *help;
};

enum { PP_OPTION_DEMANGLE = 0x1000, PP_OPTION_NO_INLINE, PP_OPTION_NO_CACHE };

/* For the table of a subcommand that names addresses: how, which pp_cli_options_read() sees to. */
#define PP_CLI_OPTIONS_SYMBOLS                                                                     \
	{"demangle", "HOW", PP_OPTION_DEMANGLE,                                                    \
	 "C++ names: full (default), simple (no parameters) or no"},                               \
	    {"no-inline", NULL, PP_OPTION_NO_INLINE, "no inlined functions"},                      \
	{                                                                                          \
		"no-cache", NULL, PP_OPTION_NO_CACHE, "no cached names"                            \
	}

struct pp_cli_options {
	const char *command;
	const char *letters; /* as getopt() has them, "h" among them: ":i:h" */
	const struct pp_cli_option *table;
	const char *usage;	     /* what it takes: the first lines of --help */
	void (*print_further)(void); /* the list that these end in; NULL: none */
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

/* For the table of a subcommand. */
#define PP_CLI_OPTION_FORMAT(number)                                                               \
	{                                                                                          \
		"format", "FORMAT", number, "text (default), json or csv"                          \
	}

/* Of options that more than one subcommand has; PP_EXIT_GOOD, or the exit status. */
int pp_cli_take_format(const char *command, const char *value, enum pp_cli_format *ret_format);

#endif
