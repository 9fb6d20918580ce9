/* SPDX-License-Identifier: MIT */
/* See caller.h.  Other calls by our libraries have no caller that could be shown. */
#include "analysis/caller.h"

uint64_t pp_arc_caller(const struct pp_namer *namer, const struct pp_process *process,
		       const struct pp_arc *arc)
{
	if (!arc->from || !namer->is_own || !namer->is_own(namer->data, process, arc->from - 1))
		return arc->from;
	return namer->outlined_from ? namer->outlined_from(namer->data, process, arc->self) : 0;
}
