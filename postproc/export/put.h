/* SPDX-License-Identifier: MIT */
/*
 * A JSON document, written member by member, that becomes base64 of a gzip as it grows: nothing of
 * it is kept.  All text is made fit to be shown (core/printable.h), so that nothing in it is
 * anything but text to whoever reads the document.
 */
#ifndef PP_EXPORT_PUT_H
#define PP_EXPORT_PUT_H

#include <stdint.h>

#include "core/json_writer.h"
#include "export/gzip.h"
#include "export/out.h"

struct pp_put {
	struct pp_out *out;
	struct pp_json_writer json; /* into a string of its own, which is not yet compressed */
	struct pp_gzip gzip;
	int state, save; /* of base64 */
};

void pp_put_init(struct pp_put *put, struct pp_out *out);
void pp_put_done(struct pp_put *put);

/* After the last value: what is left goes out. */
int pp_put_finish(struct pp_put *put, struct pp_error *err);

/* key: of the member; NULL: an element of a list, or the document. */
void pp_put_open(struct pp_put *put, const char *key, char bracket);	 /* '{' or '[' */
void pp_put_close(struct pp_put *put, char bracket);			 /* '}' or ']' */
void pp_put_text(struct pp_put *put, const char *key, const char *text); /* NULL: null */
void pp_put_number(struct pp_put *put, const char *key, int64_t number);
void pp_put_null(struct pp_put *put, const char *key);

/* A position; UINT32_MAX: -1. */
void pp_put_reference(struct pp_put *put, const char *key, uint32_t reference);

#endif
