/* SPDX-License-Identifier: MIT */
/*
 * Writes the kernel/ folder of a capture: CTF 1.8, with LTTng's names of events and fields.
 *
 * There is one stream file per CPU, channel0_<cpu> (in a ring, several: cpu_files.h).  Each packet
 * is written with one write().  A packet that does not fit on the disk is removed again (ftruncate)
 * and its events are counted as discarded, so the stream stays readable and continues when there is
 * space again.  Readers that access fields by name notice no difference from LTTng's own traces,
 * but there are some: comm is a string instead of 16 characters; integers are as wide as their
 * values; sched_waking has a context: `tid`, the thread that woke or that was interrupted, and
 * `irq`, 1 in a softirq, 2 in a hard interrupt.  Events of level full have the context `tid`, the
 * thread on the CPU, except those of interrupts; system calls have integer arguments, and at the
 * exit only the result.
 *
 * A thread that ran before the recording has an event lttng_statedump_process_state, with the TASK_
 * bits of its state in /proc in `state`, as in prev_state.
 *
 * prev_state: 0 for a preempted thread, else the kernel's TASK_ bits (1 interruptible, 2
 * uninterruptible, 4 stopped, 8 traced, 16 dead, 32 zombie, 64 parked, 128 idle).  In the raw
 * tracepoint a preempted thread has the next higher bit; LTTng reports it as 256.
 */
#ifndef PP_RECORD_CTF_WRITER_H
#define PP_RECORD_CTF_WRITER_H

#include <stdint.h>

#include "record/ctf/kevent.h"
#include "record/ctf/syscalls.h"
#include "core/error.h"

struct pp_kernel_ctf;

struct pp_kernel_ctf_clock {
	const char *uuid;
	int64_t offset_ns;
	uint64_t start_ns; /* start of tracing */
};

/*
 * Creates `kernel` below dir_fd, with its metadata.  `source`: "bpf", "perf" or "switches".
 * `syscalls`: for level full, else NULL; borrowed.  Returns 0 or -errno.
 */
int pp_kernel_ctf_create(int dir_fd, const char *source, const struct pp_kernel_ctf_clock *clock,
			 const struct pp_syscalls *syscalls, unsigned n_streams, const int *cpus,
			 struct pp_kernel_ctf **ret_ctf, struct pp_error *err);

/*
 * Keeps only the newest events: n_bytes of all streams together, at least PP_CPU_FILES_LEAST of
 * each, and, if ring_ns is not 0, those of that time.  The others no longer count as events.
 */
void pp_kernel_ctf_keep(struct pp_kernel_ctf *ctf, uint64_t n_bytes, uint64_t ring_ns);

/* Appends an event to the stream.  Times in a stream must not decrease. */
void pp_kernel_ctf_write(struct pp_kernel_ctf *ctf, unsigned stream, const struct pp_kevent *event);

/* Notes that `count` records of the stream's CPU were lost at time_ns. */
void pp_kernel_ctf_lost(struct pp_kernel_ctf *ctf, unsigned stream, uint64_t time_ns,
			uint64_t count);

/*
 * To be called often.  Every second, writes all packets, so that readers have all events up to
 * complete_ns: later ones will not be before that.
 */
void pp_kernel_ctf_tick(struct pp_kernel_ctf *ctf, uint64_t now_ns, uint64_t complete_ns);

/*
 * Closes all streams.  Each ends with a packet, even if it is empty, to show that the CPU was
 * observed until end_ns.  Returns 0, or the -errno of the first failed write (its events are
 * discarded).
 */
int pp_kernel_ctf_end(struct pp_kernel_ctf *ctf, uint64_t end_ns);

uint64_t pp_kernel_ctf_events(const struct pp_kernel_ctf *ctf);
uint64_t pp_kernel_ctf_discarded(const struct pp_kernel_ctf *ctf, unsigned stream);

/* Returns how many of the discarded events had no space on the disk. */
uint64_t pp_kernel_ctf_unwritten(const struct pp_kernel_ctf *ctf);

void pp_kernel_ctf_free(struct pp_kernel_ctf *ctf);

#endif
