/* SPDX-License-Identifier: MIT */
/*
 * The head of a CTF packet as it lies in the file; metadata.c describes the same to readers.
 */
#ifndef GMON_MT_PACKET_H
#define GMON_MT_PACKET_H

#include <stdint.h>

#define GM_PACKET_MAGIC 0xC1FC1FC1u

/*
 * Set when the stream's next packet is there: behind this one, or at the start of the next file.
 * Without that packet something was cut off.
 */
#define GM_PACKET_FOLLOWED_HERE	   0x80000000u
#define GM_PACKET_FOLLOWED_IN_NEXT 0x40000000u
#define GM_PACKET_TID_MASK	   0x3fffffffu

struct gm_packet {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t stream_instance_id; /* the stream's number: joins the files of one stream */
	uint64_t content_bits;
	uint64_t packet_bits;
	uint64_t timestamp_begin;
	uint64_t events_discarded;
	uint32_t tid; /* in the lower bits; above, GM_PACKET_FOLLOWED_* */
	uint32_t index;
};
_Static_assert(sizeof(struct gm_packet) == 72, "on-disk size");

#endif
