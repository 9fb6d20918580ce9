/* SPDX-License-Identifier: MIT */
/* Vector registers of an interrupted thread, as the kernel stores them for a signal handler. */
#ifndef ST_STEP_VECTORS_H
#define ST_STEP_VECTORS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct step_vector {
	unsigned n_bytes; /* 16 or 32 */
	uint8_t bytes[32];
};

/* which: a ZydisRegister. Returns false if it is none of xmm0-15 and ymm0-15, or not stored. */
bool step_vector_read(const ucontext_t *context, int which, struct step_vector *ret);

/* The highest bit of element i. */
bool step_vector_is_on(const struct step_vector *self, unsigned i, unsigned bytes);

/* Element i as a signed number of 4 or 8 bytes. */
int64_t step_vector_index(const struct step_vector *self, unsigned i, unsigned bytes);

#endif
