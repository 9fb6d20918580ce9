/* SPDX-License-Identifier: MIT */
/* Why the hold that a wait for a lock was for is unknown. */
#ifndef PP_ANALYSIS_STATE_UNKNOWN_HOLD_H
#define PP_ANALYSIS_STATE_UNKNOWN_HOLD_H

#include "analysis/pass.h"
#include "analysis/state/object.h"

enum pp_hold_why {
	PP_HOLD_KNOWN,
	PP_HOLD_OTHER_PROCESS,
	PP_HOLD_NO_THREAD,
	PP_HOLD_NO_EVENT,
	PP_HOLD_BEFORE,
	PP_HOLD_LOST,
	PP_HOLD_NOT_RECORDED,
	PP_HOLD_NO_OWNER,
	PP_N_HOLD_WHYS
};

/* The threads of which events were lost. */
struct pp_lost_threads {
	GArray *by_serial; /* of bool */
	bool any;
};

void pp_lost_threads_init(struct pp_lost_threads *lost);
void pp_lost_threads_done(struct pp_lost_threads *lost);
void pp_lost_threads_add(struct pp_lost_threads *lost, const struct pp_thread *thread);

/* owner_tid: as recorded in the lock at the begin of the wait; 0: not known. */
enum pp_hold_why pp_hold_why(const struct pp_model *model, const struct pp_lost_threads *lost,
			     const struct pp_object *object, uint32_t owner_tid, int64_t begin_ns);

/* The reason in words; NULL for PP_HOLD_KNOWN. */
const char *pp_hold_why_text(enum pp_hold_why why);

#endif
