/* SPDX-License-Identifier: MIT */
/* A list of terms (dl), whose style page.c has. */
#include "render/card.h"

#include "render/page.h"

static void append_name(GString *to, const char *name)
{
	if (!*name)
		return;
	g_string_append(to, "<dt>");
	pp_render_escaped(to, name);
	g_string_append(to, "</dt>");
}

void pp_render_card_begin(GString *to, const char *headline)
{
	g_string_append(to, "<h3>");
	pp_render_escaped(to, headline);
	g_string_append(to, "</h3>\n<dl>\n");
}

void pp_render_card_text(GString *to, const char *name, const char *text)
{
	append_name(to, name);
	g_string_append(to, "<dd>");
	pp_render_escaped(to, text);
	g_string_append(to, "</dd>\n");
}

void pp_render_card_source(GString *to, const char *name, const char *lines)
{
	g_auto(GStrv) each = g_strsplit(lines, "\n", -1);

	append_name(to, name);
	g_string_append(to, "<dd><pre>");
	for (unsigned i = 0; each[i]; i++) {
		bool is_marked = *each[i] && *each[i] != ' ';

		g_string_append(to, is_marked ? "<span class=\"marked\">" : "");
		pp_render_escaped(to, each[i]);
		g_string_append(to, is_marked ? "</span>\n" : "\n");
	}
	g_string_append(to, "</pre></dd>\n");
}

void pp_render_card_end(GString *to)
{
	g_string_append(to, "</dl>\n");
}
