/* SPDX-License-Identifier: MIT */
/* Describes two captures to be compared, and their differences. */
#ifndef PP_CLI_CAPTURES_H
#define PP_CLI_CAPTURES_H

#include "cli/view.h"

/* A table with a row per capture, and a note for each difference that affects the comparison. */
struct pp_table *pp_cli_captures(const struct pp_view *a, const struct pp_view *b);

#endif
