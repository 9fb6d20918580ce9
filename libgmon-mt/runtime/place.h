/* SPDX-License-Identifier: MIT */
/* Which capture the paths of gm_sys_open() and its like are below (sys.h). */
#ifndef GM_RUNTIME_PLACE_H
#define GM_RUNTIME_PLACE_H

#include "runtime/capture.h"

/*
 * From now on `capture`, which lasts, is that capture.  Called once, before other threads make
 * files.  Nothing changes where only root and this user can give its path to another directory.
 */
void gm_place_set(const struct gm_capture *capture);

#endif
