/* SPDX-License-Identifier: MIT */
/* What the two captures are that are compared, and in what they are not alike. */
#ifndef PP_CLI_CAPTURES_H
#define PP_CLI_CAPTURES_H

#include "cli/view.h"

/* A row for each; a note for each reason not to compare them without a thought. */
struct pp_table *pp_cli_captures(const struct pp_view *a, const struct pp_view *b);

#endif
