/* SPDX-License-Identifier: MIT */
/* What Babeltrace says of its failures. */
#ifndef PP_CTF_BABELTRACE_ERROR_H
#define PP_CTF_BABELTRACE_ERROR_H

#include "core/error.h"

/* Moves it into err, innermost cause first. */
void pp_bt_error_take(struct pp_error *err);

/* The first cause is what went wrong; the others say who called whom.  NULL: no error. */
char *pp_bt_cause_take(void);

#endif
