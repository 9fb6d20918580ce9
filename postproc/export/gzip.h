/* SPDX-License-Identifier: MIT */
/* What is appended comes out compressed. */
#ifndef PP_EXPORT_GZIP_H
#define PP_EXPORT_GZIP_H

#include <gio/gio.h>

#include "export/out.h"

struct pp_gzip {
	GByteArray *bytes; /* to be appended to; then pp_gzip_flush() */
	GZlibCompressor *compressor;
	struct pp_out *out;
	char *failure; /* NULL: none */
};

void pp_gzip_init(struct pp_gzip *gzip, struct pp_out *out);
void pp_gzip_done(struct pp_gzip *gzip);

/* Compresses what has grown long.  Failures come out at the end. */
void pp_gzip_flush(struct pp_gzip *gzip);

int pp_gzip_finish(struct pp_gzip *gzip, struct pp_error *err);

#endif
