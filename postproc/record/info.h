/* SPDX-License-Identifier: MIT */
/*
 * Writes info.json: the description of a capture and its losses.  Written when the program starts,
 * with "complete": false, and replaced by rename when it has ended.  Space for the second version
 * is reserved with the first, so that a full disk cannot prevent it.
 *
 * Schema 1.  Times named _ns are CLOCK_MONOTONIC nanoseconds; fields in [] are in the second
 * version only, and a field that does not apply is omitted.
 *
 *   schema        1
 *   version       of gprof-mt
 *   recorder      "record" (or "program", for a capture made without `gprof-mt record`)
 *   complete      false: record was killed, or still runs
 *   command       array of strings; bytes that are no UTF-8 appear as U+FFFD
 *   pid           number, of the program's first process
 *   cwd           string
 *   start_ns, [end_ns], start_time, [end_time]      the latter ISO 8601, UTC
 *   attached      {age_ns, [end]}, if the process already ran: time since its start, and the reason
 *                 for the recording's end: "exit" of the process, "duration" or "signal".  Its
 *                 exit status and its use of resources are not known
 *   [exit_status] number, or [signal] number: how the program ended
 *   [rusage]      {user_ns, system_ns, max_rss_bytes, minor_faults, major_faults,
 *                  blocks_in, blocks_out, voluntary, involuntary (context switches)}: of the
 *                  program and the processes that it waited for, as wait4() tells
 *   clock         {name: "monotonic", uuid, offset_ns}: as in the clock block of the CTF metadata
 *   host          {sysname, release, machine, hostname, cpus, glibc}
 *   environment   {NAME: value}: variables that affect the recording, as the caller set them
 *   libraries     array of paths that were preloaded
 *   config        {level, "calls.mode", ...}: every key with its value
 *   not_collected array of strings: parts of the level that are not recorded here
 *   relay         {url, session}: LTTng's traces are at a relay daemon, in the folder of this host
 *                 and session
 *   kernel        {source: "lttng"|"bpf"|"perf"|"switches"|"none", why: string,
 *                  pairs: bool (a switch names both threads), wakings: bool,
 *                  io: bool (uninterruptible waits are distinguished),
 *                  [collector]: pid of the collector that still runs, without `record`; it holds a
 *                  lock on the directory (flock) as long as it does,
 *                  cpus: array of numbers, ring_bytes: number (per CPU, initially),
 *                  [ring_end_bytes]: array, per CPU as in cpus: final sizes,
 *                  [events], [lost_events]: array, per CPU as in cpus,
 *                  [filled_switches]: that were missing among the tracepoints (collector.c),
 *                  [unwritten_events]: lost events for which the disk had no space,
 *                  [processes], [threads]: that the kernel saw,
 *                  [still_running]: processes left when the program had ended, recorded until then}
 *   [processes], [threads]   that the runtime libraries recorded, or the kernel saw
 *   losses        array of {what, where, count}
 */
#ifndef PP_RECORD_INFO_H
#define PP_RECORD_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include <glib.h>

#include "record/collector.h"
#include "record/requests.h"
#include "core/error.h"
#include "runtime/capture/capture.h"
#include "runtime/config/config.h"

struct pp_loss {
	char *what, *where;
	uint64_t count;
	bool is_silent; /* only a row of the report; `record` prints no line about it at the end */
};

/* Why the recording of a process that already ran has ended. */
enum pp_attach_end { PP_ATTACH_EXIT, PP_ATTACH_DURATION, PP_ATTACH_SIGNAL };

/* Facts about a process that already ran (record/attach). */
struct pp_attached {
	const char *cwd; /* NULL: not known */
	int64_t age_ns;	 /* time since its start */
	enum pp_attach_end end;
};

struct pp_run {
	/* Called when the kernel's events are complete, before the capture is read; or NULL. */
	void (*kernel_ended)(void *data);
	void *data;
	char *const *argv;
	const struct gm_config *config;
	const struct gm_capture *capture;
	const char *shown_dir; /* the path that the user gave */
	int dir_fd;
	char *const *libraries;
	struct pp_collector *collector;
	struct pp_mailbox *mailbox;
	int64_t start_ns, end_ns;
	int64_t start_us, end_us; /* CLOCK_REALTIME, microseconds */
	int status;		  /* of wait4() */
	struct rusage usage;	  /* the same */
	unsigned processes, threads;
	GPtrArray *losses;		    /* of struct pp_loss * */
	const char *relay_url;		    /* of the relay daemon that stores LTTng's traces */
	char *relay_session;		    /* LTTng's session; NULL: the capture stores them */
	const struct pp_attached *attached; /* NULL: `record` started the program */
};

/* Write the first and the second version.  Return 0 or -errno. */
int pp_info_begin(const struct pp_run *run, struct pp_error *err);
int pp_info_end(const struct pp_run *run, struct pp_error *err);

/*
 * For a program that runs without `record` and whose library has written info.json: adds the data
 * on the kernel's events, with "collector", the collector's pid, until it is complete.  Returns 0
 * or -errno.
 */
int pp_info_set_kernel(const struct pp_run *run, bool complete, struct pp_error *err);

GPtrArray *pp_losses_new(void);
void pp_run_add_loss(struct pp_run *run, const char *what, const char *where, uint64_t count);
void pp_run_add_silent_loss(struct pp_run *run, const char *what, const char *where,
			    uint64_t count);

#endif
