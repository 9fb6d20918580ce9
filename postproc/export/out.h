/* SPDX-License-Identifier: MIT */
/*
 * Where an export goes: standard output, or a file that has another name until it is whole, so that
 * none is there that merely looks so.  Text is written as it grows.
 */
#ifndef PP_EXPORT_OUT_H
#define PP_EXPORT_OUT_H

#include <glib.h>

#include "core/error.h"

#define PP_OUT_STDOUT "-"

struct pp_out {
	GString *text; /* to be appended to; then pp_out_flush() */
	char *path, *unfinished;
	int fd;
	int error; /* of the first write that failed, -errno */
};

int pp_out_open(struct pp_out *out, const char *path, struct pp_error *err);

/* Adds it as a string of JSON. */
void pp_out_json(GString *to, const char *text);

/* Writes what has grown long.  Failures come out at the end. */
void pp_out_flush(struct pp_out *out);

/* Writes the rest; the file has its name.  Over another regular file, as `cp` would. */
int pp_out_finish(struct pp_out *out, struct pp_error *err);

/* Leaves nothing behind that was not finished.  Also of one that was never opened, all zero. */
void pp_out_done(struct pp_out *out);

#endif
