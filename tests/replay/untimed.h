/* SPDX-License-Identifier: MIT */
/* Performs a model without time, each time with a random one of the steps that are possible. */
#ifndef TESTS_REPLAY_UNTIMED_H
#define TESTS_REPLAY_UNTIMED_H

#include "replay/model.h"

struct untimed_entry {
	uint32_t thread, step;
};

/* Returns all steps (of struct untimed_entry) in their order; fewer if threads wait for ever. */
GArray *untimed_run(const struct pp_replay_model *model, GRand *random);

#endif
