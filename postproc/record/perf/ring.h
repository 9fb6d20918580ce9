/* SPDX-License-Identifier: MIT */
/*
 * The perf events of one CPU and the ring they share.
 *
 * The ring belongs to an event of its own that records nothing, its anchor: only what is not mapped
 * can be moved to another ring, and a ring is not resized but left for a larger one.  Of the others
 * the first is a software "dummy" that carries the side-band records (fork, exit, comm, context
 * switch), then come the tracepoints.  All have the same sample_type, TID | TIME (| RAW), so any
 * record can be parsed without its id.
 *
 * While events are moved (move.c) there are two rings, read as one in order of time.
 */
#ifndef PP_RECORD_PERF_RING_H
#define PP_RECORD_PERF_RING_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

#include "core/error.h"

#define PP_RING_MAX_EVENTS 16

struct pp_ring_buffer {
	int fd; /* its anchor */
	void *map;
	size_t data_bytes;
};

struct pp_ring {
	int cpu;
	int fds[PP_RING_MAX_EVENTS]; /* the last one records nothing, and is the last to be moved */
	unsigned n_fds;
	bool can_read_lost; /* PERF_FORMAT_LOST: Linux 6.0 */
	int bpf_fd;	    /* of the one that BPF programs send to, with `for_bpf` */
	struct pp_ring_buffer buffer;
	struct pp_ring_buffer next; /* being moved to; map NULL: nothing is */
	pthread_t mover;	    /* while `next` */
	bool moved;		    /* by the mover: nothing is written to `buffer` any more */
	bool stop;		    /* to the mover */
	bool refused;		    /* the kernel did not grant a larger one */
	size_t fill_bytes;	    /* the most that was found in `buffer` */
	uint64_t lost;		    /* told by records so far */
	int32_t current;  /* thread last switched to, as the records so far tell; -1: none yet */
	void *scratch[2]; /* a record of each buffer that wraps around, in one piece */
};

struct pp_ring_options {
	pid_t pid; /* -1: every process on the CPU */
	const uint64_t *tracepoints;
	unsigned n_tracepoints;
	bool for_bpf;	   /* no switches; one event more, for BPF programs to wake us by */
	size_t data_bytes; /* a power of two */
};

/*
 * Opens and maps; the events count from here on.  -ENOMEM: the kernel refuses a ring of this size;
 * -ENODEV: the CPU is offline.
 */
int pp_ring_open(struct pp_ring *ring, int cpu, const struct pp_ring_options *options,
		 struct pp_error *err);

/* A ring alone, with its anchor.  0 or -errno. */
int pp_ring_buffer_open(struct pp_ring_buffer *buffer, int cpu, size_t data_bytes);
void pp_ring_buffer_close(struct pp_ring_buffer *buffer);

typedef void pp_ring_record(void *data, struct pp_ring *ring,
			    const struct perf_event_header *header);

/* Hands every record in the ring to `record` and gives the room back. */
void pp_ring_drain(struct pp_ring *ring, pp_ring_record *record, void *data);

/* Stops the events, and soon a move.  What is in the ring stays. */
void pp_ring_stop(struct pp_ring *ring);

/* Records that the kernel could not place; after pp_ring_stop() and the last drain. */
uint64_t pp_ring_lost(const struct pp_ring *ring);

void pp_ring_close(struct pp_ring *ring);

/*
 * Closing the last descriptor of a tracepoint makes the kernel wait for a grace period, 40 ms each.
 * A child that shares them waits instead: it goes when the descriptor returned here is closed.
 */
int pp_rings_leave_closing(void);

#endif
