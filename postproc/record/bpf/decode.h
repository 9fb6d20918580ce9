/* SPDX-License-Identifier: MIT */
/*
 * From what a BPF program said to a struct pp_kevent.
 */
#ifndef PP_RECORD_BPF_DECODE_H
#define PP_RECORD_BPF_DECODE_H

#include <stdbool.h>

#include "record/bpf/records.h"
#include "record/ctf/kevent.h"

/* What the records of a CPU told of its run queue's clock; zeroed at first. */
struct pp_bpf_clock {
	uint64_t time_ns; /* when that was */
	uint32_t lag_ns;  /* behind CLOCK_MONOTONIC; the lower half */
};

/* False: nothing that is known. */
bool pp_bpf_decode(const struct pp_bpf_record *record, int cpu, struct pp_bpf_clock *clock,
		   struct pp_kevent *event);

#endif
