/* SPDX-License-Identifier: MIT */
/*
 * Texts that grow at the same time, one for each thread, and are written one after the other. Long
 * texts are moved to an unnamed file, so that memory depends only on their number.
 */
#ifndef PP_EXPORT_SPOOL_H
#define PP_EXPORT_SPOOL_H

#include <stdint.h>

#include "export/out.h"

struct pp_spool {
	int fd;	   /* -1: not needed yet */
	int error; /* -errno of the first failed write or read */
	uint64_t n_bytes;
};

struct pp_spool_text {
	GString *text; /* append to it, then call pp_spool_flush() */
	GArray *parts; /* of struct part: the parts in the file */
};

#define PP_SPOOL_INIT                                                                              \
	{                                                                                          \
		.fd = -1                                                                           \
	}

void pp_spool_done(struct pp_spool *spool);

void pp_spool_text_init(struct pp_spool_text *text);
void pp_spool_text_done(struct pp_spool_text *text);

/* Moves a long text to the file.  Errors are returned by pp_spool_copy(). */
void pp_spool_flush(struct pp_spool *spool, struct pp_spool_text *text);

/* Copies the whole text to `out`.  Returns 0 or -errno. */
int pp_spool_copy(struct pp_spool *spool, struct pp_spool_text *text, struct pp_out *out,
		  struct pp_error *err);

#endif
