/* SPDX-License-Identifier: MIT */
/*
 * Short-lived children of fork write into places of a shared file (gmon-mt/children.h).  These
 * functions move the places into folders of their own, where babeltrace2 and all readers find them
 * like any other process.
 */
#ifndef PP_CAPTURE_CHILDREN_H
#define PP_CAPTURE_CHILDREN_H

#include "capture/capture.h"

/*
 * Moves all places that are not moved yet, in a capture that belongs to the effective user.  A
 * place whose process still runs is copied, and moved by a later call.  A place that cannot be
 * moved becomes a problem of the model.
 */
void pp_children_move(struct pp_capture *capture);

/* Does the process `pid`, in this PID namespace, have places of the capture in `dir` mapped? */
bool pp_children_has_places(const char *dir, pid_t pid);

#endif
