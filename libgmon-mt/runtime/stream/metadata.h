/* SPDX-License-Identifier: MIT */
/* The CTF metadata of a process' events; gmon-mt/packet.h has the packets that it describes. */
#ifndef GM_RUNTIME_METADATA_H
#define GM_RUNTIME_METADATA_H

#include <stdint.h>

#include "runtime/sys/sys.h"

#define GM_METADATA_BYTES 32768 /* it is shorter */

/* An event class: its name, and its fields in TSDL. */
struct gm_event_class {
	const char *name, *fields;
};

struct gm_metadata {
	const uint8_t *uuid; /* 16 bytes */
	uint64_t pid;
	const char *clock_uuid;
	int64_t clock_offset_ns;
	const struct gm_event_class
	    *events; /* numbered from 0; those without a name are left out */
	unsigned n_events;
};

void gm_metadata_add(struct gm_text *text, const struct gm_metadata *metadata);

/* Creates DIR/metadata for events of this process. Returns 0 or -errno. */
int gm_metadata_write(const char *dir, const uint8_t uuid[16], const struct gm_event_class *events,
		      unsigned n_events);

#endif
