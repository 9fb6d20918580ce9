/* SPDX-License-Identifier: MIT */
/*
 * The other form of rules 3 and 4, to measure what it costs: each section for which others wait has
 * an auxiliary lock, and those take it, too. They await its acquisition first, so that the recorded
 * order is kept (rule 2).
 *
 * With dynamic locking, an auxiliary lock whose source has ended is skipped. Only skeletons do
 * that.
 */
#ifndef PP_REPLAY_ULCP_LOCKSETS_H
#define PP_REPLAY_ULCP_LOCKSETS_H

#include "replay/ulcp/transform.h"

/*
 * waits: pp_ulcp_waits(). Other arguments and the result are those of pp_ulcp_transform(). Returns
 * the number of auxiliary locks.
 */
uint32_t pp_ulcp_locksets(const struct pp_replay_model *model, const GArray *sections,
			  const GArray *waits, bool is_dynamic, struct pp_ulcp_result *ret);

#endif
