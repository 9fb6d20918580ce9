/* SPDX-License-Identifier: MIT */
/*
 * How a subcommand prints tables: as text or JSON all of them; as CSV one, or each to a file of its
 * own, since whatever reads CSV takes a file for one table.
 */
#ifndef PP_CLI_TABLES_H
#define PP_CLI_TABLES_H

#include "cli/options.h"
#include "table/table.h"

/* What getopt_long() gives for them. */
enum { PP_CLI_TABLES_FORMAT = 0x200, PP_CLI_TABLES_TABLE, PP_CLI_TABLES_OUTPUT };

/* For the table of a subcommand. */
#define PP_CLI_TABLES_OPTIONS                                                                      \
	PP_CLI_OPTION_FORMAT(PP_CLI_TABLES_FORMAT),                                                \
	    {"table", "TABLE", PP_CLI_TABLES_TABLE,                                                \
	     "csv: the table, named as in json (default: the first)"},                             \
	    PP_CLI_TABLES_OPTION_OUTPUT

#define PP_CLI_TABLES_OPTION_OUTPUT                                                                \
	{                                                                                          \
		"output", "DIR", PP_CLI_TABLES_OUTPUT, "csv: all tables, each to DIR/TABLE.csv"    \
	}

struct pp_cli_tables {
	enum pp_cli_format format;
	const char *key; /* --table; NULL: the first */
	const char *dir; /* --output; NULL: standard output */
};

/* Takes the option, if it is one of these; *ret_status: PP_EXIT_GOOD, or the exit status. */
bool pp_cli_tables_take(const char *command, struct pp_cli_tables *how, int option,
			const char *value, int *ret_status);

/* Says, as wrong usage, what does not go together.  PP_EXIT_GOOD: nothing. */
int pp_cli_tables_check(const char *command, const struct pp_cli_tables *how, unsigned n_sections);

/* Notes of what is printed as CSV go to stderr.  The exit status. */
int pp_cli_tables_print(const struct pp_cli_tables *how, struct pp_table *const *tables,
			unsigned n_tables);

/* The one row of that table, in a document too long for memory: JSON or CSV.  The first? */
void pp_cli_append_row(GString *to, enum pp_cli_format format, const struct pp_table *table,
		       bool is_first);

#endif
