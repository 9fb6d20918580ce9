/* SPDX-License-Identifier: MIT */
/*
 * The format of timed samples, recorded by libgmon-mt with [sample] stacks = on.
 * `record --pid` takes samples of a process that already runs, and writes the same.
 *
 * Streams: <pid>/samples/stream_<n>, then stream_<n>_1, _2, ..., in CTF 1.8, little-endian, with
 * the packets and event headers of sync-trace/events.h: each packet belongs to one thread, with
 * `tid` and `index` in its context. A stream belongs to threads that lived one after the other; a
 * thread has one from its first sample on. The histogram of the samples is in <pid>/calls.
 *
 * Event 1, path: number u32, parent u32, address u64.
 * Defines a node of call paths, as in sync-trace/events.h: an address, and the number of its
 * caller's node, or enum st_path_end. The innermost address of a path is that of the interrupted
 * instruction plus 1; the others are return addresses. An address of 2^48 and more is in an object
 * that is being unloaded: see maps in format.h.
 *
 * Event 2, sample: path u32, n u32.
 * The thread was found on that path, and n periods of its CPU time have passed. n is more than one
 * if the kernel noticed late. path 0: the path is lost.
 *
 * A thread's samples that are in its histogram and not here were not written; stacks_why in its
 * slot has the reasons.
 */
#ifndef GMON_MT_SAMPLES_H
#define GMON_MT_SAMPLES_H

#define GM_SAMPLES_DIR "samples"

#define GM_SAMPLES_PATH	    1
#define GM_SAMPLES_SAMPLE   2
#define GM_SAMPLES_EXTENDED 255
#define GM_SAMPLES_N_EVENTS 3

/* The fields, in TSDL. */
#define GM_SAMPLES_PATH_FIELDS	 "uint32_t number; uint32_t parent; address_t address; "
#define GM_SAMPLES_SAMPLE_FIELDS "uint32_t path; uint32_t n; "

#endif
