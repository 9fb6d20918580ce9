/* SPDX-License-Identifier: MIT */
/*
 * The perf events of one CPU and the ring they share.
 *
 * The first event of a ring is a software "dummy" that carries the side-band records (fork, exit,
 * comm, context switch); tracepoints are redirected into its ring.  All have the same sample_type,
 * TID | TIME (| RAW), so any record can be parsed without its id.
 */
#ifndef PP_COLLECT_RING_H
#define PP_COLLECT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

#include "core/error.h"

#define PP_RING_MAX_EVENTS 16

struct pp_ring {
	int cpu;
	int fds[PP_RING_MAX_EVENTS];
	unsigned n_fds;
	bool can_read_lost; /* PERF_FORMAT_LOST: Linux 6.0 */
	void *map;
	size_t data_bytes;
	uint64_t lost;	 /* told by records so far */
	int32_t current; /* thread last switched to, as the records so far tell; -1: none yet */
	void *scratch;	 /* a record that wraps around, in one piece */
};

struct pp_ring_options {
	pid_t pid; /* -1: every process on the CPU */
	const uint64_t *tracepoints;
	unsigned n_tracepoints;
	size_t data_bytes; /* a power of two */
};

/*
 * Opens and maps; the events count from here on.  -ENOMEM: the kernel refuses a ring of this size;
 * -ENODEV: the CPU is offline.
 */
int pp_ring_open(struct pp_ring *ring, int cpu, const struct pp_ring_options *options,
		 struct pp_error *err);

/* Hands every record in the ring to `record` and gives the room back. */
void pp_ring_drain(struct pp_ring *ring,
		   void (*record)(void *data, struct pp_ring *ring,
				  const struct perf_event_header *header),
		   void *data);

/* Stops the events.  What is in the ring stays. */
void pp_ring_stop(struct pp_ring *ring);

/* Records that the kernel could not place; after pp_ring_stop() and the last drain. */
uint64_t pp_ring_lost(const struct pp_ring *ring);

void pp_ring_close(struct pp_ring *ring);

#endif
