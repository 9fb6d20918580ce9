/* SPDX-License-Identifier: MIT */
/*
 * The critical path of a simulated run: from the end of the thread that ended last, backwards.
 * If that thread had waited, the path goes on with the thread that ended the wait, at that time; at
 * its begin, with the one that created it. The parts of the path add up to the run time.
 */
#ifndef PP_REPLAY_PATH_H
#define PP_REPLAY_PATH_H

#include "replay/simulate.h"

enum pp_replay_part_kind {
	PP_REPLAY_PART_SECTION, /* CPU time with a lock held: the one taken last */
	PP_REPLAY_PART_OUTSIDE, /* CPU time without a lock */
	PP_REPLAY_PART_READY,	/* from a wake-up until the thread ran, and without a CPU */
	PP_REPLAY_PART_SLEEP,
	PP_REPLAY_PART_START, /* before its first thread began */
	PP_REPLAY_N_PARTS
};

struct pp_replay_part {
	enum pp_replay_part_kind kind;
	uint32_t object, site; /* of a section: the lock, and the call site of the acquisition */
	int64_t ns;
};

/*
 * Returns the parts (of struct pp_replay_part), the longest first; none if threads wait for ever.
 * The log is that of a simulation of the model. The caller unrefs the array.
 */
GArray *pp_replay_path(const struct pp_replay_model *model, const struct pp_simulation_log *log,
		       const struct pp_simulated *simulated);

#endif
