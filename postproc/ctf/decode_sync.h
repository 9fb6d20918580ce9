/* SPDX-License-Identifier: MIT */
/* From the fields of libsync-trace's events, as events.h describes them, to core events. */
#ifndef PP_CTF_DECODE_SYNC_H
#define PP_CTF_DECODE_SYNC_H

#include "ctf/stream.h"

/* What later events of the stream refer to: call sites and paths. */
void pp_decode_definition(struct pp_stream *stream, const struct pp_record *record);

/* Fills *event, but for its time.  False: what it is about is not known. */
bool pp_decode_sync(struct pp_stream *stream, const struct pp_record *record,
		    struct pp_event *event);

#endif
