/* SPDX-License-Identifier: MIT */
/*
 * Limits the output of the processes of a capture: [output] max, or the size of [output] ring.
 *
 * The limit applies to the space that streams reserve (synch-events, histories of calls), which
 * grows with the run of the program. The sum of a capture is in its file `used`, which its
 * processes map. A process is not included before it has taken OWN_BYTES, so that short processes
 * need not open the file: each may exceed the limit by that much. With a ring, it is included from
 * the start, since `record` removes files and returns their bytes.
 *
 * May be called by any thread, with signals blocked; not in a step of helper_task.h. A process that
 * cannot open the file counts only its own space.
 */
#ifndef GM_RUNTIME_OUTPUT_H
#define GM_RUNTIME_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

/* Takes so many bytes. Returns false if that would exceed [output] max. */
bool gm_output_take(uint64_t size_bytes);

/* The same for a stream that may remove older files instead: leaves a quarter for others. */
bool gm_output_take_more(uint64_t size_bytes);

/* Returns bytes that were taken and not used. */
void gm_output_give(uint64_t size_bytes);

/* Returns true if three quarters of [output] max are taken, without a ring: less should be
 * recorded. */
bool gm_output_is_near(void);

#endif
