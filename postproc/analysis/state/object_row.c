/* SPDX-License-Identifier: MIT */
/* Fills the cells that identify an object at the beginning of a row. */
#include "analysis/state/object_row.h"

void pp_object_row(struct pp_cell *row, const struct pp_object *object,
		   const struct pp_namer *namer)
{
	g_autofree char *group = pp_object_group(object, namer);
	g_autofree char *name = pp_object_name(object, namer);

	pp_cell_set_count(&row[PP_OBJECT_PID], object->process->pid);
	pp_cell_set_count(&row[PP_OBJECT_IMAGE], object->process->image);
	if (!pp_object_is_group(object) || object->one_address)
		pp_cell_set_count(&row[PP_OBJECT_ADDRESS], object->address);
	if (!pp_object_is_group(object))
		pp_cell_set_count(&row[PP_OBJECT_GENERATION], object->generation);
	pp_cell_set_text(&row[PP_OBJECT_GROUP], group);
	pp_cell_set_text(&row[PP_OBJECT_TYPE], pp_sync_type_name(object->type));
	pp_cell_set_text(&row[PP_OBJECT_NAME], name);
}
