/* SPDX-License-Identifier: MIT */
/*
 * How the bytes of a CTF trace lie, from its metadata, where that is as our own writers have it:
 * little-endian, every field at a byte, one stream class, one clock in nanoseconds, event headers
 * compact or extended (CTF 1.8.3, 6.1.1).  Any other trace is for Babeltrace to read.
 */
#ifndef PP_CTF_LAYOUT_H
#define PP_CTF_LAYOUT_H

#include "ctf/event_class.h"

/* An unsigned integer in the head of a packet; bits == 0: it has none of that name. */
struct pp_head_field {
	unsigned offset_bytes;
	uint8_t bits;
};

/* What to do with the next bytes of an event. */
enum pp_step_kind { PP_STEP_INTEGER, PP_STEP_TEXT, PP_STEP_ARRAY };

#define PP_NO_SLOT   255
#define PP_MAX_STEPS 64

struct pp_step {
	uint8_t kind;  /* enum pp_step_kind */
	uint8_t bytes; /* of the integer, or of an element */
	bool is_signed;
	bool is_tid;  /* of the context, whose event it is */
	uint8_t slot; /* in the record; PP_NO_SLOT: nobody wants it */
	uint8_t more_slot;
	uint8_t length_step; /* of an array: the step that has its length */
};

/* An event class, and how to take its fields apart; n_steps == 0 may be one without fields. */
struct pp_layout_class {
	struct pp_event_class class;
	char *name;
	const char *missing; /* a field that it must have and has not; NULL: none */
	bool missing_told;
	unsigned fixed_bytes; /* of all steps, if all are integers; else 0 */
	unsigned n_steps;
	struct pp_step *steps;
};

struct pp_layout {
	uint8_t uuid[16];
	bool has_uuid;
	unsigned head_bytes; /* of a packet, before its first event */
	struct pp_head_field magic, uuid_at, stream_id;
	struct pp_head_field content_size, packet_size, timestamp_begin, timestamp_end;
	struct pp_head_field discarded, cpu, tid, index;
	unsigned extended_id_bytes;
	GPtrArray *classes; /* of struct pp_layout_class *, by id; NULL: no such class */
};

/* NULL: not such a trace. */
struct pp_layout *pp_layout_new(const char *trace_dir, enum pp_class_names names);
void pp_layout_free(struct pp_layout *layout);

#endif
