/* SPDX-License-Identifier: MIT */
/* The header of a CTF packet as stored in the file; metadata.c describes the same to readers. */
#ifndef GMON_MT_PACKET_H
#define GMON_MT_PACKET_H

#include <stdint.h>

#define GM_PACKET_MAGIC 0xC1FC1FC1u

/*
 * Set when the stream's next packet exists: behind this one, or at the start of the next file. If
 * that packet is missing, the file was cut off.
 */
#define GM_PACKET_FOLLOWED_HERE	   0x80000000u
#define GM_PACKET_FOLLOWED_IN_NEXT 0x40000000u
#define GM_PACKET_TID_MASK	   0x3fffffffu

struct gm_packet {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t stream_instance_id; /* the stream's number, the same in all files of the stream */
	uint64_t content_bits;
	uint64_t packet_bits;
	uint64_t timestamp_begin;
	uint64_t events_discarded;
	uint32_t tid; /* in the lower bits; the upper bits are GM_PACKET_FOLLOWED_* */
	uint32_t index;
};
_Static_assert(sizeof(struct gm_packet) == 72, "on-disk size");

#endif
