/* SPDX-License-Identifier: MIT */
/*
 * Gathers the kernel's scheduling records of one program, from before its first instruction.
 *
 * The idea: rings that the kernel fills are drained when half full, or once a second; the records
 * of all CPUs are merged in time, filtered by the process tree and written as CTF.  What is emitted
 * is older than the begin of the previous round (and than a slack for a virtual CPU that was
 * stopped between taking a time stamp and publishing the record).
 *
 * Runs in the record process, in one thread; nothing of it lives in the profiled program, which
 * goes on undisturbed if the collector is killed.
 */
#ifndef PP_RECORD_COLLECTOR_H
#define PP_RECORD_COLLECTOR_H

#include <poll.h>

#include "record/bpf/bpf.h"
#include "record/perf/decode.h"
#include "record/ctf/writer.h"
#include "record/merge.h"
#include "record/tree.h"
#include "runtime/config.h"

struct pp_collector {
	enum gm_kernel_source source; /* what is used: all but AUTO */
	char *why;	/* one sentence: what was asked, what the better ones lacked */
	bool best;	/* no better source was asked for */
	bool full;	/* level full was asked for */
	char **missing; /* what of it is not recorded here, of pp_full_events' groups */
	struct pp_formats formats;
	struct pp_ring *rings; /* one per CPU */
	unsigned n_rings;
	size_t start_bytes, most_bytes; /* of a ring */
	struct pp_bpf bpf;
	struct pp_merge merge;
	struct pp_tree tree;
	struct pp_kernel_ctf *ctf;
	uint64_t round_ns;   /* begin of the previous round */
	uint64_t emitted_ns; /* all before is written */
	pid_t root;
	uint64_t filled;   /* switches that no tracepoint told of */
	uint64_t left_out; /* records that the kernel let no BPF program make, of any CPU */
};

/* In the first pid namespace: not in a container whose threads have numbers of its own. */
bool pp_collector_sees_host_pids(void);

/* What is wanted and permitted without opening anything for a program: for `doctor`. */
int pp_collector_probe(enum gm_kernel_source source, struct pp_error *err);

/* Whether LTTng's kernel tracer is to be tried first: it is started before pp_collector_open(). */
bool pp_collector_wants_lttng(const struct gm_config *config);

/* What became of that. */
struct pp_collector_lttng {
	bool runs;
	const char *why;     /* it does not; NULL: not tried */
	const char *missing; /* events that it has not; NULL: none */
};

/*
 * Opens the best source that `config` allows for the process `root`, which has not yet begun, and
 * creates kernel/ below dir_fd, unless LTTng does.  Never fails: without a source, or room on the
 * disk, it is NONE and `why` says so.
 */
void pp_collector_open(struct pp_collector *collector, const struct gm_config *config,
		       const struct pp_collector_lttng *lttng, pid_t root, int dir_fd,
		       const char *clock_uuid, int64_t clock_offset_ns);

/* Each switch names both threads, and wakings and waits for I/O are told. */
bool pp_collector_has_pairs(const struct pp_collector *collector);

/* What to poll for POLLIN, before each round anew; up to PP_POLLFDS a ring.  Returns how many. */
#define PP_POLLFDS 2
unsigned pp_collector_pollfds(const struct pp_collector *collector, struct pollfd *fds);

/* What the rings of a CPU take, at first and now: perf's, and that of BPF programs. */
size_t pp_collector_ring_start_bytes(const struct pp_collector *collector);
size_t pp_collector_ring_bytes(const struct pp_collector *collector, unsigned ring);

/* Drains the rings and writes what is certain to be in order. */
void pp_collector_round(struct pp_collector *collector);

/* Stops and writes the rest.  0, or the -errno of the first write that failed. */
int pp_collector_end(struct pp_collector *collector);

void pp_collector_done(struct pp_collector *collector);

#endif
