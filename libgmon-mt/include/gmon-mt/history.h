/* SPDX-License-Identifier: MIT */
/*
 * The file format of the history of calls, recorded by libgmon-mt with [calls] mode = history.
 *
 * Streams: <pid>/calls-history/stream_<n>, then stream_<n>_1, _2, ..., in CTF 1.8, little-endian,
 * with the packets of sync-trace/events.h: each packet belongs to one thread, with `tid` and
 * `index` in its context. The event header is the same, too. All sizes are multiples of 8 bytes, so
 * a custom reader may read 64-bit words:
 *
 * call	id 8, time stamp 32, arc 24		8 bytes
 * return	id 8, time stamp 32, where 24		8 bytes
 * arc	id 8, time stamp 32, number 24, from 64, self 64
 * time	255 8, id 8, time stamp 64, unused 48	16 bytes
 *
 * with the lowest bits first. Time stamps are CLOCK_MONOTONIC nanoseconds. A reader extends the
 * 32-bit ones as CTF defines, starting from timestamp_begin of the packet; `time` precedes an event
 * that follows more than 2^32 ns after the one before it.
 *
 *   arc	defines a number for an arc (return address in the caller, address in the function
 * 	called), until the same number is defined again in the stream.  It precedes the first
 * 	record that uses it.
 *   call	a function was entered, by a defined arc.
 *   return	a function is about to return, in code built to report that; `where` are the low 24
 * 	bits of an address in it.  Functions left by an exception or longjmp() have none.
 */
#ifndef GMON_MT_HISTORY_H
#define GMON_MT_HISTORY_H

#define GM_HISTORY_DIR "calls-history"

/* Also used by assembly code. */
#define GM_HISTORY_CALL	    1
#define GM_HISTORY_RETURN   2
#define GM_HISTORY_ARC	    3
#define GM_HISTORY_TIME	    4
#define GM_HISTORY_EXTENDED 255
#define GM_HISTORY_N_EVENTS 5

#define GM_HISTORY_TIME_SHIFT 8
#define GM_HISTORY_ARC_SHIFT  40
#define GM_HISTORY_ARC_MAX    0xffffff

#endif
