/* SPDX-License-Identifier: MIT */
/*
 * Looks one event ahead in a stream.  A blocking call is recorded at its end; since the stream
 * belongs to one thread, the reader knows when it has read the event before that the thread will
 * enter the call next.  It passes the record on twice: at the begin of the call, and at its end.
 *
 * Records that only define what later ones refer to are decoded as they are read, so that they do
 * not hide the call that they precede.
 */
#ifndef PP_CTF_AHEAD_H
#define PP_CTF_AHEAD_H

#include "ctf/stream.h"

/*
 * Looks at the record that was read: false if it has been processed, and the next one is to be
 * read.  *time_ns is its time, and becomes that of the next event.
 */
bool pp_stream_look(struct pp_stream *stream, const struct pp_record *record, int64_t *time_ns);

/*
 * True if the current record is that of a call whose begin was passed on: *ret_time_ns is that of
 * its end, which is the next event.
 */
static inline bool pp_stream_look_again(struct pp_stream *stream, int64_t *ret_time_ns)
{
	if (G_LIKELY(!stream->io_begins))
		return false;
	stream->io_begins = false;
	*ret_time_ns = stream->io_end_ns;
	return true;
}

/* Passes on a blocking call, at its begin or its end. */
void pp_stream_take_io(struct pp_stream *stream, const struct pp_record *record, int64_t time_ns);

#endif
