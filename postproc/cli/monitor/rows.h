/* SPDX-License-Identifier: MIT */
/* The tables of `top`: threads, and objects that are waited for, in the last part of the time. */
#ifndef PP_CLI_MONITOR_ROWS_H
#define PP_CLI_MONITOR_ROWS_H

#include "cli/monitor/snapshot.h"

/* The threads of the recorded processes that run, at one time. */
struct pp_monitor_times {
	int64_t time_ns;       /* CLOCK_MONOTONIC */
	GHashTable *processes; /* pid -> GArray of struct pp_running_thread */
};

/* Reads the threads of each process that the capture shows as running. */
void pp_monitor_times_read(struct pp_monitor_times *times, const struct pp_model *model);
void pp_monitor_times_done(struct pp_monitor_times *times);

/*
 * Each thread with its shares of the time between two readings: on a CPU, ready without a CPU, and
 * neither; its context switches, and what it waits for.  Those that used most CPU time come first.
 */
struct pp_table *pp_monitor_threads(const struct pp_snapshot *snapshot,
				    const struct pp_monitor_times *before,
				    const struct pp_monitor_times *now);

/*
 * The objects that threads waited for in the snapshot's time, the longest waits first, with those
 * that wait now, and the holder.
 */
struct pp_table *pp_monitor_objects(const struct pp_snapshot *snapshot);

#endif
