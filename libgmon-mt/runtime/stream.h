/* SPDX-License-Identifier: MIT */
/*
 * A CTF trace of this process, and its streams: packets in file-backed shared mappings, or, where
 * these cannot be promised room (kept.h) and in a process with hundreds of them, in memory.
 *
 * A stream has one writer at a time, which stores events at `pos`, below `end`, and then the
 * packet's content_bits.  It asks for room here.  None of this takes a lock; all of it needs
 * signals blocked.
 */
#ifndef GM_RUNTIME_STREAM_H
#define GM_RUNTIME_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/config.h"
#include "runtime/lock.h"
#include "gmon-mt/packet.h"

/* An event class: its name, and its fields in TSDL. */
struct gm_event_class {
	const char *name, *fields;
};

struct gm_trace {
	char *dir; /* <capture>/<pid>/<name>; the library's only trace */
	uint8_t uuid[16];
	uint64_t packet_max;  /* bytes; a multiple of a page */
	uint64_t segment_max; /* bytes of a file */
	/*
	 * A writer that a signal may interrupt at any instruction may look at a packet that a
	 * handler has left since: files stay mapped until the stream is closed.
	 */
	bool keeps_mappings;
	/* Counts the events of a packet that could not be written at the end of the process. */
	void (*lost)(const struct gm_packet *packet, uint16_t why);
	uint16_t why; /* enum gm_loss: why it could not be opened */
	uint32_t n_streams;

	/* A child of fork makes it with its second file: the first is in its place (children.h). */
	bool is_made;
	struct gm_lock lock;
	const char *name;
	const struct gm_event_class *events;
	unsigned n_events;
};

struct gm_stream {
	uint8_t *pos;
	uint8_t *end; /* of what is ready to be written; NULL with pos: no file */
	struct gm_packet *packet;
	uint64_t last_ns; /* of the last event; kept by the writer */
	uint64_t n_lost;  /* events without room; kept by the writer */
	uint16_t why;	  /* enum gm_loss: why the last one found none */
	uint32_t tid;	  /* the thread whose packets it writes */
	uint32_t index;

	struct gm_trace *trace;
	bool numbered;
	uint32_t number;
	uint32_t n_segments;
	bool in_place;		/* the newest file is in the place of a child of fork */
	uint8_t *segment;	/* where the newest file would begin; NULL: none is mapped */
	uint64_t segment_bytes; /* of the file */
	uint64_t window_at;	/* what of it is mapped; of a small one all that it may grow to */
	uint64_t mapped_bytes;
	uint64_t packet_offset; /* of the current packet in it */
	uint64_t packet_bytes;	/* what it may fill */
	uint64_t next_bytes;	/* size of the next packet */
	uint64_t ready_bytes;	/* of the file: its pages are in memory */
	uint64_t left_bytes;	/* of the file: its pages were let go */
	uint64_t retry_ns;	/* no room was found: not to be asked for before */

	bool in_memory; /* its packet is not in a file yet: it begins at `segment` */
	bool is_listed;
	uint32_t memory_bytes;
	uint8_t *memory;       /* NULL: it never was in memory */
	uint64_t file_bytes;   /* of the newest file: where the packet goes */
	uint64_t previous_at;  /* ... and where the one before it is */
	uint32_t previous_tid; /* of its head */
	struct gm_lock save_lock;
	struct gm_stream *next_in_memory;
};

/*
 * Makes <process folder>/NAME with its metadata in it, whole.  buffer_bytes: of the largest packet.
 * `events` are numbered from 0; those without a name are left out.  Says on stderr if it cannot,
 * with what that means to the user.
 */
bool gm_trace_open(struct gm_trace *trace, const char *name, uint64_t buffer_bytes,
		   const struct gm_event_class *events, unsigned n_events, const char *consequence);

/*
 * Makes room for need_bytes, which is less than the smallest packet.  False: there is none.  A
 * packet begun on the way begins at now_ns.
 */
bool gm_stream_room(struct gm_stream *stream, uint64_t need_bytes, uint64_t now_ns);

/* Begins a packet of the stream's new thread where that of its last one ended. */
void gm_stream_resume(struct gm_stream *stream, uint64_t now_ns);

/* Gives the space behind the last event back; the stream may go on in another file. */
void gm_stream_close(struct gm_stream *stream);

/* The same, but for a page or two, so that the stream goes on here. */
void gm_stream_trim(struct gm_stream *stream);

/* The thread of a stream ends: of one in memory, writes the packet. */
void gm_stream_rest(struct gm_stream *stream);

/* Is there one in memory?  At the end of the process: writes their packets; and after a fork. */
bool gm_streams_in_memory(void);
void gm_streams_save(void);
void gm_streams_forget(void);

/* Makes the directory of a trace that the first file of a stream did not need.  0 or -errno. */
int gm_trace_make(struct gm_trace *trace);

/* Creates DIR/metadata (metadata.c).  0 or -errno. */
int gm_metadata_write(const char *dir, const uint8_t uuid[16], const struct gm_event_class *events,
		      unsigned n_events);

#endif
