/* SPDX-License-Identifier: MIT */
/* Takes Babeltrace's error of the current thread. */
#ifndef PP_CTF_BABELTRACE_ERROR_H
#define PP_CTF_BABELTRACE_ERROR_H

#include "core/error.h"

/* Moves the error's causes into err, innermost first. */
void pp_bt_error_take(struct pp_error *err);

/*
 * Returns the first cause, which is the actual fault; the later ones only name the callers.  NULL:
 * no error.  The caller frees it.
 */
char *pp_bt_cause_take(void);

#endif
