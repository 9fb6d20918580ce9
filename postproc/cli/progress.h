/* SPDX-License-Identifier: MIT */
/*
 * A line on the terminal while a command reads: how far it is, and how long it will still take.
 * Written to stderr by a thread of its own, only if that is a terminal, and only if reading takes
 * longer than half a second; removed before anything else is printed.
 */
#ifndef PP_CLI_PROGRESS_H
#define PP_CLI_PROGRESS_H

#include <stdbool.h>

/* It is never shown from now on. */
void pp_cli_progress_silence(void);

/* Does nothing if it is shown already, or must not be. */
void pp_cli_progress_start(void);

/* Also valid if nothing is shown.  To be called before stderr or a terminal is written to. */
void pp_cli_progress_stop(void);

/* A terminal shows it, unless pp_cli_progress_silence() was called. */
bool pp_cli_progress_is_wanted(void);

/* "5 s", "3:20 min": a time that is left.  The caller frees it. */
char *pp_cli_progress_left(double left_s);

#endif
