/* SPDX-License-Identifier: MIT */
/*
 * Cuts a model to a part of the recorded time. Threads that were alive at its begin begin there,
 * with the locks that they held; what happened before is left out, and no longer awaited. Locks
 * that are held at its end are released there.
 */
#ifndef PP_REPLAY_CUT_H
#define PP_REPLAY_CUT_H

#include "replay/model.h"

/* How far a thread was at the begin of the part: steps that it had done, and of the next one, CPU
 * time. */
struct pp_replay_cut_thread {
	uint32_t n_before;
	uint64_t cpu_ns;
};

struct pp_replay_cut_sums {
	uint64_t n_before; /* steps that are left out */
	GPtrArray *held;   /* of char *, "LOCK by THREAD": held at the begin */
};

/*
 * threads: by number in the model, of which the last step is an EXIT. from_ns: the begin of the
 * part, since that of the run. The caller unrefs `held` of the result.
 */
struct pp_replay_cut_sums pp_replay_cut(struct pp_replay_model *model,
					const struct pp_replay_cut_thread *threads,
					int64_t from_ns);

#endif
