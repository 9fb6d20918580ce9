/* SPDX-License-Identifier: MIT */
/*
 * Why something is missing, in words.
 */
#ifndef PP_CORE_LOSS_H
#define PP_CORE_LOSS_H

#include <glib.h>

/* GM_LOSS_LEFT, which in the recording shares its bit with a reason that only calls have. */
#define PP_LOSS_LEFT 256u
/* The same of GM_LOSS_OUTPUT_MAX. */
#define PP_LOSS_OUTPUT_MAX 512u
/* GM_LOSS_STALLED, which the recording keeps in a field of its own. */
#define PP_LOSS_STALLED 1024u

/* The reasons why synch-events are missing, as they are recorded -> as they are told. */
unsigned pp_loss_of_events(unsigned whys);

/* The same of a history of calls. */
unsigned pp_loss_of_records(unsigned whys);

/*
 * WHAT, and behind it the reasons (enum gm_loss, PP_LOSS_...), if any: "calls not counted: no room
 * on the disk".
 */
char *pp_loss_text(const char *what, unsigned whys);

#endif
