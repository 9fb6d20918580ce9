/* SPDX-License-Identifier: MIT */
/*
 * The threads of a running process, as /proc shows them: CPU time, time in the run queue, context
 * switches, and state.  Reading costs the process nothing.
 */
#ifndef PP_MONITOR_THREADS_H
#define PP_MONITOR_THREADS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pp_running_thread {
	uint32_t tid;
	char name[16];			 /* as the kernel has it */
	char state;			 /* as in proc(5): R, S, D, T, ... */
	int64_t time_ns;		 /* when its times were read: CLOCK_MONOTONIC */
	bool has_times;			 /* the kernel counts the next two */
	uint64_t cpu_ns;		 /* on a CPU so far */
	uint64_t queued_ns;		 /* ready, but without a CPU, so far */
	bool has_switches;		 /* the next two are known */
	uint64_t voluntary, involuntary; /* context switches so far */
};

/*
 * An array of struct pp_running_thread, by tid; without those that end while they are read.  NULL:
 * there is no such process, or it may not be seen.  The caller unrefs it.
 */
GArray *pp_running_threads(pid_t pid);

/* NULL: there is none with that tid. */
const struct pp_running_thread *pp_running_threads_find(const GArray *threads, uint32_t tid);

#endif
