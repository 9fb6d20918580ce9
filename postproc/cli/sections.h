/* SPDX-License-Identifier: MIT */
/* The sections that a subcommand shows: passes that have a summary. */
#ifndef PP_CLI_SECTIONS_H
#define PP_CLI_SECTIONS_H

#include "cli/view.h"

/* Prints them for --help. */
void pp_cli_sections_help(void);

/* Adds those named to `sections`, of const char *, or the default ones; PP_EXIT_GOOD, or the exit
 * status. */
int pp_cli_sections_take(const char *command, GPtrArray *sections, char **names, int n_names);

/* PP_SELECT_*: what of a selection any of them heeds. */
unsigned pp_cli_sections_heed(const GPtrArray *sections);

/* Their tables, which stay the view's.  The caller unrefs the array. */
GPtrArray *pp_cli_sections_tables(const struct pp_view *view, const GPtrArray *sections);

#endif
