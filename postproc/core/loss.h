/* SPDX-License-Identifier: MIT */
/* Texts for the reasons of losses. */
#ifndef PP_CORE_LOSS_H
#define PP_CORE_LOSS_H

#include <glib.h>

/* GM_LOSS_LEFT, whose recorded bit is also used by a reason that only calls have. */
#define PP_LOSS_LEFT 256u
/* GM_LOSS_OUTPUT_MAX, for the same reason. */
#define PP_LOSS_OUTPUT_MAX 512u
/* GM_LOSS_STALLED, which is recorded in a separate field. */
#define PP_LOSS_STALLED 1024u
/* GM_LOSS_LITTLE, whose recorded bit is also used by GM_LOSS_LEFT. */
#define PP_LOSS_LITTLE 2048u

/* The loss that an update of the load map causes if it is left out. */
#define PP_LOSS_OF_LOADS                                                                           \
	"an object was loaded or unloaded unnoticed, so some addresses may have no name or that "  \
	"of another object"

/* OpenMP's waits that are not recorded: libsync-trace/wrap/openmp_team.c. */
#define PP_LOSS_OF_TASK_WAITS                                                                      \
	"OpenMP's waits not recorded, since tasks run in them: the program has more than 256 "     \
	"functions of tasks"

/* Losses in programs that are linked with libaccess_trace. */
#define PP_LOSS_OF_ACCESSES "accesses in critical sections not recorded"
#define PP_LOSS_OF_ACCESS_THREADS                                                                  \
	"threads without accesses in critical sections, since only their waits are recorded: see " \
	"sync.mode and output.max"

#define PP_LOSS_OF_BLOCKS                                                                          \
	"blocks of the heap, or frees of these, not recorded: reused memory may count as shared"

/* ... and with sections that are executed in single steps. */
#define PP_LOSS_OF_STEPPED_CALLS                                                                   \
	"blocking calls not recorded, since they are in critical sections that were stepped"

/* Why sections are not executed in single steps (record --accesses=sampled). */
#define PP_LOSS_N_BARRED 5
/* Returns the text for one bit of enum st_step_barred; NULL: there is no such bit. */
const char *pp_loss_barred_text(unsigned bit);

/* Returns the text for sections that were given up (enum st_access_why). */
const char *pp_loss_abandoned_text(unsigned why);

/* Converts the recorded reasons for lost synch-events to the bits that pp_loss_text() expects. */
unsigned pp_loss_of_events(unsigned whys);

/* Does the same for the records of a call history. */
unsigned pp_loss_of_records(unsigned whys);

/* Does the same for samples that are missing in the streams. */
unsigned pp_loss_of_stacks(unsigned whys);

/*
 * `what`, followed by the reasons (enum gm_loss, PP_LOSS_...), if any: "calls not counted: no room
 * on the disk".  The caller frees it.
 */
char *pp_loss_text(const char *what, unsigned whys);

/*
 * The text for a step of the runtime libraries that was left out: one bit of enum gm_stalled.
 * NULL: the bit stands for no such step.  The caller frees the text.
 */
char *pp_loss_step_text(unsigned step);

#endif
