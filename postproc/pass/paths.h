/* SPDX-License-Identifier: MIT */
#ifndef PP_PASS_PATHS_H
#define PP_PASS_PATHS_H

#include "core/model.h"
#include "core/namer.h"

/*
 * The functions of a path, innermost first: "take_fork < eat < dine".  The caller frees the text.
 */
char *pp_path_text(const struct pp_path *path, const struct pp_process *process,
		   const struct pp_namer *namer);

#endif
