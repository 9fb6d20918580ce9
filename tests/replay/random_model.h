/* SPDX-License-Identifier: MIT */
/* Random models whose threads never wait for ever. */
#ifndef TESTS_REPLAY_RANDOM_MODEL_H
#define TESTS_REPLAY_RANDOM_MODEL_H

#include "replay/model.h"

/* A model of 2 to 6 threads, without an order; the caller frees it. */
struct pp_replay_model *random_model(uint32_t seed);

#endif
