/* SPDX-License-Identifier: MIT */
/*
 * Collects the kernel's scheduling records of one program, from before its first instruction.
 *
 * The kernel fills rings, which are drained when half full, or once a second.  The records of all
 * CPUs are merged by time, filtered by the process tree and written as CTF.  A record is written
 * once it is older than the begin of the previous round, and than an allowance for a virtual CPU
 * that was stopped between taking a time stamp and publishing the record.
 *
 * Runs in the process of `record`, in one thread.  The profiled program contains none of it and
 * continues undisturbed if the collector is killed.
 */
#ifndef PP_RECORD_COLLECTOR_H
#define PP_RECORD_COLLECTOR_H

#include <poll.h>

#include "record/bpf/bpf.h"
#include "record/perf/decode.h"
#include "record/ctf/writer.h"
#include "record/merge.h"
#include "record/tree.h"
#include "runtime/config/config.h"

struct pp_collector {
	enum gm_kernel_source source; /* the source in use; never AUTO */
	char *why;	/* one sentence: the configured source, and why better ones are not used */
	bool best;	/* no better source was configured */
	bool full;	/* level full was configured */
	char **missing; /* groups of pp_full_events that are not recorded */
	struct pp_formats formats;
	struct pp_ring *rings; /* one per CPU */
	unsigned n_rings;
	size_t start_bytes, most_bytes; /* per ring */
	struct pp_bpf bpf;
	struct pp_merge merge;
	struct pp_tree tree;
	struct pp_kernel_ctf *ctf;
	uint64_t round_ns;   /* begin of the previous round */
	uint64_t emitted_ns; /* everything earlier is written */
	uint64_t begin_ns;   /* of a process that ran before: earlier events are not written */
	uint64_t end_ns;     /* ... that goes on: nor are later ones; 0: no limit */
	pid_t root;
	uint64_t filled;   /* switches that were missing among the tracepoints */
	uint64_t left_out; /* events for which the kernel skipped a BPF program, on all CPUs */
};

/* Is this process in the first PID namespace, i.e. not in a container with tids of its own? */
bool pp_collector_sees_host_pids(void);

/*
 * For `doctor`: determines which source is configured and permitted, without opening one for a
 * program.
 */
int pp_collector_probe(enum gm_kernel_source source, struct pp_error *err);

/* Is LTTng's kernel tracer to be tried first?  It is started before pp_collector_open(). */
bool pp_collector_wants_lttng(const struct gm_config *config);

/* The result of starting LTTng's kernel tracer. */
struct pp_collector_lttng {
	bool runs;
	const char *why;     /* why it does not run; NULL: not tried */
	const char *missing; /* events that it lacks; NULL: none */
};

/*
 * Opens the best source that `config` allows for the process `root`, which has not started yet, and
 * creates kernel/ below dir_fd, unless LTTng does.  Never fails: without a source, or without disk
 * space, the source is NONE and `why` gives the reason.
 */
void pp_collector_open(struct pp_collector *collector, const struct gm_config *config,
		       const struct pp_collector_lttng *lttng, pid_t root, int dir_fd,
		       const char *clock_uuid, int64_t clock_offset_ns);

/*
 * For a process that ran before, before the first round: records the events of another thread, and
 * of those that it starts from now on.  Returns 0 or -errno: -ESRCH: it has ended.
 */
int pp_collector_follow(struct pp_collector *collector, pid_t tid);

/* The recording begins: earlier events are not written. */
void pp_collector_begin(struct pp_collector *collector, uint64_t begin_ns);

/* Adds a thread's name and state, and the time after they were read (PP_KEVENT_STATE). */
void pp_collector_take_state(struct pp_collector *collector, const struct pp_kevent *state);

/* Does each switch name both threads, and are wakings and I/O waits recorded? */
bool pp_collector_has_pairs(const struct pp_collector *collector);

/*
 * Fills the descriptors to poll for POLLIN, up to PP_POLLFDS per ring; call it before each round.
 * Returns their number.
 */
#define PP_POLLFDS 2
unsigned pp_collector_pollfds(const struct pp_collector *collector, struct pollfd *fds);

/*
 * Return the size of the rings of a CPU, initially and now: perf's ring plus the BPF programs'
 * ring.
 */
size_t pp_collector_ring_start_bytes(const struct pp_collector *collector);
size_t pp_collector_ring_bytes(const struct pp_collector *collector, unsigned ring);

/* Drains the rings and writes the records whose order is final. */
void pp_collector_round(struct pp_collector *collector);

/* Stops and writes the rest.  Returns 0, or the -errno of the first failed write. */
int pp_collector_end(struct pp_collector *collector);

void pp_collector_done(struct pp_collector *collector);

#endif
