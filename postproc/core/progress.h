/* SPDX-License-Identifier: MIT */
/*
 * How far the process has read, in bytes of streams, for another thread that shows it.  Several
 * threads may read at the same time.
 */
#ifndef PP_CORE_PROGRESS_H
#define PP_CORE_PROGRESS_H

#include <stdint.h>

struct pp_progress {
	unsigned n_readings; /* begun so far */
	unsigned n_active;   /* of these, not ended */
	uint64_t read_bytes; /* of the last reading, and those that it overlapped */
	uint64_t all_bytes;  /* ... of about so many */
};

/* A reading of that many bytes begins, or ends. */
void pp_progress_begin(uint64_t all_bytes);
void pp_progress_end(void);

void pp_progress_add(uint64_t read_bytes);
struct pp_progress pp_progress_now(void);

#endif
