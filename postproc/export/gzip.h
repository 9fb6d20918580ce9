/* SPDX-License-Identifier: MIT */
/* Compresses a stream of bytes to gzip. */
#ifndef PP_EXPORT_GZIP_H
#define PP_EXPORT_GZIP_H

#include <stddef.h>

#include <gio/gio.h>

#include "core/error.h"

/* Collect this much before calling: compressing a few bytes at a time takes as long as a batch. */
#define PP_GZIP_BATCH_BYTES 65536

struct pp_gzip {
	GZlibCompressor *compressor;
	void (*take)(void *data, const char *bytes, size_t n_bytes); /* receives compressed data */
	void *data;
	char *failure; /* NULL: none */
};

void pp_gzip_init(struct pp_gzip *gzip, void (*take)(void *data, const char *bytes, size_t n_bytes),
		  void *data);
void pp_gzip_done(struct pp_gzip *gzip);

/* Errors are returned by pp_gzip_finish(). */
void pp_gzip_add(struct pp_gzip *gzip, const void *bytes, size_t n_bytes);

/* Adds the last bytes, if any, and ends the stream.  Returns 0 or -errno. */
int pp_gzip_finish(struct pp_gzip *gzip, const void *bytes, size_t n_bytes, struct pp_error *err);

#endif
