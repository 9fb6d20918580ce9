/* SPDX-License-Identifier: MIT */
/* Decodes libsync-trace's events, as described in events.h, into core events. */
#ifndef PP_CTF_DECODE_SYNC_H
#define PP_CTF_DECODE_SYNC_H

#include "ctf/stream.h"

/* Notes a definition, to which later events of the stream refer, or data of the next event. */
void pp_decode_definition(struct pp_stream *stream, const struct pp_record *record);

/* Fills *event except its time.  Returns false if its object is unknown. */
bool pp_decode_sync(struct pp_stream *stream, const struct pp_record *record,
		    struct pp_event *event);

/* Does the same for a sample. */
void pp_decode_sample(struct pp_stream *stream, const struct pp_record *record,
		      struct pp_event *event);

/*
 * False if the call would have begun before the machine did, or if it and the stream's calls before
 * it would have taken longer than any recording.
 */
static inline bool pp_io_may_last(const struct pp_stream *stream, uint64_t duration_ns,
				  int64_t end_ns)
{
	return duration_ns <= (uint64_t)MAX(end_ns, 0) &&
	       duration_ns <= (uint64_t)PP_LONGEST_NS - stream->io_ns;
}

/* The same for a blocking call.  Returns false if it is one of a later version. */
bool pp_decode_io(struct pp_stream *stream, const struct pp_record *record, struct pp_event *event);

#endif
