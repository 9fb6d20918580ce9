/* SPDX-License-Identifier: MIT */
/*
 * Byte layout of a CTF trace, from its metadata, if it has the form that our own writers use:
 * little-endian, byte-aligned fields, one stream class, one clock in nanoseconds, compact or
 * extended event headers (CTF 1.8.3, 6.1.1).  Babeltrace reads all other traces.
 */
#ifndef PP_CTF_LAYOUT_H
#define PP_CTF_LAYOUT_H

#include "ctf/event_class.h"

/* An unsigned integer in the header or context of a packet; bits == 0: no such field. */
struct pp_head_field {
	unsigned offset_bytes;
	uint8_t bits;
};

/* How to decode the next bytes of an event. */
enum pp_step_kind { PP_STEP_INTEGER, PP_STEP_TEXT, PP_STEP_SEQUENCE };

#define PP_NO_SLOT   255
#define PP_MAX_STEPS 64

struct pp_step {
	uint8_t kind;  /* enum pp_step_kind */
	uint8_t bytes; /* size of the integer, or of an element */
	bool is_signed;
	bool is_tid;  /* context field with the tid of the event's thread */
	uint8_t slot; /* in the record; PP_NO_SLOT: not used */
	uint8_t more_slot;
};

/*
 * An event class and the steps that decode its fields; n_steps == 0: no fields, or an ignored
 * class.
 */
struct pp_layout_class {
	struct pp_event_class class;
	char *name;
	const char *missing; /* a required field that is missing; NULL: none */
	bool missing_reported;
	unsigned fixed_bytes; /* sum of all steps if all are integers; else 0 */
	int object_at; /* offset of the 64-bit object of a synch-event; -1: none, or not fixed */
	unsigned n_steps;
	struct pp_step *steps;
};

struct pp_layout {
	uint8_t uuid[16];
	bool has_uuid;
	unsigned head_bytes; /* of a packet, up to its first event */
	struct pp_head_field magic, uuid_at, stream_id;
	struct pp_head_field content_size, packet_size, timestamp_begin, timestamp_end;
	struct pp_head_field discarded, cpu, tid, index; /* in a pack, `index` is "child" */
	unsigned extended_id_bytes;
	GPtrArray *classes; /* of struct pp_layout_class *, indexed by id; NULL: no such class */
};

/* Returns NULL if the trace does not have this form. */
struct pp_layout *pp_layout_new(const char *trace_dir, enum pp_class_names names);
void pp_layout_free(struct pp_layout *layout);

#endif
