/* SPDX-License-Identifier: MIT */
/*
 * Scheduling events from our BPF programs in the kernel (programs.bpf.c), of the profiled program
 * only.  They replace perf's tracepoints and context-switch records at a fifth of the cost, and
 * reveal nothing about other programs.
 */
#ifndef PP_RECORD_BPF_BPF_H
#define PP_RECORD_BPF_BPF_H

#include "record/bpf/decode.h"
#include "record/bpf/programs.h"
#include "record/bpf/records.h"
#include "record/perf/ring.h"
#include "core/error.h"

/* The ring of one CPU. */
struct pp_bpf_ring {
	int cpu;
	struct pp_bpf_ring_head *head;
	struct pp_bpf_record *slots;
	uint64_t tail; /* records consumed */
	uint64_t reported_dropped;
	uint64_t last_ns; /* time of the last record so far */
	struct pp_bpf_clock clock;
};

struct pp_bpf {
	struct pp_bpf_programs programs;
	unsigned n_slots; /* per ring; a power of two */
	int rings_fd;	  /* the map of all rings; -1: none */
	char *rings;	  /* mapped */
	size_t rings_bytes;
	struct pp_bpf_ring *of; /* the rings, in the order of perf's rings */
	unsigned n_rings;
};

/* Does this build contain the BPF programs? */
bool pp_bpf_is_built(void);

/*
 * At level full, do the BPF programs record this kind of event, so that no perf tracepoint is
 * needed?
 */
bool pp_bpf_tells(enum pp_kevent_kind kind);

/*
 * Loads and attaches the programs for the process `root` and its descendants, on the CPUs of
 * `rings`, whose last events wake the collector.  `full`: also the events of level full.  Returns 0
 * or -errno; -EPERM: needs CAP_BPF and CAP_PERFMON.
 */
int pp_bpf_open(struct pp_bpf *bpf, const struct pp_ring *rings, unsigned n_rings, pid_t root,
		bool full, struct pp_error *err);

/* Records another thread, and its descendants from now on.  Returns 0 or -errno. */
int pp_bpf_add_thread(struct pp_bpf *bpf, pid_t tid);

/* Returns the size of the ring of one CPU. */
size_t pp_bpf_ring_bytes(const struct pp_bpf *bpf);

/*
 * Passes on the records of a ring and releases their space.  At a gap, after the records before it,
 * passes on the number of lost records (PP_KEVENT_LOST).
 */
void pp_bpf_drain(struct pp_bpf *bpf, unsigned ring,
		  void (*take)(void *data, unsigned ring, struct pp_kevent *event), void *data);

/* Returns the number of records begun and not finished, after all rings are drained. */
uint64_t pp_bpf_unfinished(const struct pp_bpf *bpf);

/*
 * Stops recording.  Returns the number of events for which the kernel skipped a program, on any
 * CPU.
 */
uint64_t pp_bpf_stop(struct pp_bpf *bpf);

/* Also cleans up after a failed pp_bpf_open(). */
void pp_bpf_close(struct pp_bpf *bpf);

#endif
