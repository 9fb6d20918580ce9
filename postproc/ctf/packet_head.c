/* SPDX-License-Identifier: MIT */
/* The header and context of a packet, at the places that the metadata gives them. */
#include "ctf/packet_head.h"

#include <string.h>

#include "gmon-mt/packet.h"
#include "ctf/stream_file.h"
#include "ctf/unaligned.h"

#define MAX_PACKET_BITS (UINT64_C(1) << 36)

uint64_t pp_packet_value(const uint8_t *head, struct pp_head_field field, uint64_t otherwise)
{
	uint64_t value;

	if (!field.bits)
		return otherwise;
	value = pp_load_bytes(head + field.offset_bytes, (field.bits + 7u) / 8);
	return field.bits < 64 ? value & ((UINT64_C(1) << field.bits) - 1) : value;
}

bool pp_packet_is_of_trace(const struct pp_layout *layout, const uint8_t *head)
{
	return pp_packet_value(head, layout->stream_id, 0) == 0 &&
	       (!layout->has_uuid || !layout->uuid_at.bits ||
		memcmp(head + layout->uuid_at.offset_bytes, layout->uuid, sizeof(layout->uuid)) ==
		    0);
}

bool pp_packet_makes_sense(const struct pp_layout *layout, const uint8_t *head)
{
	uint64_t content = pp_packet_value(head, layout->content_size, 0);
	uint64_t packet = pp_packet_value(head, layout->packet_size, 0);

	return pp_packet_value(head, layout->magic, 0) == GM_PACKET_MAGIC && content <= packet &&
	       packet <= MAX_PACKET_BITS && packet % 8 == 0 && content / 8 >= layout->head_bytes &&
	       pp_packet_value(head, layout->timestamp_begin, 0) <= INT64_MAX;
}

/* Returns false if there is no undamaged packet at that offset. */
static bool read_head(const struct pp_layout *layout, const struct pp_stream_file *file,
		      uint64_t at, uint8_t *head)
{
	if (at >= file->bytes ||
	    pp_stream_file_read(file, head, layout->head_bytes, at) != (ssize_t)layout->head_bytes)
		return false;
	return pp_packet_makes_sense(layout, head) && pp_packet_is_of_trace(layout, head);
}

void pp_packets_list(const struct pp_layout *layout, const char *path, unsigned file,
		     GArray *packets)
{
	struct pp_stream_file stream_file;
	uint8_t head[PP_PACKET_HEAD_BYTES];
	uint64_t at = 0;

	if (!pp_stream_file_open(&stream_file, path))
		return;
	while (read_head(layout, &stream_file, at, head)) {
		uint64_t bytes = pp_packet_value(head, layout->packet_size, 0) / 8;
		struct pp_packet_place place = {
		    .begin_ns = (int64_t)pp_packet_value(head, layout->timestamp_begin, 0),
		    .file = file,
		    .offset = at,
		    .content_bytes = pp_packet_value(head, layout->content_size, 0) / 8,
		};

		if (!bytes || bytes > stream_file.bytes - at)
			break;
		g_array_append_val(packets, place);
		at += bytes;
	}
	pp_stream_file_close(&stream_file);
}
