/* SPDX-License-Identifier: MIT */
/*
 * The perf events of one CPU and their shared ring.
 *
 * The ring belongs to an anchor, an event that records nothing.  A ring cannot be resized, only
 * replaced by a larger one, and the kernel moves only events whose own ring is not mapped.  The
 * first of the other events is a software "dummy" for the side-band records (fork, exit, comm,
 * context switch); the tracepoints follow.  All have the same sample_type, TID | TIME (| RAW), so
 * any record can be parsed without its id.
 *
 * During a move (move.c) there are two rings, which are read as one in time order.
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

struct pp_ring_buffer {
	int fd; /* the anchor */
	void *map;
	size_t data_bytes;
};

struct pp_ring {
	int cpu;
	int *fds; /* the last one records nothing, and is moved last */
	unsigned n_fds;
	bool can_read_lost; /* PERF_FORMAT_LOST: Linux 6.0 */
	int bpf_fd;	    /* the event that BPF programs trigger, with `for_bpf` */
	struct pp_ring_buffer buffer;
	struct pp_ring_buffer next; /* target of a move; map NULL: no move in progress */
	pthread_t mover;	    /* valid while `next` is */
	bool moved;		    /* set by the mover: no writer uses `buffer` any more */
	bool stop;		    /* set for the mover */
	bool refused;		    /* the kernel did not grant a larger one */
	size_t fill_bytes;	    /* the highest fill level of `buffer` seen */
	uint64_t lost;		    /* reported by records so far */
	int32_t current;	    /* thread of the last switch record; -1: none yet */
	int32_t left;		    /* thread that the last switch record took off the CPU */
	void *scratch[2];	    /* for records that wrap around, one per buffer */
};

struct pp_ring_options {
	pid_t pid; /* -1: all processes on the CPU */
	const uint64_t *tracepoints;
	unsigned n_tracepoints;
	bool for_bpf;	   /* no switches, but one more event by which BPF programs wake the
			    * collector */
	size_t data_bytes; /* a power of two */
};

/*
 * Opens the events and maps the ring; recording starts here.  Returns 0 or -errno; -ENOMEM: the
 * kernel refuses a ring of this size; -ENODEV: the CPU is offline.
 */
int pp_ring_open(struct pp_ring *ring, int cpu, const struct pp_ring_options *options,
		 struct pp_error *err);

/*
 * Opens the side-band events of another thread, and of its descendants from now on, for the same
 * ring.  To be called before the ring is first drained.  Returns 0 or -errno; -ESRCH: it has ended.
 */
int pp_ring_add_thread(struct pp_ring *ring, pid_t tid);

/* Closes the event that the last call of pp_ring_add_thread() opened. */
void pp_ring_drop_thread(struct pp_ring *ring);

/* For the rings of this folder: opens an event, whose `size`, clock and wake-ups are set here. */
int pp_ring_open_event(struct pp_ring *ring, struct perf_event_attr *attr, pid_t pid);
void pp_ring_make_scratch(struct pp_ring *ring);

/* Opens a ring with its anchor only.  Returns 0 or -errno. */
int pp_ring_buffer_open(struct pp_ring_buffer *buffer, int cpu, size_t data_bytes);
void pp_ring_buffer_close(struct pp_ring_buffer *buffer);

typedef void pp_ring_record(void *data, struct pp_ring *ring,
			    const struct perf_event_header *header);

/* Passes every record in the ring to `record` and releases the space. */
void pp_ring_drain(struct pp_ring *ring, pp_ring_record *record, void *data);

/* Stops the events and a move in progress.  Records in the ring are kept. */
void pp_ring_stop(struct pp_ring *ring);

/*
 * Returns the number of records that did not fit into the ring; call it after pp_ring_stop() and
 * the last drain.
 */
uint64_t pp_ring_lost(const struct pp_ring *ring);

void pp_ring_close(struct pp_ring *ring);

/*
 * Closing the last descriptor of a tracepoint waits for a grace period, 40 ms each.  This forks a
 * child that shares the descriptors and waits instead; it ends when the returned descriptor is
 * closed.
 */
int pp_rings_leave_closing(void);

#endif
