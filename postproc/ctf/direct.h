/* SPDX-License-Identifier: MIT */
/*
 * Reads streams that our own writers made without Babeltrace: an event takes a few loads instead of
 * a message, and damaged traces need no temporary copy.
 */
#ifndef PP_CTF_DIRECT_H
#define PP_CTF_DIRECT_H

#include "ctf/decode.h"
#include "ctf/packet_head.h"

/* A trace, and one of its streams with all its files in sequence. */
struct pp_direct_trace;
struct pp_direct_stream;

/* Returns NULL if the metadata is not by our writers. */
struct pp_direct_trace *pp_direct_trace_new(struct pp_decoder *decoder,
					    const struct pp_trace *trace);
void pp_direct_trace_free(struct pp_direct_trace *direct);

/* Returns the streams, of struct pp_direct_stream *; the trace owns them. */
const GPtrArray *pp_direct_streams(const struct pp_direct_trace *direct);

/* The size of its files. */
uint64_t pp_direct_stream_bytes(const struct pp_direct_stream *stream);

/*
 * Moves to the next event, or to the end of a CPU's events; false: there is none.  Unreadable data
 * is damage of the capture and ends the stream.
 */
bool pp_direct_stream_next(struct pp_direct_stream *stream, int64_t *ret_time_ns);

/* True if the current event is the begin of a blocking call, whose end is next. */
bool pp_direct_stream_is_in_call(const struct pp_direct_stream *stream);

/* Passes on the current event. */
void pp_direct_stream_emit(struct pp_direct_stream *stream, int64_t time_ns);

/* --- for readers of parts of a stream ------------------------------------------------------- */

/* The packets of the stream without damaged ones; of struct pp_packet_place. */
GArray *pp_direct_stream_packets(const struct pp_direct_stream *stream);

/* The position of the current packet among these, and its number of events read so far. */
guint pp_direct_stream_packet(const struct pp_direct_stream *stream, unsigned *ret_n_taken);

/* Goes to the begin of that packet.  Returns false if it cannot be read. */
bool pp_direct_stream_seek(struct pp_direct_stream *stream, const GArray *packets, guint at);

/*
 * Passes over the next event of the packet, ten times as fast as pp_direct_stream_next(), but takes
 * definitions of call sites, and the object that later events may refer to.  Returns false at the
 * end of the packet.
 */
bool pp_direct_stream_pass(struct pp_direct_stream *stream, int64_t *ret_time_ns);

/* The thread has events that are not read; reported as PP_EVENT_LOST before its next event. */
void pp_direct_stream_leave_gap(struct pp_direct_stream *stream);

/* True if the call site of the current event is defined in a packet that was not read. */
bool pp_direct_stream_lacks_site(const struct pp_direct_stream *stream);

/* Reads the definitions of call sites in a range of packets. */
void pp_direct_stream_define_sites(struct pp_direct_stream *stream, const GArray *packets,
				   guint first, guint end);

#endif
