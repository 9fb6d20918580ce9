/* SPDX-License-Identifier: MIT */
/*
 * libstdc++ starts all its threads at one routine, which calls a virtual function of the class
 * std::thread::_State_impl<std::thread::_Invoker<std::tuple<FUNCTION, ARGUMENT...> > >.  Its name
 * in the thread's counted calls tells the type of the thread's function:
 *
 * - a class (of a lambda, of a function object) identifies it;
 * - of a pointer to a function, the type is known.  It is called from the library's code, part of
 *   which is inlined, and so are the functions that it calls at its end (tail calls).  If exactly
 *   one of these has that type, it is the one.
 */
#include "analysis/thread_routines.h"

#include <string.h>

#include "core/text/function_name.h"

struct search {
	const struct pp_namer *namer;
	const struct pp_thread *thread;
	GHashTable *names;    /* address -> char *, of the thread's process */
	GHashTable *followed; /* a set of names of functions of the library */
	GHashTable *called;   /* a set of names of functions of the program that they call */
};

static const char *function_at(const struct search *search, uint64_t address)
{
	const struct pp_namer *namer = search->namer;
	char *name = g_hash_table_lookup(search->names, &address);

	if (name)
		return name;
	name = namer->function(namer->data, search->thread->process, address);
	g_hash_table_insert(search->names, g_memdup2(&address, sizeof(address)), name);
	return name;
}

/* Follows the calls of a function of the library. */
static void follow(struct search *search, const char *caller)
{
	const GArray *arcs = search->thread->arcs;

	if (!g_hash_table_add(search->followed, (void *)caller))
		return;
	for (guint i = 0; i < arcs->len; i++) {
		const struct pp_arc *arc = &g_array_index(arcs, struct pp_arc, i);
		const char *name = function_at(search, arc->self);

		if (strcmp(function_at(search, arc->from), caller) != 0)
			continue;
		if (pp_is_library_function(name))
			follow(search, name);
		else
			g_hash_table_add(search->called, (void *)name);
	}
}

/* FUNCTION in the name of a member of the class above; NULL: another name.  The caller frees it. */
static char *type_in(const char *name)
{
	static const char before[] = "std::thread::_State_impl<std::thread::_Invoker<std::tuple<";
	const char *begin = name + sizeof(before) - 1, *c = begin;

	if (!g_str_has_prefix(name, before))
		return NULL;
	for (int depth = 0; *c && (depth || !strchr(",>", *c)); c++)
		depth += (strchr("<({", *c) != NULL) - (strchr(">)}", *c) != NULL);
	return g_strndup(begin, (gsize)(c - begin));
}

/* The type of the thread's function; NULL: not known.  The caller frees it. */
static char *find_type(const struct search *search)
{
	g_autofree char *found = NULL;
	GHashTableIter iter;
	void *name;

	g_hash_table_iter_init(&iter, search->followed);
	while (g_hash_table_iter_next(&iter, &name, NULL)) {
		g_autofree char *type = type_in(name);

		if (type && found && strcmp(type, found) != 0)
			return NULL;
		if (type && !found)
			found = g_steal_pointer(&type);
	}
	return g_steal_pointer(&found);
}

/* True if the function "A::f(int)" has the type "void (A::*)(int)", or "f(int)" "void (*)(int)". */
static bool has_type(const char *name, const char *type)
{
	const char *pointer = strstr(type, "*)("), *begin = pointer, *at;
	g_autofree char *parameters = NULL;
	size_t len;

	if (!pointer)
		return false;
	while (begin > type && begin[-1] != '(')
		begin--;
	len = (size_t)(pointer - begin);
	parameters = g_strdup(pointer + 2);
	if (strncmp(name, begin, len) != 0)
		return false;
	at = strstr(name + len, parameters);
	/* After the parameters: " [clone .isra.0]" */
	return at && strchr(" ", at[strlen(parameters)]);
}

/* Returns NULL if several functions have that type, or none. */
static const char *find_function(const struct search *search, const char *type)
{
	const char *found = NULL;
	GHashTableIter iter;
	void *name;

	g_hash_table_iter_init(&iter, search->called);
	while (g_hash_table_iter_next(&iter, &name, NULL)) {
		if (!has_type(name, type))
			continue;
		if (found)
			return NULL;
		found = name;
	}
	return found;
}

/* The function of a std::thread. */
static char *function_of(struct search *search, const char *routine)
{
	g_autofree char *type = NULL;

	if (!search->thread->arcs)
		return NULL;
	g_hash_table_remove_all(search->followed);
	g_hash_table_remove_all(search->called);
	follow(search, routine);
	type = find_type(search);
	if (!type || pp_is_library_function(type))
		return NULL;
	return strstr(type, "*)(") ? g_strdup(find_function(search, type)) : g_steal_pointer(&type);
}

static bool is_of_library(const char *routine)
{
	return g_str_has_prefix(routine, "libstdc++.so") ||
	       g_str_has_prefix(routine, "execute_native_thread_routine");
}

static char *routine_of(struct search *search)
{
	/* The namer expects return addresses: add one to the entry address. */
	const char *name = function_at(search, search->thread->start_routine + 1);

	if (is_of_library(name))
		return function_of(search, name);
	return pp_is_function_name(name) ? g_strdup(name) : NULL;
}

static void name_threads(const struct pp_process *process, const struct pp_namer *namer)
{
	struct search search = {
	    .namer = namer,
	    .names = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free),
	    .followed = g_hash_table_new(g_str_hash, g_str_equal),
	    .called = g_hash_table_new(g_str_hash, g_str_equal),
	};

	for (guint i = 0; i < process->threads->len; i++) {
		struct pp_thread *thread = process->threads->pdata[i];

		search.thread = thread;
		if (thread->start_routine && !thread->routine)
			thread->routine = routine_of(&search);
	}
	g_hash_table_unref(search.called);
	g_hash_table_unref(search.followed);
	g_hash_table_unref(search.names);
}

void pp_name_routines(const struct pp_model *model, const struct pp_namer *namer)
{
	for (guint i = 0; i < model->processes->len; i++)
		name_threads(model->processes->pdata[i], namer);
}
