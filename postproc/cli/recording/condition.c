/* SPDX-License-Identifier: MIT */
/* Parses the conditions of record --when. */
#include "cli/recording/condition.h"

#include <string.h>

#include "core/text/duration.h"

#define MAX_LONG_NS INT64_C(60000000000)

static const char *const kinds[PP_N_WHENS] = {"wait", "hold", "call", "stall"};

static bool parse_subject(char *subject, struct pp_when *when)
{
	char *of = strstr(subject, " of ");

	if (of)
		*of = '\0';
	for (unsigned kind = 0; kind < PP_N_WHENS; kind++)
		if (g_str_equal(g_strstrip(subject), kinds[kind])) {
			when->kind = kind;
			when->name = of ? g_strdup(g_strstrip(of + strlen(" of "))) : NULL;
			return !when->name || *when->name;
		}
	return false;
}

bool pp_when_parse(const char *text, struct pp_when *ret)
{
	g_autofree char *copy = g_strdup(text);
	char *than = strrchr(copy, '>');

	*ret = (struct pp_when){.text = text};
	if (!than)
		return false;
	*than = '\0';
	if (parse_subject(copy, ret) &&
	    pp_duration_read(g_strstrip(than + 1), NULL, &ret->longer_ns) && ret->longer_ns > 0 &&
	    ret->longer_ns <= MAX_LONG_NS)
		return true;
	g_clear_pointer(&ret->name, g_free);
	return false;
}

const char *pp_when_kind_name(enum pp_when_kind kind)
{
	return kinds[kind];
}
