/* SPDX-License-Identifier: MIT */
/*
 * Switches and wakings told by programs of ours inside the kernel (programs.bpf.c), and of the
 * profiled program alone, in place of perf's tracepoints and context-switch records: a fifth
 * of their cost, and nothing to read of other programs.
 */
#ifndef PP_RECORD_BPF_BPF_H
#define PP_RECORD_BPF_BPF_H

#include "record/bpf/decode.h"
#include "record/bpf/records.h"
#include "record/perf/ring.h"
#include "core/error.h"

#define PP_BPF_MOST_PROGRAMS 7

struct bpf_object;
struct bpf_link;

/* The ring of one CPU. */
struct pp_bpf_ring {
	int cpu;
	struct pp_bpf_ring_head *head;
	struct pp_bpf_record *slots;
	uint64_t tail; /* records taken out */
	uint64_t told_dropped;
	uint64_t last_ns; /* the time of the last record so far */
	struct pp_bpf_clock clock;
};

struct pp_bpf {
	struct bpf_object *object; /* the programs and maps; NULL: none */
	struct bpf_link *links[PP_BPF_MOST_PROGRAMS];
	unsigned n_links;
	unsigned n_slots; /* of each ring; a power of two */
	int rings_fd;	  /* the map of all rings; -1: none */
	char *rings;	  /* mapped */
	size_t rings_bytes;
	struct pp_bpf_ring *of; /* the rings, in the order of perf's */
	unsigned n_rings;
};

/* Whether this build has the programs. */
bool pp_bpf_is_built(void);

/* Whether a program tells of it at level full, and no tracepoint of perf's has to. */
bool pp_bpf_tells(enum pp_kevent_kind kind);

/*
 * Loads the programs and lets them run, for the process `root` and what it will start, on the CPUs
 * of `rings`, whose last events wake the collector.  `full`: those of level full, too.  -EPERM:
 * needs CAP_BPF and CAP_PERFMON.
 */
int pp_bpf_open(struct pp_bpf *bpf, const struct pp_ring *rings, unsigned n_rings, pid_t root,
		bool full, struct pp_error *err);

/* Of each CPU. */
size_t pp_bpf_ring_bytes(const struct pp_bpf *bpf);

/*
 * Hands on what is in a ring, and gives the room back; at the end of what came before a gap, how
 * many records the gap took (PP_KEVENT_LOST).
 */
void pp_bpf_drain(struct pp_bpf *bpf, unsigned ring,
		  void (*take)(void *data, unsigned ring, struct pp_kevent *event), void *data);

/* Records begun and not yet ended, once all is drained. */
uint64_t pp_bpf_unfinished(const struct pp_bpf *bpf);

/* No more records.  How many the kernel left out by itself, of no ring in particular. */
uint64_t pp_bpf_stop(struct pp_bpf *bpf);

/* Also what pp_bpf_open() left half done. */
void pp_bpf_close(struct pp_bpf *bpf);

#endif
