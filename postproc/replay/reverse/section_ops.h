/* SPDX-License-Identifier: MIT */
/*
 * The operation of a schedule with which each open critical section began. Operations are numbered
 * in each thread, as in replay/live/schedule.h.
 */
#ifndef PP_REPLAY_REVERSE_SECTION_OPS_H
#define PP_REPLAY_REVERSE_SECTION_OPS_H

#include "core/event.h"

#define PP_SECTION_OP_NONE UINT64_MAX

struct pp_section_ops;

struct pp_section_ops *pp_section_ops_new(void);
void pp_section_ops_free(struct pp_section_ops *ops);

/*
 * The event has ended that operation of its thread; PP_SECTION_OP_NONE: none. It is called after
 * the event has ended or begun its section: recursive acquisitions belong to the outermost one.
 */
void pp_section_ops_event(struct pp_section_ops *ops, const struct pp_event *event, uint64_t op);

/* The section has ended: returns its operation, PP_SECTION_OP_NONE if it is not known. */
uint64_t pp_section_ops_end(struct pp_section_ops *ops, const struct pp_thread *thread,
			    uint64_t lock);

#endif
