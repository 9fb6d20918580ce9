/* SPDX-License-Identifier: MIT */
/*
 * Converts a perf record to a struct pp_kevent.
 *
 * The layout of tracepoint data differs between kernels and is read from tracefs; side-band records
 * are kernel ABI.
 */
#ifndef PP_RECORD_PERF_DECODE_H
#define PP_RECORD_PERF_DECODE_H

#include "record/ctf/full.h"
#include "record/ctf/kevent.h"
#include "record/perf/ring.h"
#include "record/ctf/syscalls.h"
#include "record/perf/tracefs.h"

enum pp_tracepoint { PP_TP_SWITCH, PP_TP_WAKING, PP_TP_EXEC, PP_N_TRACEPOINTS };

struct pp_formats {
	uint64_t id[PP_N_TRACEPOINTS];
	struct pp_field type, flags, common_pid;
	struct {
		struct pp_field prev_comm, prev_pid, prev_prio, prev_state;
		struct pp_field next_comm, next_pid, next_prio;
	} sched_switch;
	struct {
		struct pp_field comm, pid, prio, target_cpu;
	} waking;
	struct {
		struct pp_field filename, pid, old_pid;
	} exec;
	struct pp_full_format {
		uint64_t id; /* 0: missing from this kernel, or not needed */
		struct pp_field fields[PP_N_VALUES];
	} full[PP_N_FULL];
	struct pp_syscalls *syscalls; /* NULL: not needed */
};

/*
 * Reads this kernel's formats, with `full` also those of level full.  Errors as pp_tracefs_read()
 * and pp_tracefs_parse().
 */
int pp_formats_load(struct pp_formats *formats, bool full, struct pp_error *err);
void pp_formats_done(struct pp_formats *formats);

/*
 * Fills *event; false: the record is not needed.  `formats` may be NULL if there are no
 * tracepoints.
 */
bool pp_decode(const struct pp_formats *formats, const struct pp_ring *ring,
	       const struct perf_event_header *header, struct pp_kevent *event);

#endif
