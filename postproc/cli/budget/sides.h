/* SPDX-License-Identifier: MIT */
/* The captures that an argument of `diff --budget` names. */
#ifndef PP_CLI_BUDGET_SIDES_H
#define PP_CLI_BUDGET_SIDES_H

#include <glib.h>

/*
 * The directories of the captures, of char *: `word` is one, a folder of captures, or a list of
 * these, separated by commas.  A directory that exists is not taken for a list.  A folder without
 * captures stands for itself, so that an attempt to open it tells what is wrong.  The caller unrefs
 * the array, which has at least one.
 */
GPtrArray *pp_cli_budget_side(const char *word);

#endif
