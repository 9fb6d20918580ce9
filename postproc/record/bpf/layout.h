/* SPDX-License-Identifier: MIT */
/*
 * Where the running kernel has what our BPF programs look at, by its BTF.
 */
#ifndef PP_RECORD_BPF_LAYOUT_H
#define PP_RECORD_BPF_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/ctf/kevent.h"
#include "core/error.h"

/* What differs between kernels: type numbers, and offsets of members. */
struct pp_bpf_layout {
	uint32_t switch_id, waking_id, fork_id;
	int pid, prio, comm, cpu, exit_state;
	int entity_queue, queue; /* from the thread to its queue of one class, to that of the CPU */
	int preempt_count, clock; /* from there */
	int arrival;		  /* of the thread on its CPU, by that clock */
	/* For level full; registers of the thread. */
	uint32_t enter_id, exit_id, fault_user_id, fault_kernel_id;
	int args[PP_N_VALUES], call_number, ip;
};

/* -ENOENT: something is not where it is looked for. */
int pp_bpf_layout_read(struct pp_bpf_layout *layout, bool full, struct pp_error *err);

#endif
