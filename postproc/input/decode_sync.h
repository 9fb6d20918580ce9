/* SPDX-License-Identifier: MIT */
/* From the fields of libsync-trace's events, as events.h describes them, to core events. */
#ifndef PP_INPUT_DECODE_SYNC_H
#define PP_INPUT_DECODE_SYNC_H

#include "input/decode.h"
#include "input/event_class.h"

/* What later events of the stream refer to: call sites and paths. */
void pp_decode_definition(struct pp_stream *stream, const struct pp_event_class *class,
			  const bt_field *payload);

/* Fills *event, but for its time. */
void pp_decode_sync(struct pp_stream *stream, const struct pp_event_class *class,
		    const bt_field *payload, struct pp_event *event);

#endif
