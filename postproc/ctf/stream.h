/* SPDX-License-Identifier: MIT */
/* A stream that is being decoded, its current record, and the functions that all decoders share. */
#ifndef PP_CTF_STREAM_H
#define PP_CTF_STREAM_H

#include "capture/capture.h"
#include "ctf/event_class.h"

/* The fields of an event, at the positions defined in event_class.h, independent of the reader. */
struct pp_record {
	const struct pp_event_class *class;
	uint64_t values[PP_SYSCALL_VALUES]; /* signed integers are sign-extended; 0: the class
					     * lacks the field */
	const char *texts[PP_MAX_FIELDS];   /* NULL: the class lacks the field */
	const void *lines;		    /* unaligned array of struct st_access_line, or
					     * of uint16_t: places of such lines */
	uint32_t n_lines;		    /* 0: the class lacks them */
	int32_t tid;			    /* from the contexts; PP_TID_UNKNOWN: none */
};

/* State that all streams of a capture share. */
struct pp_decoder {
	struct pp_capture *capture;
	unsigned kinds;
	void (*take)(void *data, const struct pp_event *event);
	void *data;
	GPtrArray *on_cpu;   /* the struct pp_thread * running there, indexed by CPU */
	GHashTable *helpers; /* a set of tids that are helpers at present */
	int64_t last_ns;
	uint64_t n_kernel_events;
};

/* A node of call paths (events.h). */
struct pp_path_node {
	uint32_t number;
	uint32_t parent; /* less than `number`; below ST_PATH_FIRST: enum st_path_end */
	uint64_t address;
	const struct pp_path *path; /* up to it; NULL: not needed yet */
	uint32_t end;		    /* ... and why it ends: enum st_path_end */
};

struct pp_stream {
	struct pp_decoder *decoder;
	const struct pp_trace *trace;
	char *name;		  /* for messages: path of the stream's file */
	struct pp_thread *thread; /* of the current packet of synch-events */
	bool thread_unknown;	  /* the packet's thread is unknown; its events are skipped */
	bool losses_reported;	  /* the thread table reports losses of a thread of this stream */
	int cpu;
	bool all_programs;  /* LTTng's kernel tracer records all programs; others than ours are
			     * dropped */
	unsigned irq_depth; /* nested interrupts on its CPU, if events record them */
	int64_t last_ns;
	uint64_t lost;	 /* not yet reported as an event */
	uint64_t n_lost; /* total, where packets give a count */
	bool lost_more;	 /* packets without a count reported losses, too */
	uint64_t n_events;
	GArray *sites;		    /* of uint64_t, indexed by number */
	GArray *nodes;		    /* of struct pp_path_node, by number */
	const struct pp_path *path; /* of the next synch-event, if it has that object */
	uint32_t path_object_low;
	uint64_t tries_object, more_tries; /* of the next synch-event, if it has that object */
	uint32_t tries_holder;
	uint64_t conditionals; /* of the thread of the packet so far; 0: not known */
	uint64_t order;	       /* of the next synch-event; 0: none */
	bool has_object;
	/* The next event is the begin of a blocking call (ahead.h); the end comes next, then. */
	bool io_begins;
	bool has_io;	 /* ... and it is a known one */
	uint64_t object; /* of the last synch-event of the packet */
	int64_t io_end_ns;
	uint64_t io_ns;	    /* the sum of its blocking calls so far */
	int64_t looked_ns;  /* time of the last event that was looked at, except definitions */
	struct pp_event io; /* the call, once its begin was passed on */
	struct pp_defined_sets *sets; /* of accesses (decode_accesses.c); NULL: none */
};

/* Passes on an event of this stream, whose time has been noted, if its kind is wanted. */
void pp_stream_hand_over(struct pp_stream *stream, const struct pp_event *event);

/* Returns the program's thread that runs on the stream's CPU; NULL: none, or unknown. */
struct pp_thread *pp_stream_on_cpu(const struct pp_stream *stream);

/*
 * Is an event of the kernel about at least one of these threads (NULL: not one of the program's) to
 * be passed on?  Events of other programs only are dropped and do not extend the recorded time.
 */
bool pp_stream_is_ours(struct pp_stream *stream, const struct pp_thread *thread,
		       const struct pp_thread *other, int64_t time_ns);

#endif
