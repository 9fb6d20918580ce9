/* SPDX-License-Identifier: MIT */
/* Layout of the running kernel that CO-RE cannot provide: distances between per-CPU variables. */
#ifndef PP_RECORD_BPF_LAYOUT_H
#define PP_RECORD_BPF_LAYOUT_H

#include <stdint.h>

#include "core/error.h"

/*
 * Sets the distance in bytes from a CPU's run queue to its preempt count.  Returns 0 or -errno;
 * -ENOENT: this kernel's BTF lacks the variables; other errors: its BTF cannot be read.
 */
int pp_bpf_preempt_count(int64_t *ret_distance, struct pp_error *err);

#endif
