/* SPDX-License-Identifier: MIT */
/* Describes captures to be compared, and the differences of two. */
#ifndef PP_CLI_CAPTURES_H
#define PP_CLI_CAPTURES_H

#include "cli/view.h"

/* The program: the first module of the load map; NULL if there is none. */
const struct pp_load *pp_cli_program(const struct pp_view *view);
/* The command line, or the program's path; NULL if neither is known.  The caller frees it. */
char *pp_cli_command(const struct pp_view *view);

/*
 * A table of captures, with a row for each that is added; run: "A" or "B".  Differences that affect
 * a comparison of two become notes.
 */
struct pp_table *pp_cli_captures_new(void);
void pp_cli_captures_add(struct pp_table *table, const char *run, const struct pp_view *view);
void pp_cli_captures_compare(struct pp_table *table, const struct pp_view *a,
			     const struct pp_view *b);

/* The same for two captures. */
struct pp_table *pp_cli_captures(const struct pp_view *a, const struct pp_view *b);

#endif
