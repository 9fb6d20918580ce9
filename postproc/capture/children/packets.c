/* SPDX-License-Identifier: MIT */
/* Checks packets and copies their events.  The layout: sync-trace/events.h, gmon-mt/packet.h. */
#include "capture/children/packets.h"

#include <string.h>

#include "sync-trace/events.h"

/* Sizes of an event's fields by its shape. */
enum {
	BYTES_OP = 11,
	BYTES_BEGIN = 15,
	BYTES_VALUE = 15,
	BYTES_COND = 19,
	BYTES_ROUTINE = 19,
	BYTES_SITE = 10,
	BYTES_CALL_PATH = 8,
	BYTES_PATH = 16,
	BYTES_SAME = 3,
	BYTES_TRIES = 20,
	BYTES_CONDITIONALS = 8,
	BYTES_ORDER = 8,
	BYTES_IO = 24,
};

static const uint8_t field_bytes[] = {
#define FIELD_BYTES(name, shape) [ST_EVENT_##name] = BYTES_##shape,
    ST_EVENTS(FIELD_BYTES)
#undef FIELD_BYTES
#define SAME_BYTES(name) [ST_SAME_##name] = BYTES_SAME,
	ST_SAME_EVENTS(SAME_BYTES)
#undef SAME_BYTES
};

/* Reads the header of an event.  Returns its length; 0: damaged. */
static gsize take_header(const uint8_t *at, gsize left, uint8_t *ret_id, uint64_t *time_ns)
{
	uint32_t low;

	if (left < 1 + sizeof(low))
		return 0;
	*ret_id = at[0];
	if (at[0] != ST_EVENT_EXTENDED) {
		memcpy(&low, at + 1, sizeof(low));
		*time_ns += (uint32_t)(low - (uint32_t)*time_ns);
		return 1 + sizeof(low);
	}
	if (left < 2 + sizeof(*time_ns))
		return 0;
	*ret_id = at[1];
	memcpy(time_ns, at + 2, sizeof(*time_ns));
	return 2 + sizeof(*time_ns);
}

/* Follows the events of a packet from time *last_ns on.  Returns false if they are damaged. */
static bool follow(const uint8_t *at, const uint8_t *end, uint64_t begin_ns, uint64_t *last_ns)
{
	uint64_t time_ns = begin_ns;

	if (begin_ns < *last_ns)
		return false;
	*last_ns = begin_ns;
	while (at < end) {
		uint8_t id;
		gsize n = take_header(at, (gsize)(end - at), &id, &time_ns);

		if (n == 0 || id >= sizeof(field_bytes) || time_ns < *last_ns)
			return false;
		at += n;
		n = field_bytes[id];
		if (n > (gsize)(end - at))
			return false;
		at += n;
		*last_ns = time_ns;
	}
	return true;
}

/* Is it one that a child with one thread writes, and within the bytes that are left? */
static bool is_plain(const struct gm_packet *packet, gsize left, uint32_t tid)
{
	return packet->magic == GM_PACKET_MAGIC && packet->stream_id == 0 &&
	       packet->stream_instance_id == 0 && packet->content_bits % 8 == 0 &&
	       packet->packet_bits % 8 == 0 && packet->content_bits / 8 >= sizeof(*packet) &&
	       packet->content_bits <= packet->packet_bits && packet->packet_bits / 8 <= left &&
	       packet->timestamp_begin <= INT64_MAX && packet->events_discarded == 0 &&
	       (packet->tid & GM_PACKET_TID_MASK) == tid && packet->index == 0 &&
	       !(packet->tid & GM_PACKET_FOLLOWED_IN_NEXT);
}

static bool is_zero(const uint8_t *bytes, gsize n)
{
	for (gsize i = 0; i < n; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Takes the packet at `from`.  Returns its length, 0 if it is damaged. */
static gsize take_packet(const uint8_t *from, gsize left, uint32_t tid, bool is_first,
			 GByteArray *to, struct pp_child_packets *ret)
{
	struct gm_packet packet;
	gsize content, length;

	memcpy(&packet, from, sizeof(packet));
	if (!is_plain(&packet, left, tid))
		return 0;
	if (is_first) {
		memcpy(ret->uuid, packet.uuid, sizeof(ret->uuid));
		ret->begin_ns = ret->end_ns = packet.timestamp_begin;
	}
	content = packet.content_bits / 8;
	length = packet.packet_bits / 8;
	if (memcmp(ret->uuid, packet.uuid, sizeof(ret->uuid)) != 0 ||
	    !follow(from + sizeof(packet), from + content, packet.timestamp_begin, &ret->end_ns))
		return 0;
	if (content == sizeof(packet) && !is_first)
		return length;
	packet.tid = tid;
	packet.packet_bits = packet.content_bits;
	g_byte_array_append(to, (const uint8_t *)&packet, sizeof(packet));
	g_byte_array_append(to, from + sizeof(packet), (guint)(content - sizeof(packet)));
	return length;
}

bool pp_child_packets_take(const uint8_t *from, gsize n_bytes, uint32_t tid, GByteArray *to,
			   struct pp_child_packets *ret)
{
	const uint32_t none = 0;
	guint before = to->len;
	gsize at = 0, length;

	*ret = (struct pp_child_packets){0};
	while (n_bytes - at >= sizeof(struct gm_packet) &&
	       memcmp(from + at, &none, sizeof(none)) != 0) {
		length = take_packet(from + at, n_bytes - at, tid, at == 0, to, ret);
		if (length == 0)
			break;
		at += length;
	}
	if (is_zero(from + at, n_bytes - at))
		return true;
	g_byte_array_set_size(to, before);
	return false;
}
