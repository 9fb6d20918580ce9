/* SPDX-License-Identifier: MIT */
#ifndef PP_PASS_PATHS_H
#define PP_PASS_PATHS_H

#include "core/model.h"
#include "core/namer.h"

/* "take_fork < eat < dine": the functions of a path, innermost first.  Caller frees. */
char *pp_path_text(const struct pp_path *path, const struct pp_process *process,
		   const struct pp_namer *namer);

#endif
