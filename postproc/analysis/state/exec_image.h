/* SPDX-License-Identifier: MIT */
/*
 * Finds the thread that continues after an exec.  Each image of a process is a separate process in
 * the model.
 */
#ifndef PP_ANALYSIS_STATE_EXEC_IMAGE_H
#define PP_ANALYSIS_STATE_EXEC_IMAGE_H

#include "core/model.h"

/* True if the thread's image is the one that the exec at exec_ns starts. */
bool pp_exec_brings(const struct pp_thread *thread, int64_t exec_ns);

/* True if the model has a separate process for the image that the thread's exec starts. */
bool pp_exec_has_image(const struct pp_model *model, const struct pp_thread *thread,
		       int64_t exec_ns);

/* The first thread of the image that the thread's exec started at exec_ns; NULL if not known. */
const struct pp_thread *pp_exec_successor(const struct pp_model *model,
					  const struct pp_thread *thread, int64_t exec_ns);

#endif
