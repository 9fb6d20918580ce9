/* SPDX-License-Identifier: MIT */
/* `diff --budget`: measures the quantities of budgets in captures of A and B, and judges them. */
#ifndef PP_CLI_BUDGET_GATE_H
#define PP_CLI_BUDGET_GATE_H

#include "cli/tables.h"

struct pp_cli_gate {
	GPtrArray *budgets; /* of struct pp_budget * */
	const char *junit;  /* the file to be written; NULL: none */
};

void pp_cli_gate_init(struct pp_cli_gate *gate);
void pp_cli_gate_done(struct pp_cli_gate *gate);

/*
 * Adds a budget, or those of a file: a text with '<' is a budget.  Prints a line for each that is
 * wrong.  Returns PP_EXIT_GOOD, or the exit status.
 */
int pp_cli_gate_take(struct pp_cli_gate *gate, const char *value);

/*
 * Reads the captures of both words (sides.h), prints the tables, and writes the file.  Returns
 * PP_EXIT_EXCEEDED if a budget is exceeded, else PP_EXIT_FAILED if one was not measured or
 * something failed, else PP_EXIT_GOOD.
 */
int pp_cli_gate_run(const struct pp_cli_gate *gate, const struct pp_cli_tables *how,
		    const char *word_a, const char *word_b);

#endif
