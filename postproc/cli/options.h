/* SPDX-License-Identifier: MIT */
/* Option parsing shared by all subcommands. */
#ifndef PP_CLI_OPTIONS_H
#define PP_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "symbols/symbols.h"

/* An option, for the parser and --help.  A table of options ends with one without name. */
struct pp_cli_option {
	const char *name;  /* without "--" */
	const char *value; /* its value's name in --help; NULL: no value */
	int number;	   /* passed to take(); also its letter, if that is in `letters` */
	/* A few words without double spaces; NULL: refuse the option, and do not list it. */
	const char *help;
};

/* Options that pp_cli_options_read() handles. */
enum { PP_OPTION_DEMANGLE = 0x1000, PP_OPTION_NO_INLINE, PP_OPTION_NO_CACHE, PP_OPTION_WIDE };

/* For subcommands that name addresses. */
#define PP_CLI_OPTIONS_SYMBOLS                                                                     \
	{"demangle", "HOW", PP_OPTION_DEMANGLE, "full, simple or no"},                             \
	    {"no-inline", NULL, PP_OPTION_NO_INLINE, "no inlined functions"},                      \
	{                                                                                          \
		"no-cache", NULL, PP_OPTION_NO_CACHE, "no cached names"                            \
	}

/* For subcommands that show their progress; it has the letter q. */
#define PP_CLI_OPTION_QUIET                                                                        \
	{                                                                                          \
		"quiet", NULL, 'q', "no progress line"                                             \
	}

/* For subcommands that print tables. */
#define PP_CLI_OPTION_WIDE                                                                         \
	{                                                                                          \
		"wide", NULL, PP_OPTION_WIDE, "all columns"                                        \
	}

struct pp_cli_options {
	const char *command;
	const char *letters; /* for getopt(), including "h": ":i:h" */
	const struct pp_cli_option *table;
	const char *usage;	     /* the arguments: the first lines of --help */
	void (*print_further)(void); /* prints a list at the end of --help; NULL: none */
	/*
	 * Handles an option; `value` is NULL if it has none.  Returns PP_EXIT_GOOD, or the exit
	 * status.
	 */
	int (*take)(void *data, int option, const char *value);
};

/*
 * Parses the options; `optind` is then the first argument.  Returns -1 to continue, else the exit
 * status, after help or an error message was printed.
 */
int pp_cli_options_read(const struct pp_cli_options *options, int argc, char **argv, void *data);

/* The number of words behind "--"; 0: there is none.  To be called before the options are read. */
int pp_cli_count_behind(int argc, char *const *argv);

/* The values of --demangle and --no-inline. */
const struct pp_symbols_options *pp_cli_symbols(void);

/* True if -q was given. */
bool pp_cli_is_quiet(void);

/* True if --wide was given. */
bool pp_cli_is_wide(void);

enum pp_cli_format { PP_CLI_TEXT, PP_CLI_JSON, PP_CLI_CSV };

/* A row for the table of a subcommand. */
#define PP_CLI_OPTION_FORMAT(number)                                                               \
	{                                                                                          \
		"format", "FORMAT", number, "text, json or csv"                                    \
	}

/* Handles an option shared by subcommands.  Returns PP_EXIT_GOOD, or the exit status. */
int pp_cli_take_format(const char *command, const char *value, enum pp_cli_format *ret_format);

/* The same, or html: *ret_is_page. */
int pp_cli_take_page_format(const char *command, const char *value, enum pp_cli_format *ret_format,
			    bool *ret_is_page);

#endif
