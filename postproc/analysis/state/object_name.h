/* SPDX-License-Identifier: MIT */
#ifndef PP_ANALYSIS_STATE_OBJECT_NAME_H
#define PP_ANALYSIS_STATE_OBJECT_NAME_H

#include "analysis/state/object.h"

/*
 * The display name of an object: the variable, "worker (tid 123)" for a thread, else the type and
 * the site of its initialization or first use, with "#2" for the second generation; for folded
 * objects, their number and site.  The caller frees it.
 */
char *pp_object_name(const struct pp_object *object, const struct pp_namer *namer);

/* The name without generation and tid, which is the same in each run.  The caller frees it. */
char *pp_object_group(const struct pp_object *object, const struct pp_namer *namer);

#endif
