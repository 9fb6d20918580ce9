/* SPDX-License-Identifier: MIT */
/*
 * The wire contract of the history of calls: what libgmon-mt records with [calls] mode = history.
 *
 * Streams: <pid>/calls-history/stream_<n>, then stream_<n>_1, _2, ..., CTF 1.8, little-endian, with
 * the packets of sync-trace/events.h: one thread's each, `tid` and `index` in the context; the same
 * event header.  Everything is a multiple of 8 bytes, so a reader of its own may take words:
 *
 *	call    id 8, time stamp 32, arc 24		8 bytes
 *	return  id 8, time stamp 32, where 24		8 bytes
 *	arc     id 8, time stamp 32, number 24, from 64, self 64
 *	time    255 8, id 8, time stamp 64, unused 48	16 bytes
 *
 * lowest bits first.  Time stamps are CLOCK_MONOTONIC nanoseconds; of the 32-bit ones a reader
 * extends the low bits, as CTF says, from timestamp_begin of the packet on; `time` comes before an
 * event that follows more than 2^32 ns after the one before it.
 *
 *   arc   defines a number for a way that calls are made (return address in the caller, address in
 *	   the function called), until the same number is defined again in the stream.  Defined
 *	   before it is used, when its thread makes the first such call.
 *   call  a function was entered, by a known arc.
 *   return  a function is about to return, in code built to say so; `where` are the low 24 bits of
 *	   an address in it.  Entries that were left by an exception or longjmp() have none.
 */
#ifndef GMON_MT_HISTORY_H
#define GMON_MT_HISTORY_H

#define GM_HISTORY_DIR "calls-history"

/* Also for assembly. */
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
