/* SPDX-License-Identifier: MIT */
/* The values in front of a packet's events. */
#ifndef PP_CTF_PACKET_HEAD_H
#define PP_CTF_PACKET_HEAD_H

#include "ctf/layout.h"

#define PP_PACKET_HEAD_BYTES 256u /* maximum of pp_layout.head_bytes */

/* Returns `otherwise` if the header has no such field. */
uint64_t pp_packet_value(const uint8_t *head, struct pp_head_field field, uint64_t otherwise);

bool pp_packet_is_of_trace(const struct pp_layout *layout, const uint8_t *head);

/* True if the sizes and the time can be those of a packet; it need not fit into the file. */
bool pp_packet_makes_sense(const struct pp_layout *layout, const uint8_t *head);

/* A packet of a stream. */
struct pp_packet_place {
	int64_t begin_ns;
	unsigned file; /* of the stream's files */
	uint64_t offset, content_bytes;
};

/* Adds the packets of a file, by their headers, up to the first one that is damaged. */
void pp_packets_list(const struct pp_layout *layout, const char *path, unsigned file,
		     GArray *packets);

#endif
