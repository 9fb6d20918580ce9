/* SPDX-License-Identifier: MIT */
/*
 * What mcount.S knows of C structures; calls.c asserts each against its struct.
 */
#ifndef GM_ARCH_OFFSETS_H
#define GM_ARCH_OFFSETS_H

/* struct gm_tls */
#define GM_TLS_STATE 0
#define GM_TLS_VIEW  8

/* enum gm_state */
#define GM_TLS_STATE_OFF 3

/* struct gm_view */
#define GM_VIEW_SLOT_MASK 0
#define GM_VIEW_TABLE	  8

/* struct gm_calls_header, then the slots; offsets from the table's start */
#define GM_CALLS_SLOT_MASK    40
#define GM_CALLS_HEADER_BYTES 64
#define GM_ARC_BYTES	      32
#define GM_ARC_FROM	      (GM_CALLS_HEADER_BYTES + 0)
#define GM_ARC_SELF	      (GM_CALLS_HEADER_BYTES + 8)
#define GM_ARC_COUNT	      (GM_CALLS_HEADER_BYTES + 16)

/*
 * The hash of an arc: two multiplications by 2^31 * golden ratio, kept signed-32-bit for the
 * immediate; bits 18 and up are well mixed, and the mask picks multiples of GM_ARC_BYTES there.
 */
#define GM_HASH_FACTOR 0x4f1bbcdd
#define GM_HASH_SHIFT  27

#endif
