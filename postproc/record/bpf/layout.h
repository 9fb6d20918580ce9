/* SPDX-License-Identifier: MIT */
/*
 * What CO-RE cannot tell of the running kernel's layout: distances between variables of a CPU.
 */
#ifndef PP_RECORD_BPF_LAYOUT_H
#define PP_RECORD_BPF_LAYOUT_H

#include <stdint.h>

#include "core/error.h"

/*
 * Bytes from a CPU's run queue to its preempt count.  -ENOENT: this kernel's BTF has no such
 * variables; another error: its BTF cannot be read.
 */
int pp_bpf_preempt_count(int64_t *ret_distance, struct pp_error *err);

#endif
