/* SPDX-License-Identifier: MIT */
/* Names of objects: the variable, or the type and where it was initialized. */
#include "analysis/state/object_name.h"

#include <inttypes.h>
#include <string.h>

/*
 * The "address" of a signal's object is a number: of a process, a process group (negative), or a
 * thread.
 */
static bool is_signal(const struct pp_object *object)
{
	return object->type == GM_SYNC_TYPE_signal;
}

/* "forks[].lock" for "forks[0].lock", "forks[1].lock", ...; "forks" for "forks", "forks+40", ... */
static void drop_positions(char *name)
{
	const char *from = name;
	char *to = name;

	for (bool in_index = false; *from && *from != '+'; from++) {
		in_index = *from == '[' || (in_index && g_ascii_isdigit(*from));
		if (!in_index || *from == '[')
			*to++ = *from;
	}
	*to = '\0';
}

char *pp_object_group(const struct pp_object *object, const struct pp_namer *namer)
{
	uint64_t site = object->init_site ? object->init_site : object->first_site;
	const char *type = pp_sync_type_name(object->type);
	g_autofree char *where = NULL;
	char *variable = NULL;

	if (object->subject) {
		const char *name = pp_thread_name(object->subject);

		return g_strdup(name && *name ? name : type);
	}
	if (is_signal(object))
		return g_strdup(type);
	if (namer && namer->object)
		variable = namer->object(namer->data, object->process,
					 object->address + GM_PLACE(object->load_id));
	if (variable && pp_object_is_group(object) && !object->one_address)
		drop_positions(variable);
	if (variable)
		return variable;
	if (namer && namer->site && site)
		where = namer->site(namer->data, object->process, site);
	return where ? g_strdup_printf("%s at %s", type, where) : g_strdup(type);
}

/* The name of an address's first generation. */
static char *first_name(const struct pp_object *object, const struct pp_namer *namer)
{
	const struct pp_thread *subject = object->subject;

	if (subject && pp_thread_name(subject) && *pp_thread_name(subject))
		return g_strdup_printf("%s (tid %u)", pp_thread_name(subject), subject->tid);
	if (subject)
		return g_strdup_printf("tid %u", subject->tid);
	if (is_signal(object))
		return g_strdup_printf("signals to %" PRId64, (int64_t)object->address);
	return pp_object_group(object, namer);
}

/* "1,204,334" */
static char *grouped_digits(uint64_t number)
{
	g_autofree char *digits = g_strdup_printf("%" PRIu64, number);
	GString *text = g_string_new(digits);

	for (gsize at = text->len; at > 3; at -= 3)
		g_string_insert_c(text, (gssize)at - 3, ',');
	return g_string_free(text, FALSE);
}

/* "1,204,334 mutexes initialized at main (x.c:12)", for a group of that name. */
static char *folded_name(const struct pp_object *object, const char *group)
{
	g_autofree char *n = grouped_digits(object->n_folded);
	const char *type = pp_sync_type_name(object->type), *where = group;
	const char *plural = object->n_folded == 1 ? "" : g_str_has_suffix(type, "x") ? "es" : "s";
	bool has_site =
	    g_str_has_prefix(group, type) && g_str_has_prefix(where = group + strlen(type), " at ");

	if (!has_site)
		return g_strdup_printf("%s %s%s: %s", n, type, plural, group);
	return g_strdup_printf("%s %s%s %s%s", n, type, plural,
			       object->init_site ? "initialized" : "first used", where);
}

char *pp_object_name(const struct pp_object *object, const struct pp_namer *namer)
{
	g_autofree char *name = first_name(object, namer);

	if (pp_object_is_group(object))
		return folded_name(object, name);
	return object->generation > 1 ? g_strdup_printf("%s #%u", name, object->generation)
				      : g_steal_pointer(&name);
}
