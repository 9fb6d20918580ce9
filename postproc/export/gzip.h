/* SPDX-License-Identifier: MIT */
/* Bytes in, a gzip out, as it grows. */
#ifndef PP_EXPORT_GZIP_H
#define PP_EXPORT_GZIP_H

#include <stddef.h>

#include <gio/gio.h>

#include "core/error.h"

/* To be gathered before they are compressed: a few bytes at a time take as long as a batch. */
#define PP_GZIP_BATCH_BYTES 65536

struct pp_gzip {
	GZlibCompressor *compressor;
	void (*take)(void *data, const char *bytes, size_t n_bytes); /* what has been compressed */
	void *data;
	char *failure; /* NULL: none */
};

void pp_gzip_init(struct pp_gzip *gzip, void (*take)(void *data, const char *bytes, size_t n_bytes),
		  void *data);
void pp_gzip_done(struct pp_gzip *gzip);

/* Failures come out at the end. */
void pp_gzip_add(struct pp_gzip *gzip, const void *bytes, size_t n_bytes);

/* The last bytes, or none. */
int pp_gzip_finish(struct pp_gzip *gzip, const void *bytes, size_t n_bytes, struct pp_error *err);

#endif
