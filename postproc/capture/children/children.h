/* SPDX-License-Identifier: MIT */
/*
 * Short-lived children of fork write into places of a shared file (gmon-mt/children.h).  Readers
 * move them into packs (packed.h), or into folders of their own, where babeltrace2 finds them too.
 */
#ifndef PP_CAPTURE_CHILDREN_CHILDREN_H
#define PP_CAPTURE_CHILDREN_CHILDREN_H

#include "core/model.h"

/*
 * Moves all places that are not moved yet, in the directory of the model, if it belongs to the
 * effective user.  A place whose process still runs is copied, and moved by a later call;
 * `may_be_elsewhere`: it may run on another machine.  A place that cannot be moved becomes a
 * problem of the model.  Returns a descriptor that keeps the folders until it is closed (turns.h);
 * -1: none.
 */
int pp_children_move(struct pp_model *model, bool may_be_elsewhere);

#endif
