/* SPDX-License-Identifier: MIT */
/*
 * The output of an export: standard output, or a file that has a temporary name until it is
 * complete, so that an incomplete file is never taken for a result.  Text is written incrementally.
 */
#ifndef PP_EXPORT_OUT_H
#define PP_EXPORT_OUT_H

#include <glib.h>

#include "core/error.h"

#define PP_OUT_STDOUT "-"

struct pp_out {
	GString *text; /* append to it, then call pp_out_flush() */
	char *path, *unfinished;
	int fd;
	int error; /* -errno of the first failed write */
};

int pp_out_open(struct pp_out *out, const char *path, struct pp_error *err);

/* Writes the text if it is long enough.  Errors are returned by pp_out_finish(). */
void pp_out_flush(struct pp_out *out);

/*
 * Writes the rest and renames the file.  Replaces another regular file, as `cp` does.  Returns 0 or
 * -errno.
 */
int pp_out_finish(struct pp_out *out, struct pp_error *err);

/* Removes an unfinished file.  Also valid for a zeroed pp_out that was never opened. */
void pp_out_done(struct pp_out *out);

#endif
