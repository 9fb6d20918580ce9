/* SPDX-License-Identifier: MIT */
/* The only place that formats event classes and their integers as TSDL (CTF 1.8.3, 7.3). */
#include "record/ctf/declaration.h"

void pp_declare_integer(GString *members, const char *name, unsigned bytes, bool is_signed,
			bool is_hex)
{
	g_string_append_printf(members, "%sinteger { size = %u; align = 8; signed = %s;%s } _%s;",
			       members->len ? " " : "", bytes * 8, is_signed ? "true" : "false",
			       is_hex ? " base = 16;" : "", name);
}

void pp_declare_event(GString *text, const char *name, unsigned id, const char *context,
		      const char *fields)
{
	g_string_append_printf(text, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n",
			       name, id);
	if (*context)
		g_string_append_printf(text, "\tcontext := struct { %s };\n", context);
	g_string_append_printf(text, "\tfields := struct {%s%s };\n};\n\n", *fields ? " " : "",
			       fields);
}
