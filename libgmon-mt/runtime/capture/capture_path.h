/* SPDX-License-Identifier: MIT */
/* Selects the capture whose files gm_sys_open() and similar functions access (sys.h). */
#ifndef GM_RUNTIME_CAPTURE_PATH_H
#define GM_RUNTIME_CAPTURE_PATH_H

#include "runtime/capture/capture.h"
#include "runtime/capture/recorder.h"

/* gm_recorder_ask(), or NULL in gprof-mt itself, which has direct access. */
typedef int gm_ask(enum gm_recorder_kind kind, const char *name, const char *to, int flags);

/*
 * From now on, paths below `capture`, which must stay valid, refer to that very directory. Called
 * once, before other threads make files. No checks are made if only root and this user can give its
 * path to another directory. If this process cannot reach a file there, it calls `ask`.
 */
void gm_place_set(const struct gm_capture *capture, gm_ask *ask);

#endif
