/* SPDX-License-Identifier: MIT */
/*
 * Converts Babeltrace's messages of any CTF trace to records.  Names of events and fields are
 * looked up once per stream and class; after that, each field has an index.
 */
#ifndef PP_CTF_BABELTRACE_STREAM_H
#define PP_CTF_BABELTRACE_STREAM_H

#include <babeltrace2/babeltrace.h>

#include "ctf/decode.h"

/* Positions of the contexts of LTTng-UST's events; -1: none. */
struct pp_ust_contexts {
	int vpid, vtid, procname;
};

struct pp_bt_stream {
	struct pp_stream stream;
	bool is_ns; /* the clock counts nanoseconds: its raw value is the time */
	bool unusable;
	int tid_field, index_field, cpu_field; /* in the packet context; -1: none */
	struct pp_ust_contexts contexts;
	GArray *classes; /* of struct pp_event_class, indexed by the id of the event class */
	GArray *lines;	 /* of struct st_access_line: those of the current record */
	GArray *places;	 /* of uint16_t, likewise */
};

struct pp_bt_stream *pp_bt_stream_new(struct pp_decoder *decoder, const struct pp_trace *trace,
				      const char *name);
void pp_bt_stream_free(struct pp_bt_stream *bt);

/*
 * Returns true for an event, with its time in *ret_time_ns.  Other messages are processed here;
 * returns false.  Times of a stream never decrease.
 */
bool pp_bt_stream_look(struct pp_bt_stream *bt, const bt_message *message, int64_t *ret_time_ns);

void pp_bt_stream_emit(struct pp_bt_stream *bt, const bt_message *message, int64_t time_ns);

#endif
