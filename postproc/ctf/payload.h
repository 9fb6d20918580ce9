/* SPDX-License-Identifier: MIT */
/* The context and payload of an event, by the steps of its class. */
#ifndef PP_CTF_PAYLOAD_H
#define PP_CTF_PAYLOAD_H

#include "ctf/layout.h"
#include "ctf/stream.h"

/*
 * Decodes the fields into the record, which has no values yet.  Returns their end, or NULL if they
 * exceed `end`.
 */
const uint8_t *pp_payload_take(struct pp_record *record, const struct pp_layout_class *class,
			       const uint8_t *at, const uint8_t *end);

#endif
