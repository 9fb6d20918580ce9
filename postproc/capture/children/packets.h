/* SPDX-License-Identifier: MIT */
/* The packets of synch-events in the place of a child of fork (gmon-mt/children.h). */
#ifndef PP_CAPTURE_CHILDREN_PACKETS_H
#define PP_CAPTURE_CHILDREN_PACKETS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "gmon-mt/packet.h"

struct pp_child_packets {
	uint64_t begin_ns, end_ns; /* times of the first packet and of the last event */
	uint8_t uuid[16];
};

/*
 * Appends the packets at `from`, of the thread `tid`, to `to`, each only as long as its events.
 * Returns false, with `to` unchanged, if they are damaged, report lost events or belong to another
 * stream than the first one: in a stream that children share, these would be ambiguous.
 */
bool pp_child_packets_take(const uint8_t *from, gsize n_bytes, uint32_t tid, GByteArray *to,
			   struct pp_child_packets *ret);

#endif
