/* SPDX-License-Identifier: MIT */
/* See places.h. */
#include "pass/accesses/places.h"

#include <string.h>

/* Larger blocks are arrays rather than structures: offsets in them tell little. */
#define LARGE_BYTES 256u

/* "struct node.left"; NULL if the block's type is not known. */
static char *block_part(const struct pp_pass_context *context, const struct pp_memory_place *place)
{
	const struct pp_namer *namer = context->namer;

	return place->site && namer->allocated
		   ? namer->allocated(namer->data, place->process, place->site, place->size,
				      place->address)
		   : NULL;
}

/* part: of the block; NULL: not known. */
static char *block_name(const struct pp_pass_context *context, const struct pp_memory_place *place,
			const char *part)
{
	g_autofree char *site =
	    place->site ? context->namer->site(context->namer->data, place->process, place->site)
			: NULL;
	GString *text;

	if (part)
		return g_strdup_printf("%s allocated at %s", part, site);
	text = g_string_new(NULL);
	g_string_printf(text, "block of %" G_GUINT64_FORMAT " bytes", place->size);
	if (site)
		g_string_append_printf(text, " allocated at %s", site);
	if (place->address)
		g_string_append_printf(text, " + %" G_GUINT64_FORMAT, place->address);
	return g_string_free(text, FALSE);
}

static char *variable_name(const struct pp_pass_context *context, const struct pp_process *process,
			   uint64_t address)
{
	return context->namer->object
		   ? context->namer->object(context->namer->data, process, address)
		   : NULL;
}

char *pp_place_name(const struct pp_pass_context *context, const struct pp_memory_place *place)
{
	g_autofree char *part = place->is_heap ? block_part(context, place) : NULL;
	char *name = place->is_heap ? block_name(context, place, part)
				    : variable_name(context, place->process, place->address);

	return name ? name : g_strdup_printf("0x%" G_GINT64_MODIFIER "x", place->address);
}

/* Removes the digits in brackets, and an offset in bytes at the end. */
static void drop_numbers(char *name)
{
	char *to = name, *offset;
	bool in_brackets = false;

	for (const char *at = name; *at; at++) {
		if (!in_brackets || !g_ascii_isdigit(*at))
			*to++ = *at;
		in_brackets = *at == '[' || (in_brackets && *at != ']');
	}
	*to = '\0';
	offset = strrchr(name, '+');
	if (offset && offset != name && strspn(offset + 1, "0123456789") == strlen(offset + 1))
		*offset = '\0';
}

char *pp_place_group(const struct pp_pass_context *context, const struct pp_memory_place *place)
{
	struct pp_memory_place whole = *place;
	g_autofree char *part = place->is_heap ? block_part(context, place) : NULL;
	char *name;

	if (part)
		drop_numbers(part);
	else if (place->is_heap && place->size > LARGE_BYTES)
		whole.address = 0;
	if (place->is_heap)
		return block_name(context, &whole, part);
	name = pp_place_name(context, place);
	drop_numbers(name);
	return name;
}

bool pp_place_is_nameless(const struct pp_pass_context *context, const struct pp_process *process,
			  uint64_t address)
{
	g_autofree char *name = variable_name(context, process, address);

	return !name;
}
