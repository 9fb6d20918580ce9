/* SPDX-License-Identifier: MIT */
/*
 * Proves that a model without locks keeps the order of conflicts of the original, and no other one.
 * This is independent of the code that makes such models: it only uses both models and the accesses
 * of the sections.
 *
 * Two sections of a lock conflict if one changes a byte that the other one accesses, or if the
 * accesses of one are not known; two readers of a lock never do. Proved is:
 * - Each thread has the same steps with the same CPU time, apart from operations on locks, and from
 *   waits that are added before a step.
 * - For each pair of sections in conflict, the thread of the later one has waited for the end of
 *   the earlier one, or of a later section of that thread, when the section begins.
 * - Each added wait of a section is for the end of an earlier section in conflict; each other added
 *   wait is one of a semaphore for the thread that took the item before.
 */
#ifndef PP_REPLAY_ORDER_CHECK_CHECK_H
#define PP_REPLAY_ORDER_CHECK_CHECK_H

#include "replay/order_check/claim.h"

/*
 * Returns NULL, or the first thing that is wrong; the caller frees it. The time is proportional to
 * the steps, and to the sections times the threads that share their lines.
 */
char *pp_order_check(const struct pp_order_claim *claim);

#endif
