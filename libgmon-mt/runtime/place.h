/* SPDX-License-Identifier: MIT */
/* Which capture the paths of gm_sys_open() and its like are below (sys.h). */
#ifndef GM_RUNTIME_PLACE_H
#define GM_RUNTIME_PLACE_H

#include "runtime/capture.h"
#include "runtime/recorder.h"

/* gm_recorder_ask(): gprof-mt itself has these paths, and nobody to ask. */
typedef int gm_ask(enum gm_recorder_kind kind, const char *name, const char *to, int flags);

/*
 * From now on `capture`, which lasts, is that capture.  Called once, before other threads make
 * files.  Nothing changes where only root and this user can give its path to another directory.
 * If this process cannot reach a file there, it calls `ask`.
 */
void gm_place_set(const struct gm_capture *capture, gm_ask *ask);

#endif
