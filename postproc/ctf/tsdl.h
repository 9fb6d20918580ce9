/* SPDX-License-Identifier: MIT */
/*
 * The part of TSDL, the language of CTF 1.8's metadata, that our own writers use.  What is not of
 * it, is not an error of the metadata: somebody else has to read it.
 */
#ifndef PP_CTF_TSDL_H
#define PP_CTF_TSDL_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

enum pp_tsdl_kind { PP_TSDL_INTEGER, PP_TSDL_STRING };

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
	unsigned length;   /* of an array; 0: none, or of the length that a member has */
	int length_member; /* -1: none */
};

struct pp_tsdl_event {
	uint64_t id;
	char *name;
	GArray *context, *payload; /* of struct pp_tsdl_member; NULL: none */
};

struct pp_tsdl {
	char *uuid;	 /* NULL: none */
	GArray *header;	 /* of a packet; of struct pp_tsdl_member */
	GArray *context; /* the same */
	unsigned extended_id_bits;
	bool has_clock; /* of nanoseconds */
	bool has_trace, has_stream, is_little_endian;
	GPtrArray *events; /* of struct pp_tsdl_event * */
};

/* NULL: it holds what is none of that part. */
struct pp_tsdl *pp_tsdl_parse(const char *text, gsize len);
void pp_tsdl_free(struct pp_tsdl *tsdl);

#endif
