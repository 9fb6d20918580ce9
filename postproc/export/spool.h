/* SPDX-License-Identifier: MIT */
/*
 * Texts that grow at the same time, one for each thread, and are wanted one after the other: what
 * has grown long waits in a file without a name, so that memory goes with their number alone.
 */
#ifndef PP_EXPORT_SPOOL_H
#define PP_EXPORT_SPOOL_H

#include <stdint.h>

#include "export/out.h"

struct pp_spool {
	int fd;	   /* -1: not needed yet */
	int error; /* -errno of the first write or read that failed */
	uint64_t n_bytes;
};

struct pp_spool_text {
	GString *text; /* to be appended to; then pp_spool_flush() */
	GArray *parts; /* of struct part, in the file */
};

#define PP_SPOOL_INIT                                                                              \
	{                                                                                          \
		.fd = -1                                                                           \
	}

void pp_spool_done(struct pp_spool *spool);

void pp_spool_text_init(struct pp_spool_text *text);
void pp_spool_text_done(struct pp_spool_text *text);

/* Puts away what has grown long.  Failures come out when it is wanted. */
void pp_spool_flush(struct pp_spool *spool, struct pp_spool_text *text);

/* All of it. */
int pp_spool_copy(struct pp_spool *spool, struct pp_spool_text *text, struct pp_out *out,
		  struct pp_error *err);

#endif
