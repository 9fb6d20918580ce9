/* SPDX-License-Identifier: MIT */
/*
 * An error is a chain of causes.  The innermost cause is added first; each caller adds what it was
 * doing.  Only cli/ prints the chain, in one line: "outermost: ...: innermost".
 *
 * Functions that can fail return 0 or -errno and take `struct pp_error *err` as last parameter; err
 * may be NULL.
 */
#ifndef PP_CORE_ERROR_H
#define PP_CORE_ERROR_H

#include <glib.h>

struct pp_error {
	GPtrArray *causes; /* of char *, innermost first; NULL: no error */
};

#define PP_ERROR_INIT                                                                              \
	{                                                                                          \
		NULL                                                                               \
	}

/* Adds a cause.  Returns `code` (a -errno), so that callers can `return pp_error_add(...)`. */
int pp_error_add(struct pp_error *err, int code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* The chain in one line, never NULL.  The caller frees it. */
char *pp_error_text(const struct pp_error *err);

void pp_error_done(struct pp_error *err);

#endif
