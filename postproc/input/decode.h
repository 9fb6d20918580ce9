/* SPDX-License-Identifier: MIT */
/*
 * From messages of Babeltrace to core events.
 *
 * A stream is read by one owner, which asks for each message's time (pp_stream_look) and, when its
 * turn has come among all streams, has it decoded (pp_stream_emit).  Names of events and fields are
 * looked up once per stream and class; from then on, a field is an index.
 */
#ifndef PP_INPUT_DECODE_H
#define PP_INPUT_DECODE_H

#include <babeltrace2/babeltrace.h>

#include "input/events.h"

struct pp_event_class;

/* Where the contexts of LTTng-UST's events stand; -1: there is none. */
struct pp_ust_contexts {
	int vpid, vtid, procname;
};

/* What all streams of a capture share. */
struct pp_decoder {
	struct pp_capture *capture;
	unsigned kinds;
	void (*take)(void *data, const struct pp_event *event);
	void *data;
	GPtrArray *on_cpu; /* struct pp_thread * that runs there, by CPU */
	int64_t last_ns;
	uint64_t n_kernel_events;
};

struct pp_stream {
	struct pp_decoder *decoder;
	const struct pp_trace *trace;
	char *name;		  /* for people: path of the stream's file */
	struct pp_thread *thread; /* of the current packet of synch-events */
	bool thread_unknown;	  /* ... which is left out */
	bool losses_told;	  /* by the thread table, for a thread of this stream */
	int cpu;
	bool all_programs; /* LTTng's kernel tracer records them: ours are to be told from others */
	unsigned irq_depth; /* interrupts that its CPU is in, where events tell of them */
	bool is_ns;	    /* the clock counts nanoseconds: its raw value is the time */
	bool unusable;
	int64_t last_ns;
	uint64_t lost;	 /* not yet told as an event */
	uint64_t n_lost; /* in all, where the packets say how many */
	bool lost_more;	 /* ... and a number of others that is not known */
	uint64_t n_events;
	int tid_field, index_field, cpu_field; /* of the packet context; -1: none */
	struct pp_ust_contexts contexts;
	GArray *sites;		    /* of uint64_t, by number */
	GPtrArray *paths;	    /* of const struct pp_path *, by number */
	const struct pp_path *path; /* of the next synch-event, if it is of that object */
	uint64_t path_object;
	GArray *classes; /* of struct pp_event_class, by id of the event class */
};

void pp_decoder_init(struct pp_decoder *decoder, struct pp_capture *capture, unsigned kinds,
		     void (*take)(void *data, const struct pp_event *event), void *data);
void pp_decoder_done(struct pp_decoder *decoder);

/* Hands over an event that no stream of Babeltrace's brought, if it is of a kind that is wanted. */
void pp_decoder_emit(struct pp_decoder *decoder, const struct pp_event *event);

/* The same, for an event of this stream, whose time has been noted. */
void pp_stream_hand_over(struct pp_stream *stream, const struct pp_event *event);

/* The thread of ours that runs on the stream's CPU; NULL: none, or not known. */
struct pp_thread *pp_stream_on_cpu(const struct pp_stream *stream);

/*
 * Is an event of the kernel's about these threads (NULL: not one of the program's) to be handed
 * over?  What others did is neither, nor part of the time that was recorded.
 */
bool pp_stream_is_ours(struct pp_stream *stream, const struct pp_thread *thread,
		       const struct pp_thread *other, int64_t time_ns);

/* An integer field's value, signed or not. */
int64_t pp_field_integer(const bt_field *field);

struct pp_stream *pp_stream_new(struct pp_decoder *decoder, const struct pp_trace *trace,
				const char *name);
void pp_stream_free(struct pp_stream *stream);

/*
 * True: an event, at *ret_time_ns.  False: anything else, which has been dealt with.
 * Times of one stream never go back.
 */
bool pp_stream_look(struct pp_stream *stream, const bt_message *message, int64_t *ret_time_ns);

void pp_stream_emit(struct pp_stream *stream, const bt_message *message, int64_t time_ns);

/* The stream has no more: tells what it lost. */
void pp_stream_end(struct pp_stream *stream);

#endif
