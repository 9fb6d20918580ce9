/* SPDX-License-Identifier: MIT */
/*
 * Printing of tables: text and JSON contain all tables; CSV contains one, or each goes to a file of
 * its own, since readers of CSV expect one table per file.
 */
#ifndef PP_CLI_TABLES_H
#define PP_CLI_TABLES_H

#include "cli/options.h"
#include "table/table.h"

/* Option numbers for getopt_long(). */
enum { PP_CLI_TABLES_FORMAT = 0x200, PP_CLI_TABLES_TABLE, PP_CLI_TABLES_OUTPUT, PP_CLI_TABLES_TOP };

/* Rows for the table of a subcommand. */
#define PP_CLI_TABLES_OPTIONS                                                                      \
	PP_CLI_OPTION_FORMAT(PP_CLI_TABLES_FORMAT),                                                \
	    {"table", "TABLE", PP_CLI_TABLES_TABLE, "csv: this table only"},                       \
	    PP_CLI_TABLES_OPTION_OUTPUT, PP_CLI_OPTION_WIDE

#define PP_CLI_TABLES_OPTION_OUTPUT                                                                \
	{                                                                                          \
		"output", "DIR", PP_CLI_TABLES_OUTPUT, "all, to DIR/*.csv"                         \
	}

struct pp_cli_tables {
	enum pp_cli_format format;
	const char *key; /* --table; NULL: the first table */
	const char *dir; /* --output; NULL: standard output */
	bool has_top;
	unsigned top; /* --top: the maximum number of rows; 0: all */
};

/* Handles the option if it is one of these; *ret_status: PP_EXIT_GOOD, or the exit status. */
bool pp_cli_tables_take(const char *command, struct pp_cli_tables *how, int option,
			const char *value, int *ret_status);

/*
 * Reports a usage error for options that cannot be combined.  Returns PP_EXIT_GOOD if there are
 * none.
 */
int pp_cli_tables_check(const char *command, const struct pp_cli_tables *how, unsigned n_sections);

/* Prints the tables; notes on CSV tables go to stderr.  Returns the exit status. */
int pp_cli_tables_print(const struct pp_cli_tables *how, struct pp_table *const *tables,
			unsigned n_tables);

/*
 * Appends the table's only row, in JSON or CSV, to a document that is printed in parts. is_first:
 * it is the document's first row.
 */
void pp_cli_append_row(GString *to, enum pp_cli_format format, const struct pp_table *table,
		       bool is_first);

#endif
