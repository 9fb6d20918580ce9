/* SPDX-License-Identifier: MIT */
/* Checks whether a selection (select.h) includes an object. */
#ifndef PP_ANALYSIS_STATE_SELECT_OBJECT_H
#define PP_ANALYSIS_STATE_SELECT_OBJECT_H

#include "analysis/state/object_state.h"
#include "analysis/select.h"

/* To be called after the last event, since later events may determine the object's name. */
bool pp_selects_object(const struct pp_pass_context *context, const struct pp_object *object);

/* Requires a selection; use the inline function below. */
bool pp_selection_may_have(const struct pp_selection *selection, const struct pp_object *object);

/* False if no name can make the selection include the object. */
static inline bool pp_may_select_object(const struct pp_pass_context *context,
					const struct pp_object *object)
{
	return !context->selection || pp_selection_may_have(context->selection, object);
}

#endif
