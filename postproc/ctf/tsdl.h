/* SPDX-License-Identifier: MIT */
/*
 * Parses the subset of TSDL, the language of CTF 1.8's metadata, that our own writers use.
 * Metadata beyond this subset is not an error; Babeltrace reads it.
 */
#ifndef PP_CTF_TSDL_H
#define PP_CTF_TSDL_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

enum pp_tsdl_kind { PP_TSDL_INTEGER, PP_TSDL_STRING, PP_TSDL_STRUCT };

struct pp_tsdl_type {
	enum pp_tsdl_kind kind;
	unsigned bits;
	bool is_signed;
	bool is_time; /* mapped to the clock */
};

/* A member of a structure. */
struct pp_tsdl_member {
	char *name;
	struct pp_tsdl_type type;
	unsigned length; /* of an array; 0: none */
	GArray *element; /* PP_TSDL_STRUCT: of struct pp_tsdl_member, all integers */
	/* ... of a sequence: its length is the value of the member before; NULL: no sequence */
	char *length_name;
};

struct pp_tsdl_event {
	uint64_t id;
	char *name;
	GArray *context, *payload; /* of struct pp_tsdl_member; NULL: none */
};

struct pp_tsdl {
	char *uuid;	 /* NULL: none */
	GArray *header;	 /* of a packet; of struct pp_tsdl_member */
	GArray *context; /* of a packet; of struct pp_tsdl_member */
	unsigned extended_id_bits;
	bool has_clock; /* its unit is nanoseconds */
	bool has_trace, has_stream, is_little_endian;
	GPtrArray *events; /* of struct pp_tsdl_event * */
};

/* Returns NULL if the text goes beyond the subset. */
struct pp_tsdl *pp_tsdl_parse(const char *text, gsize len);
void pp_tsdl_free(struct pp_tsdl *tsdl);

#endif
