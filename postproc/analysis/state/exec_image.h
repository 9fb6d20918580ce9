/* SPDX-License-Identifier: MIT */
/* Which thread of the model goes on after an exec: images of a process are processes of their own.
 */
#ifndef PP_ANALYSIS_STATE_EXEC_IMAGE_H
#define PP_ANALYSIS_STATE_EXEC_IMAGE_H

#include "core/model.h"

/* Is this thread's image the one that an exec at exec_ns brings? */
bool pp_exec_brings(const struct pp_thread *thread, int64_t exec_ns);

/* Is the image that an exec of the thread brings a process of its own in the model? */
bool pp_exec_has_image(const struct pp_model *model, const struct pp_thread *thread,
		       int64_t exec_ns);

/* The first thread of the program that the thread's exec brought then; NULL: it is not known. */
const struct pp_thread *pp_exec_successor(const struct pp_model *model,
					  const struct pp_thread *thread, int64_t exec_ns);

#endif
