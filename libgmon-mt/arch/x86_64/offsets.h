/* SPDX-License-Identifier: MIT */
/*
 * Offsets and constants of C structures for mcount.S and history.S; calls.c and history.c assert
 * them.
 */
#ifndef GM_ARCH_OFFSETS_H
#define GM_ARCH_OFFSETS_H

/* struct gm_tls */
#define GM_TLS_STATE   0
#define GM_TLS_HISTORY 24
#define GM_TLS_VIEW    0x70

/* enum gm_state */
#define GM_TLS_STATE_UNBORN  0
#define GM_TLS_STATE_OFF     4
#define GM_TLS_STATE_HISTORY 6

/* struct gm_view */
#define GM_VIEW_SLOT_MASK 0
#define GM_VIEW_TABLE	  8

/* struct gm_calls_header, followed by the slots; offsets from the table's start */
#define GM_CALLS_SLOT_MASK    40
#define GM_CALLS_HEADER_BYTES 64
#define GM_ARC_BYTES	      32
#define GM_ARC_FROM	      (GM_CALLS_HEADER_BYTES + 0)
#define GM_ARC_SELF	      (GM_CALLS_HEADER_BYTES + 8)
#define GM_ARC_COUNT	      (GM_CALLS_HEADER_BYTES + 16)
#define GM_ARC_RECORD	      (GM_CALLS_HEADER_BYTES + 24)

/* GM_FROM_RETURN */
#define GM_FROM_RETURN_WORD -1

/* struct gm_history */
#define GM_HISTORY_TABLE     0
#define GM_HISTORY_PACKET    8
#define GM_HISTORY_END	     16
#define GM_HISTORY_TSC_BASE  24
#define GM_HISTORY_NS_BASE   32
#define GM_HISTORY_TSC_LIMIT 40
#define GM_HISTORY_MULT	     48
#define GM_CLOCK_MULT_SHIFT  32

/* struct gm_packet */
#define GM_PACKET_CONTENT_BITS 32

/*
 * The first place of an arc: the low bits of from * GM_HASH_FIRST + self; the mask selects
 * multiples of GM_ARC_BYTES. One multiplication suffices for one call site with many targets, one
 * function with many callers, and most programs.
 */
#define GM_HASH_FIRST 0x4f1bbcd8

/*
 * The second place: two multiplications by 2^31 * golden ratio, in signed 32 bits for the immediate
 * operand; bits 18 and up are well mixed.
 */
#define GM_HASH_FACTOR 0x4f1bbcdd
#define GM_HASH_SHIFT  27

#endif
