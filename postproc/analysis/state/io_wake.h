/* SPDX-License-Identifier: MIT */
/*
 * Determines for each blocking call which thread ended it: the one that made the last wake-up of
 * the caller within the call. That thread may belong to another process of the capture. Wake-ups
 * from uninterruptible sleep count only if there is no other one: that sleep is for the kernel's
 * own locks and for pages, which a read that has its data may still need.
 *
 * The wake-up by a pipe, a Unix socket, a futex or the end of a child is made by the thread that
 * wrote, woke or ended. Network packets are delivered by interrupts, which do not tell the sender;
 * BPF programs find it for TCP between two programs of one host (record/bpf/senders.bpf.h).
 */
#ifndef PP_ANALYSIS_STATE_IO_WAKE_H
#define PP_ANALYSIS_STATE_IO_WAKE_H

#include "analysis/state/thread_mode.h"
#include "analysis/state/wait_end.h"

enum pp_io_end {
	PP_IO_END_WOKEN,     /* by a thread of the capture */
	PP_IO_END_INTERRUPT, /* woken by an interrupt: a timer, a device, the network */
	PP_IO_END_OUTSIDE,   /* woken by a thread outside of the capture */
	PP_IO_END_AWAKE,     /* not woken in the call: it worked in the kernel, or lacked a CPU */
	PP_IO_END_OPEN,	     /* the thread, or the capture, ended within the call */
	PP_N_IO_ENDS
};

struct pp_io_wakes {
	GArray *last; /* by thread serial, of the wake-ups */
};

void pp_io_wakes_init(struct pp_io_wakes *wakes);
void pp_io_wakes_done(struct pp_io_wakes *wakes);

/*
 * Processes a PP_EVENT_WAKING. woken: the state of the thread before; NULL: not known. mark: the
 * blocking call that the waker is in; PP_MARK_NONE if there is none, or if it was too short to be
 * recorded.
 */
void pp_io_wakes_waking(struct pp_io_wakes *wakes, const struct pp_event *event,
			const struct pp_thread_state *woken, uint32_t mark);

/* Returns how a completed call ended; ret: by which thread and call, if by one. */
enum pp_io_end pp_io_wakes_end(const struct pp_io_wakes *wakes, const struct pp_io *io,
			       struct pp_wait_other *ret);

/* A count of calls by their ends. */
struct pp_io_end_sums {
	uint64_t n[PP_N_IO_ENDS];
	int64_t ns[PP_N_IO_ENDS];
};

/* "3 (1.20 ms) woken by an interrupt, ...": all calls that no thread ended; NULL: there are none.
 */
char *pp_io_end_sums_text(const struct pp_io_end_sums *sums);

#endif
