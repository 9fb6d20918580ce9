/* SPDX-License-Identifier: MIT */
/* Which objects a selection (select.h) chooses. */
#ifndef PP_ANALYSIS_STATE_SELECT_OBJECT_H
#define PP_ANALYSIS_STATE_SELECT_OBJECT_H

#include "analysis/state/object_state.h"
#include "analysis/select.h"

/* Its name may depend on what comes later: to be asked at the end. */
bool pp_selects_object(const struct pp_pass_context *context, const struct pp_object *object);

/* Where there is a selection; see below. */
bool pp_selection_may_have(const struct pp_selection *selection, const struct pp_object *object);

/* False: the object never will be, whatever its name is. */
static inline bool pp_may_select_object(const struct pp_pass_context *context,
					const struct pp_object *object)
{
	return !context->selection || pp_selection_may_have(context->selection, object);
}

#endif
