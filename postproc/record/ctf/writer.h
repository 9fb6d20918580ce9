/* SPDX-License-Identifier: MIT */
/*
 * The kernel/ folder of a capture: CTF 1.8, with LTTng's names of events and fields.
 *
 * One stream file per CPU, channel0_<cpu>.  Packets are written whole, with one write() each; a
 * packet that does not fit on the disk is taken back (ftruncate) and its events counted as
 * discarded, so that the stream stays readable and goes on when there is room again.  Differences
 * from LTTng's own traces, none of which a reader by name notices: comm is a string instead of 16
 * characters; integers are as wide as their values; sched_waking has a context of its own: `tid`,
 * the thread that woke or that the interrupt borrowed, and `irq`, 1 in a softirq, 2 in a hard one.
 * Events of level full have the context `tid`, the thread on the CPU, where an interrupt's are not
 * meant; system calls have their arguments as integers, and at the exit the result alone.
 *
 * prev_state: 0 for a thread that was preempted, else the kernel's TASK_ bits (1 interruptible, 2
 * uninterruptible, 4 stopped, 8 traced, 16 dead, 32 zombie, 64 parked, 128 idle).  In the raw
 * tracepoint a preempted thread has the bit above these set; LTTng hands that on as 256.
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
	uint64_t start_ns; /* when tracing began */
};

/*
 * Creates `kernel` below dir_fd, with its metadata.  `source`: "bpf", "perf" or "switches";
 * `syscalls`: level full, else NULL; borrowed.
 */
int pp_kernel_ctf_create(int dir_fd, const char *source, const struct pp_kernel_ctf_clock *clock,
			 const struct pp_syscalls *syscalls, unsigned n_streams, const int *cpus,
			 struct pp_kernel_ctf **ret_ctf, struct pp_error *err);

/* Appends to the stream of that number.  Events of one stream come in order of time. */
void pp_kernel_ctf_write(struct pp_kernel_ctf *ctf, unsigned stream, const struct pp_kevent *event);

/* So many records of the stream's CPU were lost at that time. */
void pp_kernel_ctf_lost(struct pp_kernel_ctf *ctf, unsigned stream, uint64_t time_ns,
			uint64_t count);

/* Writes out what has been waiting for longer than a second before now_ns. */
void pp_kernel_ctf_tick(struct pp_kernel_ctf *ctf, uint64_t now_ns);

/*
 * Closes every stream with its last packet, which stands even if it is empty: the CPU was watched
 * until end_ns.  0, or the -errno of the first write that failed (its events are discarded).
 */
int pp_kernel_ctf_end(struct pp_kernel_ctf *ctf, uint64_t end_ns);

uint64_t pp_kernel_ctf_events(const struct pp_kernel_ctf *ctf);
uint64_t pp_kernel_ctf_discarded(const struct pp_kernel_ctf *ctf, unsigned stream);

/* Of the discarded ones, those that there was no room on the disk for. */
uint64_t pp_kernel_ctf_unwritten(const struct pp_kernel_ctf *ctf);

void pp_kernel_ctf_free(struct pp_kernel_ctf *ctf);

#endif
