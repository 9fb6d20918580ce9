/* SPDX-License-Identifier: MIT */
/* Functions of C++ may have parentheses in their names, so the last ones count. */
#include "suggest/place.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>

void pp_suggest_code_done(struct pp_suggest_code *code)
{
	g_free(code->function);
	g_free(code->file);
}

bool pp_suggest_code_read(const char *name, struct pp_suggest_code *ret)
{
	const char *open = name ? strrchr(name, '(') : NULL;
	const char *colon = open ? strrchr(open, ':') : NULL;

	*ret = (struct pp_suggest_code){0};
	if (!colon || open == name || !g_str_has_suffix(name, ")"))
		return false;
	ret->line = atoi(colon + 1);
	ret->function = g_strndup(name, (gsize)(open - name) - 1);
	ret->file = g_strndup(open + 1, (gsize)(colon - open) - 1);
	return ret->line > 0;
}

char *pp_suggest_function_of(const char *name)
{
	struct pp_suggest_code code;
	char *function = pp_suggest_code_read(name, &code)
			     ? g_strdup_printf("%s (%s)", code.function, code.file)
			     : g_strdup(name);

	pp_suggest_code_done(&code);
	return function;
}
