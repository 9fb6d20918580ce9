/* SPDX-License-Identifier: MIT */
/*
 * Writes a JSON document, member by member, as base64 of its gzip, without keeping the document in
 * memory.  All text is made printable (core/text/printable.h), so that a viewer can interpret no
 * part of it as anything but text.
 */
#ifndef PP_EXPORT_JSON_GZIP_H
#define PP_EXPORT_JSON_GZIP_H

#include <stdint.h>

#include "core/text/json_writer.h"
#include "export/gzip.h"
#include "export/out.h"

struct pp_put {
	struct pp_out *out;
	struct pp_json_writer json; /* its buffer is not compressed yet */
	struct pp_gzip gzip;
	int state, save; /* of the base64 encoder */
};

void pp_put_init(struct pp_put *put, struct pp_out *out);
void pp_put_done(struct pp_put *put);

/* Call after the last value: writes the rest.  Returns 0 or -errno. */
int pp_put_finish(struct pp_put *put, struct pp_error *err);

/* key: name of the member; NULL: a list element, or the document. */
void pp_put_open(struct pp_put *put, const char *key, char bracket);	 /* '{' or '[' */
void pp_put_close(struct pp_put *put, char bracket);			 /* '}' or ']' */
void pp_put_text(struct pp_put *put, const char *key, const char *text); /* NULL: null */
void pp_put_number(struct pp_put *put, const char *key, int64_t number);
void pp_put_double(struct pp_put *put, const char *key, double number);
void pp_put_null(struct pp_put *put, const char *key);

/* For values that other code writes. */
struct pp_json_writer *pp_put_writer(struct pp_put *put);

/* Writes a position; UINT32_MAX becomes -1. */
void pp_put_reference(struct pp_put *put, const char *key, uint32_t reference);

#endif
