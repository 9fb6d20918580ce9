/* SPDX-License-Identifier: MIT */
/*
 * Children of fork that did little lie in files of places (gmon-mt/children.h).  They are moved
 * into folders of their own, where babeltrace2 and all readers find them as any other process.
 */
#ifndef PP_CAPTURE_CHILDREN_H
#define PP_CAPTURE_CHILDREN_H

#include "capture/capture.h"

/*
 * Moves what has not been moved, in a capture that belongs to the effective user.  Those whose
 * process still runs are copied, and moved another time.  What cannot be moved is a problem of the
 * model.
 */
void pp_children_move(struct pp_capture *capture);

/* Does the process `pid`, as it is numbered here, have places of the capture in `dir` mapped? */
bool pp_children_has_places(const char *dir, pid_t pid);

#endif
