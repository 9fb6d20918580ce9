/* SPDX-License-Identifier: MIT */
/*
 * The format of memory accesses in critical sections, recorded by libaccess_trace in programs built
 * with -fsanitize=thread.
 *
 * Streams: <pid>/accesses/stream_<n>, then stream_<n>_1, _2, ..., in CTF 1.8, little-endian, with
 * the packets and event headers of events.h: each packet belongs to one thread, with `tid` and
 * `index` in its context. events_discarded counts segments that were not written.
 *
 * A segment is the stretch of a thread between two of its synchronization events while it holds a
 * lock. It belongs to every critical section that is open in it. A segment without accesses has no
 * event. Its lines, with all their fields, form a set. Equal sets of a stream have one number.
 *
 * Event 1, lines: set u32, n u32, n times struct st_access_line.
 * Defines lines of a set, in the order of their first access; with set 0, of none yet. A set may
 * have several of these events and of event 6; it ends at the first segment that names it, or at
 * lines of another set. It takes the place ST_ACCESS_SET_PLACE(set) of the stream, and the set that
 * was there is not named any more: a reader keeps ST_ACCESS_SETS sets of a stream. A set whose
 * lines were not all written is not named. 0 is the number of the empty set.
 *
 * All lines of a stream are numbered, from 1, in the order of their definitions.
 *
 * Event 6, known_lines: set u32, last u32, n u32, n times place u16.
 * More lines of the set, in the order of their first access, which have been defined before: the
 * one of the last ST_ACCESS_LINES_KNOWN lines whose number has ST_ACCESS_LINE_PLACE(number) =
 * `place`. last: the number of the last definition before this event. A reader that has counted
 * another one has missed some, and knows no line so far.
 *
 * Event 2, segment: set u32, duration u32, reads u32, writes u32, flags u8.
 * A segment that ends at the time of the event, and began `duration` ns before. reads, writes:
 * accesses; one that reads and writes counts as both. An access of several lines is one. flags:
 * enum st_access_flags.
 *
 * Event 3, segment_long: set u32, duration u64, reads u64, writes u64, left_out u64, flags u8.
 * The same, if a number needs more than 32 bits or accesses were left out. left_out: accesses of
 * which at least one line found no room in the set, which has ST_ACCESS_LINES_MAX lines at most.
 *
 * Event 4, block: address u64, size u64, site u64.
 * [address, address + size) is a block of the heap, allocated by a call that returns to `site` (0:
 * not known). The thread that accesses the block writes it, at the end of the segment and before
 * the segment's event, unless the block is in the trace already. The block exists until a `freed`
 * that covers it, or a `block` that overlaps it: one with the same address and site is the same
 * block, whose size may have changed; with any other one, the end of its life was not recorded.
 *
 * Event 5, freed: address u64, size u64.
 * Written before the program frees these bytes, by the thread that does, if a `block` in them was
 * written. All locations in them begin a new life: a later access to the same addresses is to
 * another object, which has a `block` of its own.
 */
#ifndef ST_ACCESSES_H
#define ST_ACCESSES_H

#include <stdint.h>

#define ST_ACCESSES_DIR "accesses"

#define ST_ACCESSES_LINES	 1
#define ST_ACCESSES_SEGMENT	 2
#define ST_ACCESSES_SEGMENT_LONG 3
#define ST_ACCESSES_BLOCK	 4
#define ST_ACCESSES_FREED	 5
#define ST_ACCESSES_KNOWN_LINES	 6
#define ST_ACCESSES_N_EVENTS	 7
#define ST_ACCESSES_EXTENDED	 255

#define ST_LINE_BYTES	    64u
#define ST_LINES_IN_EVENT   32u
#define ST_KNOWN_IN_EVENT   64u
#define ST_ACCESS_LINES_MAX 8192u

#define ST_ACCESS_LINES_KNOWN	     16384u /* a power of two */
#define ST_ACCESS_LINE_PLACE(number) (((uint32_t)(number)-1) & (ST_ACCESS_LINES_KNOWN - 1))
_Static_assert(ST_ACCESS_LINES_KNOWN - 1 <= UINT16_MAX, "a place fits its field");

#define ST_ACCESS_SETS		    1024u /* a power of two */
#define ST_ACCESS_SET_PLACE(number) (((uint32_t)(number)-1) & (ST_ACCESS_SETS - 1))

enum st_access_flags {
	ST_ACCESS_INEXACT = 1, /* accesses were left out */
	/*
	 * Written lines were not readable any more at the end of the segment: all bytes written
	 * there count as changed.
	 */
	ST_ACCESS_UNMAPPED = 2,
	/*
	 * Recorded by single-stepping (sampled mode). A stepped section has an event for each of
	 * its segments, also for one without accesses, whose set is 0. A section without any event
	 * was not sampled.
	 */
	ST_ACCESS_STEPPED = 4,
	/* Stepping was given up in this segment: its section is in no sum, and counted. */
	ST_ACCESS_ABANDONED = 8,
};

/* Why: enum st_access_why, in the upper bits of the flags. */
#define ST_ACCESS_WHY_SHIFT 4

enum st_access_why {
	ST_ACCESS_WHY_LENGTH = 1,  /* more steps than `access.steps` */
	ST_ACCESS_WHY_CALL,	   /* a system call that steps might not survive */
	ST_ACCESS_WHY_STACK,	   /* no room, or another stack */
	ST_ACCESS_WHY_INSTRUCTION, /* its accesses are not known */
	ST_ACCESS_WHY_MEMORY,	   /* it faults, or cannot be read */
	ST_ACCESS_WHY_LEFT,	   /* by a jump out of a handler, or synchronization in a handler */
	ST_ACCESS_N_WHYS,
};

/* A cache line. In the masks, bit i stands for the byte at address + i. */
struct st_access_line {
	uint64_t address; /* a multiple of ST_LINE_BYTES */
	uint64_t read;
	uint64_t written;
	/* written, and different at the end of the segment from the value before the first write */
	uint64_t changed;
	/* of the first and the last access: its number in the segment, from 1, and return address
	 */
	uint32_t first, last;
	uint64_t first_site, last_site;
};
_Static_assert(sizeof(struct st_access_line) == 56, "on-disk size");

#define ST_ACCESSES_KNOWN_LINES_BYTES  12u /* and two for each place */
#define ST_ACCESSES_SEGMENT_BYTES      17u
#define ST_ACCESSES_SEGMENT_LONG_BYTES 37u
#define ST_ACCESSES_BLOCK_BYTES	       24u
#define ST_ACCESSES_FREED_BYTES	       16u
_Static_assert(5 + ST_ACCESSES_SEGMENT_BYTES <= 24, "cost of a repeated segment, with its header");

#endif
