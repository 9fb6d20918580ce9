/* SPDX-License-Identifier: MIT */
/*
 * The caller of an arc, as a return address.  OpenMP's regions and tasks are called by functions of
 * libsync-trace, which call graphs do not show: the function that contains the region or task in
 * the source is shown instead.
 */
#ifndef PP_ANALYSIS_CALLER_H
#define PP_ANALYSIS_CALLER_H

#include "core/model.h"
#include "core/namer.h"

/* 0: not known. */
uint64_t pp_arc_caller(const struct pp_namer *namer, const struct pp_process *process,
		       const struct pp_arc *arc);

#endif
