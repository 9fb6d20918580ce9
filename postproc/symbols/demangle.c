/* SPDX-License-Identifier: MIT */
/* Calls the C++ demangler, and removes parameters and template arguments from its output. */
#include "symbols/demangle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "core/text/printable.h"

/* Longer names are not demangled, since the result may be excessively long. */
#define MAX_MANGLED 4096

extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *len, int *status);

static bool is_word(char c)
{
	return g_ascii_isalnum(c) || c == '_' || c == '$';
}

/* Returns the position after the bracket that closes the one at `at`, or the end of the text. */
static const char *skip_brackets(const char *at)
{
	unsigned depth = 0;

	for (; *at; at++) {
		if (strchr("(<[{", *at))
			depth++;
		else if (*at == '>' && at[-1] == '-')
			continue; /* "->" */
		else if (strchr(")>]}", *at) && --depth == 0)
			return at + 1;
	}
	return at;
}

/* The length of an operator's name at `at`, "operator<<"; 0 if there is none. */
static size_t operator_len(const char *name, const char *at)
{
	static const char word[] = "operator";
	size_t len = strlen(word);

	if (strncmp(at, word, len) != 0 || is_word(at[len]) || (at > name && is_word(at[-1])))
		return 0;
	if (strncmp(at + len, "()", 2) == 0)
		return len + 2;
	if (at[len] == ' ') /* conversion, new, delete, "" _x: up to the parameters */
		return len + strcspn(at + len, "(<");
	return len + strspn(at + len, "<>=!+-*/%^&|~,[]");
}

char *pp_demangle_simplify(const char *name)
{
	static const char anonymous[] = "(anonymous namespace)";
	GString *simple = g_string_new(NULL);
	size_t len;

	for (const char *at = name; *at;) {
		if (strncmp(at, anonymous, strlen(anonymous)) == 0) {
			g_string_append(simple, anonymous);
			at += strlen(anonymous);
		} else if ((len = operator_len(name, at)) > 0) {
			g_string_append_len(simple, at, (gssize)len);
			at += len;
		} else if (*at == '(') {
			at = skip_brackets(at);
			/*
			 * Otherwise the brackets belong to a scope ("f(int)::g"), or to a type that
			 * is removed as a whole.
			 */
			if (strncmp(at, "::", 2) != 0 && !strchr(at, '('))
				break;
		} else if (*at == '<') {
			at = skip_brackets(at);
		} else if (*at == '{') {
			const char *end = skip_brackets(at);

			g_string_append_len(simple, at, end - at);
			at = end;
		} else if (*at == ' ') {
			/* The text so far is the return type, except in "operator<< <int>". */
			if (at[1] != '<')
				g_string_truncate(simple, 0);
			at++;
		} else {
			g_string_append_c(simple, *at++);
		}
	}
	if (!simple->len)
		g_string_assign(simple, name);
	return g_string_free(simple, FALSE);
}

char *pp_demangle(const char *symbol, enum pp_demangle how)
{
	size_t len = strcspn(symbol, "@");
	g_autofree char *name = g_strndup(symbol, len ? len : strlen(symbol));
	bool is_mangled = g_str_has_prefix(name, "_Z") && strlen(name) <= MAX_MANGLED;
	char *demangled = NULL, *shown;
	int status;

	if (is_mangled && how != PP_DEMANGLE_NO)
		demangled = __cxa_demangle(name, NULL, NULL, &status);
	if (!demangled)
		return pp_printable(g_steal_pointer(&name));
	shown = how == PP_DEMANGLE_SIMPLE ? pp_demangle_simplify(demangled) : g_strdup(demangled);
	free(demangled);
	return pp_printable(shown);
}
