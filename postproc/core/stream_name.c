/* SPDX-License-Identifier: MIT */
/* The names of the files of streams: stream_3, stream_3_1, ... */
#include "core/stream_name.h"

#include <stdio.h>

#include <glib.h>

bool pp_stream_name_parse(const char *name, const char *prefix, struct pp_stream_name *ret)
{
	int len = 0;

	*ret = (struct pp_stream_name){0};
	if (!g_str_has_prefix(name, prefix))
		return false;
	name += strlen(prefix);
	if (!g_ascii_isdigit(*name) ||
	    sscanf(name, "%u%n_%u%n", &ret->stream, &len, &ret->number, &len) < 1)
		return false;
	return name[len] == '\0';
}

char *pp_stream_name_format(const struct pp_stream_name *name, const char *prefix)
{
	return name->number ? g_strdup_printf("%s%u_%u", prefix, name->stream, name->number)
			    : g_strdup_printf("%s%u", prefix, name->stream);
}

int pp_stream_name_compare(const struct pp_stream_name *a, const struct pp_stream_name *b)
{
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}
