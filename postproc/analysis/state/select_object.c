/* SPDX-License-Identifier: MIT */
/* See select_object.h. */
#include "analysis/state/select_object.h"

#include <string.h>

/* "forks" selects everything in that variable: "forks[3].lock", "forks+40", and all generations. */
static bool is_called(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);

	return strcmp(name, wanted) == 0 ||
	       (strncmp(name, wanted, len) == 0 && strchr("+.[ ", name[len]));
}

static bool is_at(const struct pp_object *object, const struct pp_wanted *wanted)
{
	return object->address == wanted->number &&
	       (!pp_object_is_group(object) || object->one_address) &&
	       (!wanted->generation || object->generation == wanted->generation);
}

bool pp_selects_object(const struct pp_pass_context *context, const struct pp_object *object)
{
	const struct pp_selection *selection = context->selection;
	g_autofree char *name = NULL;
	bool found = false;

	if (!pp_selects_by(context, PP_SELECT_OBJECT))
		return true;
	for (guint i = 0; i < selection->objects->len; i++) {
		struct pp_wanted *wanted = selection->objects->pdata[i];

		if (!wanted->number && !name)
			name = pp_object_is_group(object) ? pp_object_group(object, context->namer)
							  : pp_object_name(object, context->namer);
		if (wanted->number ? is_at(object, wanted) : is_called(name, wanted->text))
			found = wanted->found = true;
	}
	return found;
}

bool pp_selection_may_have(const struct pp_selection *selection, const struct pp_object *object)
{
	if (!(selection->by & PP_SELECT_OBJECT))
		return true;
	for (guint i = 0; i < selection->objects->len; i++) {
		const struct pp_wanted *wanted = selection->objects->pdata[i];

		if (!wanted->number || is_at(object, wanted))
			return true;
	}
	return false;
}
