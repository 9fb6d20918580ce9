/* SPDX-License-Identifier: MIT */
/*
 * A CTF trace of this process, and its streams: packets in file-backed shared mappings, or in
 * memory where space for mappings cannot be reserved (files_in_memory.h) and in a process with
 * hundreds of streams.
 *
 * A stream has one writer at a time, which stores events at `pos`, below `end`, and then the
 * packet's content_bits. The functions here make room for it. They take no lock that a writer may
 * hold, and must be called with signals blocked.
 */
#ifndef GM_RUNTIME_STREAM_H
#define GM_RUNTIME_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/config/config.h"
#include "runtime/stream/metadata.h"
#include "runtime/sys/lock.h"
#include "gmon-mt/packet.h"

struct gm_stream;

struct gm_trace {
	char *dir; /* <capture>/<pid>/<name> */
	/*
	 * Set before it is opened: 0, or 1 for the second trace of a library, which has no part in
	 * the place of a child of fork.
	 */
	unsigned which;
	uint8_t uuid[16];
	uint64_t packet_max;  /* bytes; a multiple of a page */
	uint64_t segment_max; /* size of a file */
	/*
	 * A signal may interrupt a writer at any instruction, and the writer may then access a
	 * packet that the handler has left: files stay mapped until the stream is closed.
	 */
	bool keeps_mappings;
	/* Set before it is opened: only the newest files of its streams are kept (stream_ring.c).
	 */
	bool is_ring;
	/* A stream has begun another file: what earlier ones define may be removed. NULL: not
	 * called. */
	void (*file_begins)(struct gm_stream *stream);
	/* Counts the events of a packet that could not be written at the end of the process. */
	void (*lost)(const struct gm_packet *packet, uint16_t why);
	uint16_t why; /* enum gm_loss: why it could not be opened */
	uint32_t n_streams;

	/*
	 * A child of fork makes the directory with its second file: the first is in its place
	 * (children.h).
	 */
	bool is_made;
	struct gm_lock lock;
	const char *name;
	const struct gm_event_class *events;
	unsigned n_events;
};

struct gm_stream {
	uint8_t *pos;
	uint8_t *end;	    /* limit of the prepared space; NULL with pos: no file */
	uint8_t *short_end; /* an event of GM_SHORT_BYTES that begins before it has room */
	struct gm_packet *packet;
	uint64_t last_ns; /* time of the last event; set by the writer */
	uint64_t n_lost;  /* events without room; set by the writer */
	uint16_t why;	  /* enum gm_loss: why the last one found no room */
	uint32_t tid;	  /* the thread whose packets it writes */
	uint32_t index;

	struct gm_trace *trace;
	bool numbered;
	uint32_t number;
	uint32_t n_segments;
	uint32_t oldest; /* in a ring: files before that one were removed */
	bool in_place;	 /* the newest file is in the place of a child of fork */
	/* address at which the newest file would begin; NULL: none is mapped */
	uint8_t *segment;
	uint64_t segment_bytes; /* of the file */
	/* file offset of the mapping; of a small file its maximum size is mapped */
	uint64_t window_at;
	uint64_t mapped_bytes;
	uint64_t packet_offset; /* offset of the current packet in the file */
	uint64_t packet_bytes;	/* its maximum size */
	uint64_t next_bytes;	/* size of the next packet */
	uint64_t ready_bytes;	/* the file's pages up to here are in memory */
	uint64_t left_bytes;	/* the file's pages up to here were released */
	uint64_t retry_ns;	/* no room was found: do not try again before this time */

	bool in_memory; /* the packet is not in a file yet: it begins at `segment` */
	bool is_listed;
	uint32_t memory_bytes;
	uint8_t *memory;       /* NULL: it was never in memory */
	uint64_t file_bytes;   /* of the newest file: offset for the packet */
	uint64_t previous_at;  /* ... and offset of the packet before it */
	uint32_t previous_tid; /* `tid` in the header of that one */
	struct gm_lock save_lock;
	struct gm_stream *next_in_memory;
};

#define GM_SHORT_BYTES 16u

/* Sets the limit of the prepared space. */
static inline void gm_stream_set_end(struct gm_stream *stream, uint8_t *end)
{
	stream->end = end;
	stream->short_end = end != NULL ? end - (GM_SHORT_BYTES - 1) : NULL;
}

/*
 * Makes <process folder>/NAME complete with its metadata. buffer_bytes: size of the largest packet.
 * `events` are numbered from 0; those without a name are left out. On failure prints a line on
 * stderr that ends with `consequence`, unless that is NULL.
 */
bool gm_trace_open(struct gm_trace *trace, const char *name, uint64_t buffer_bytes,
		   const struct gm_event_class *events, unsigned n_events, const char *consequence);

/*
 * Makes room for need_bytes, which is less than the smallest packet. Returns false if there is
 * none. A packet begun for that has the begin time now_ns.
 */
bool gm_stream_room(struct gm_stream *stream, uint64_t need_bytes, uint64_t now_ns);

/* Begins a packet for the stream's new thread where that of the previous one ended. */
void gm_stream_resume(struct gm_stream *stream, uint64_t now_ns);

/* Returns the space behind the last event; the stream may continue in another file. */
void gm_stream_close(struct gm_stream *stream);

/* The same, but leaves a page or two, so that the stream continues here. */
void gm_stream_trim(struct gm_stream *stream);

/* Called when the thread of a stream ends: writes the packet of a stream in memory. */
void gm_stream_rest(struct gm_stream *stream);

/*
 * Whether any stream is in memory; at the end of the process: writes their packets; after a fork:
 * forgets them.
 */
bool gm_streams_in_memory(void);
void gm_streams_save(void);
void gm_streams_forget(void);

/*
 * Makes the directory of a trace, if the first file of a stream did not need it. Returns 0 or
 * -errno.
 */
int gm_trace_make(struct gm_trace *trace);

#endif
