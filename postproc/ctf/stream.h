/* SPDX-License-Identifier: MIT */
/*
 * A stream of events that is being decoded, a record of it, and what all decoders ask of a stream.
 */
#ifndef PP_CTF_STREAM_H
#define PP_CTF_STREAM_H

#include "capture/capture.h"
#include "ctf/event_class.h"

/* The fields of an event by the positions of event_class.h, whoever read them. */
struct pp_record {
	const struct pp_event_class *class;
	uint64_t values[PP_SYSCALL_VALUES]; /* of signed ones, extended; 0: the class has none */
	const char *texts[PP_MAX_FIELDS];   /* NULL: it has none */
	int32_t tid;			    /* of its contexts; PP_TID_UNKNOWN: they have none */
	uint64_t n_addresses;		    /* of an array; so many of them, if there is room: */
	uint64_t addresses[ST_PATH_MAX];
};

/* What all streams of a capture share. */
struct pp_decoder {
	struct pp_capture *capture;
	unsigned kinds;
	void (*take)(void *data, const struct pp_event *event);
	void *data;
	GPtrArray *on_cpu;   /* struct pp_thread * that runs there, by CPU */
	GHashTable *helpers; /* a set of tids: now they are tasks of the runtime libraries */
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
	int64_t last_ns;
	uint64_t lost;	 /* not yet told as an event */
	uint64_t n_lost; /* in all, where the packets say how many */
	bool lost_more;	 /* ... and a number of others that is not known */
	uint64_t n_events;
	GArray *sites;		    /* of uint64_t, by number */
	GPtrArray *paths;	    /* of const struct pp_path *, by number */
	const struct pp_path *path; /* of the next synch-event, if it is of that object */
	uint64_t path_object;
	bool has_object;
	uint64_t object; /* of the packet's last synch-event */
};

/* Hands over an event of this stream, whose time has been noted, if its kind is wanted. */
void pp_stream_hand_over(struct pp_stream *stream, const struct pp_event *event);

/* The thread of ours that runs on the stream's CPU; NULL: none, or not known. */
struct pp_thread *pp_stream_on_cpu(const struct pp_stream *stream);

/*
 * Is an event of the kernel's about these threads (NULL: not one of the program's) to be handed
 * over?  What others did is neither, nor part of the time that was recorded.
 */
bool pp_stream_is_ours(struct pp_stream *stream, const struct pp_thread *thread,
		       const struct pp_thread *other, int64_t time_ns);

#endif
