/* SPDX-License-Identifier: MIT */
/* Finds the qualified name in a demangled declaration, and what it says about the function. */
#include "core/text/function_name.h"

#include <string.h>

#include <glib.h>

/* The name in "(*name<...>(...))(...)": of a function that returns a function's address. */
static const char *declared_name(const char *declarator)
{
	const char *name = declarator;

	for (const char *c = declarator + 1; *c && !strchr("(<", *c); c++)
		if (strchr("*&", *c))
			name = c + 1;
	return name;
}

/*
 * The begin of the qualified name: after the return type, which precedes the names of template
 * functions.  Blanks in brackets belong to arguments.
 */
static const char *qualified_name(const char *name)
{
	const char *begin = name;
	int depth = 0;

	for (const char *c = name; *c; c++) {
		if (g_str_has_prefix(c, "operator"))
			break;
		if (*c == '(' && depth == 0 && !g_str_has_prefix(c, "(anonymous namespace)"))
			return c == begin ? declared_name(c) : begin;
		if (strchr("<({[", *c))
			depth++;
		else if (strchr(">)}]", *c))
			depth--;
		else if (*c == ' ' && depth == 0)
			begin = c + 1;
	}
	return begin;
}

bool pp_is_library_function(const char *name)
{
	const char *begin = qualified_name(name);

	return g_str_has_prefix(begin, "std::") || g_str_has_prefix(begin, "__gnu_cxx::") ||
	       g_str_has_prefix(begin, "__gthread_");
}

bool pp_is_function_name(const char *name)
{
	return *name && !g_str_has_prefix(name, "0x") && !strstr(name, "+0x") &&
	       !g_str_has_suffix(name, ", no symbols");
}
