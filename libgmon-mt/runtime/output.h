/* SPDX-License-Identifier: MIT */
/*
 * How much the processes of a capture may write: [output] max.
 *
 * Counted are the files of streams (synch-events, histories of calls), which grow with what the
 * program does, by the space that they reserve.  The sum of a capture stands in its file `used`,
 * which its processes map.  A process takes no part in it before it has taken OWN_BYTES, so that
 * short ones need not open the file: the limit may be passed by so much for each of them.
 *
 * Any thread, with signals blocked; not in a step of files.h.  A process that cannot open the file
 * counts its own.
 */
#ifndef GM_RUNTIME_OUTPUT_H
#define GM_RUNTIME_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#define GM_USED_FILE  "used"
#define GM_USED_BYTES 4096u

/* Asks for so much.  False: it would be more than [output] max. */
bool gm_output_take(uint64_t size_bytes);

/* Gives back what was taken and not used. */
void gm_output_give(uint64_t size_bytes);

/* Is three quarters of [output] max taken?  Then less is to be recorded. */
bool gm_output_is_near(void);

#endif
