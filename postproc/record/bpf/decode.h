/* SPDX-License-Identifier: MIT */
/* Converts a record of the BPF programs to a struct pp_kevent. */
#ifndef PP_RECORD_BPF_DECODE_H
#define PP_RECORD_BPF_DECODE_H

#include <stdbool.h>

#include "record/bpf/records.h"
#include "record/ctf/kevent.h"

/* The lag of a CPU's run-queue clock as observed in its records; zero-initialized. */
struct pp_bpf_clock {
	uint64_t time_ns; /* when the lag was observed */
	uint32_t lag_ns;  /* lag behind CLOCK_MONOTONIC; the lower 32 bits */
};

/* Returns false for an unknown kind of record. */
bool pp_bpf_decode(const struct pp_bpf_record *record, int cpu, struct pp_bpf_clock *clock,
		   struct pp_kevent *event);

#endif
