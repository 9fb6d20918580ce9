/* SPDX-License-Identifier: MIT */
/* The width and colors of standard output. */
#ifndef PP_CLI_TERMINAL_H
#define PP_CLI_TERMINAL_H

#include "render/render.h"

/*
 * The style of text on standard output.  On a terminal: colors, unless NO_COLOR is set, and its
 * width (or COLUMNS, if set), unless --wide is given.  A file or pipe gets neither.
 */
struct pp_text_style pp_cli_text_style(void);

#endif
