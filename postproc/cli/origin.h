/* SPDX-License-Identifier: MIT */
/* The program and the machine of a recording, for the head of a page. */
#ifndef PP_CLI_ORIGIN_H
#define PP_CLI_ORIGIN_H

#include "cli/view.h"

/* NULL: not known. */
struct pp_origin {
	char *program, *command, *host, *date;
};

/* Does nothing if the host is known already. */
void pp_origin_read(struct pp_origin *origin, const struct pp_view *view);
void pp_origin_done(struct pp_origin *origin);

#endif
