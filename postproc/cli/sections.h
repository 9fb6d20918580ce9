/* SPDX-License-Identifier: MIT */
/* The sections of a report: passes that have a summary. */
#ifndef PP_CLI_SECTIONS_H
#define PP_CLI_SECTIONS_H

#include "cli/view.h"

/* Prints the list for --help. */
void pp_cli_sections_help(void);

/*
 * Adds the named sections, or the default ones, to `sections`, of const char *. Returns
 * PP_EXIT_GOOD, or the exit status.
 */
int pp_cli_sections_take(const char *command, GPtrArray *sections, char **names, int n_names);

/* PP_SELECT_*: the filters that at least one of the sections applies. */
unsigned pp_cli_sections_heed(const GPtrArray *sections);

/* The tables of the sections, which the view owns.  The caller unrefs the array. */
GPtrArray *pp_cli_sections_tables(const struct pp_view *view, const GPtrArray *sections);

#endif
