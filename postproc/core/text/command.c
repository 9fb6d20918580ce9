/* SPDX-License-Identifier: MIT */
/* Quotes each argument for the shell and joins them. */
#include "core/text/command.h"

#include <string.h>

#include <glib.h>

char *pp_command_text(JsonObject *info)
{
	JsonArray *argv = pp_json_array(info, "command");
	GString *text = g_string_new(NULL);

	for (guint i = 0; argv && i < json_array_get_length(argv); i++) {
		const char *word = pp_json_element_string(argv, i);
		g_autofree char *quoted = NULL;

		if (!word)
			continue;
		/* Quote only words that a shell would change. */
		quoted = *word && !word[strcspn(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!")]
			     ? g_strdup(word)
			     : g_shell_quote(word);
		g_string_append_printf(text, "%s%s", text->len ? " " : "", quoted);
	}
	return g_string_free(text, text->len == 0);
}
