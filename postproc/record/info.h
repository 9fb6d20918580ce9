/* SPDX-License-Identifier: MIT */
/*
 * info.json: what a capture is of, and what it lacks.  Written when the program starts, with
 * "complete": false, and again by rename when it has ended; the room for the second is reserved at
 * the first, so that a full disk cannot take it.
 *
 * Schema 1.  Times named _ns are CLOCK_MONOTONIC nanoseconds; fields in [] are in the second only,
 * and a field that does not apply is left out.
 *
 *   schema        1
 *   version       of gprof-mt
 *   recorder      "record" (or "program", for a capture made without `gprof-mt record`)
 *   complete      false: record was killed, or still runs
 *   command       array of strings; bytes that are no UTF-8 appear as U+FFFD
 *   pid           number, of the program's first process
 *   cwd           string
 *   start_ns, [end_ns], start_time, [end_time]      the latter ISO 8601, UTC
 *   [exit_status] number, or [signal] number: how the program ended
 *   clock         {name: "monotonic", uuid, offset_ns}: as in the clock block of the CTF metadata
 *   host          {sysname, release, machine, hostname, cpus, glibc}
 *   environment   {NAME: value}: of those that change what is recorded, as the caller had them
 *   libraries     array of paths that were preloaded
 *   config        {level, "calls.mode", ...}: every key with its value
 *   not_collected array of strings: what the level asks for and is not recorded here
 *   kernel        {source: "lttng"|"bpf"|"perf"|"switches"|"none", why: string,
 *                  pairs: bool (a switch names both threads), wakings: bool,
 *                  io: bool (uninterruptible waits are told from others),
 *                  [collector]: the pid of who still gathers them, without `record`, and holds a
 *                  lock on the directory (flock) as long as it does,
 *                  cpus: array of numbers, ring_bytes: number (of each CPU, at first),
 *                  [ring_end_bytes]: array, per CPU as in cpus: what they had grown to,
 *                  [events], [lost_events]: array, per CPU as in cpus,
 *                  [filled_switches]: that the kernel did not tell where it should (collector.c),
 *                  [unwritten_events]: of the lost, those the disk had no room for,
 *                  [processes], [threads]: that the kernel saw,
 *                  [still_running]: processes left when the program had ended, recorded until then}
 *   [processes], [threads]   that the runtime libraries recorded, or the kernel saw
 *   losses        array of {what, where, count}
 */
#ifndef PP_RECORD_INFO_H
#define PP_RECORD_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "record/collector.h"
#include "record/mailbox.h"
#include "core/error.h"
#include "runtime/capture.h"
#include "runtime/config.h"

struct pp_loss {
	char *what, *where;
	uint64_t count;
	bool is_silent; /* a row of the report alone: no line at the end of record */
};

struct pp_run {
	char *const *argv;
	const struct gm_config *config;
	const struct gm_capture *capture;
	const char *shown_dir; /* its path as the user gave it */
	int dir_fd;
	char *const *libraries;
	const struct pp_collector *collector;
	struct pp_mailbox *mailbox;
	int64_t start_ns, end_ns;
	int64_t start_us, end_us; /* CLOCK_REALTIME, microseconds */
	int status;		  /* of waitpid() */
	unsigned processes, threads;
	GPtrArray *losses; /* of struct pp_loss * */
};

/* Both 0 or -errno. */
int pp_info_begin(const struct pp_run *run, struct pp_error *err);
int pp_info_end(const struct pp_run *run, struct pp_error *err);

/*
 * For a program that runs without `record`, whose library has written info.json: puts in what is
 * known of the kernel's events, with "collector", the pid of who gathers them, until it is
 * complete.
 */
int pp_info_set_kernel(const struct pp_run *run, bool complete, struct pp_error *err);

void pp_run_add_loss(struct pp_run *run, const char *what, const char *where, uint64_t count);
void pp_run_add_silent_loss(struct pp_run *run, const char *what, const char *where,
			    uint64_t count);

#endif
