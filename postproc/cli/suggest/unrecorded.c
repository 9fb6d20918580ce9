/* SPDX-License-Identifier: MIT */
/*
 * Two kinds of code have no hooks: functions of libraries, but for those whose accesses
 * libaccess_trace records itself (libsync-trace/access/libc.c, malloc.c), and those of source files
 * that were compiled otherwise.  Code that is called by a pointer is not known.
 */
#include "cli/suggest/unrecorded.h"

#include <string.h>

#include "cli/suggest/addresses.h"
#include "suggest/place.h"

/* Their accesses are recorded, or they access no memory of the program. */
static const char *const recorded[] = {
    "memcpy",	     "memmove",	       "mempcpy",	   "memset",	   "memcmp",
    "bcmp",	     "memchr",	       "strlen",	   "strcpy",	   "stpcpy",
    "strncpy",	     "strcat",	       "strcmp",	   "strncmp",	   "strchr",
    "strrchr",	     "strstr",	       "strdup",	   "__memcpy_chk", "__memmove_chk",
    "__mempcpy_chk", "__memset_chk",   "__strcpy_chk",	   "__stpcpy_chk", "__strncpy_chk",
    "__strcat_chk",  "malloc",	       "calloc",	   "realloc",	   "reallocarray",
    "free",	     "posix_memalign", "aligned_alloc",	   "mmap",	   "munmap",
    "mremap",	     "abort",	       "__stack_chk_fail", "_Znwm",	   "_Znam",
    "_ZdlPv",	     "_ZdlPvm",	       "_ZdaPv",	   "_ZdaPvm"};

/* The hooks, and operations that stay in the section, have names that begin so. */
static const char *const prefixes[] = {"__tsan_", "pthread_", "sem_", "mtx_", "cnd_", "thrd_"};

void pp_suggest_unrecorded_read(struct pp_suggest_run *run)
{
	const struct pp_namer *namer = &run->view.namer;
	const struct pp_process *process = pp_suggest_run_process(run);
	g_autoptr(GPtrArray) objects = g_ptr_array_new_with_free_func(g_free);

	if (run->plain_files || !process || process->accesses != PP_ACCESSES_COMPILED)
		return;
	run->plain_files = g_ptr_array_new_with_free_func(g_free);
	if (namer->uninstrumented)
		namer->uninstrumented(namer->data, process, objects, run->plain_files);
}

static bool is_recorded(const char *name)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(recorded); i++)
		if (strcmp(name, recorded[i]) == 0)
			return true;
	for (unsigned i = 0; i < G_N_ELEMENTS(prefixes); i++)
		if (g_str_has_prefix(name, prefixes[i]))
			return true;
	return false;
}

/* Takes ownership of the name. */
static void add_call(GArray *calls, int line, char *name)
{
	struct pp_suggest_call new = {line, name};

	for (guint i = 0; i < calls->len; i++) {
		const struct pp_suggest_call *call =
		    &g_array_index(calls, struct pp_suggest_call, i);

		if (call->line == line && strcmp(call->name, name) == 0) {
			g_free(name);
			return;
		}
	}
	g_array_append_val(calls, new);
}

static bool is_same_file(const char *a, const char *b)
{
	g_autofree char *x = g_path_get_basename(a), *y = g_path_get_basename(b);

	return strcmp(x, y) == 0;
}

/* The name of the function that begins at the address, if its file has no hooks; else NULL. */
static char *plain_function(const struct pp_suggest_run *run, uint64_t address)
{
	const struct pp_namer *namer = &run->view.namer;
	g_autoptr(GPtrArray) frames =
	    namer->frames(namer->data, pp_suggest_run_process(run), address + 1);
	const struct pp_frame *last = frames->pdata[frames->len - 1];
	struct pp_suggest_code code;
	char *name = NULL;

	if (pp_suggest_code_read(last->site, &code))
		for (guint i = 0; i < run->plain_files->len && !name; i++)
			if (is_same_file(code.file, run->plain_files->pdata[i]))
				name = g_strdup(code.function);
	pp_suggest_code_done(&code);
	return name;
}

static void add_of_node(const struct pp_suggest_run *run, const struct pp_flow_code *code,
			const struct pp_flow_node *node, int line, GArray *calls)
{
	g_autoptr(GHashTable) outside = pp_suggest_addresses_new();
	g_autoptr(GHashTable) called = pp_suggest_addresses_new();
	GHashTableIter at;
	void *address;

	pp_flow_callees(code, node, outside, called);
	g_hash_table_iter_init(&at, outside);
	while (g_hash_table_iter_next(&at, &address, NULL)) {
		g_autofree char *name = pp_symbols_import(
		    run->view.symbols, pp_suggest_run_process(run), *(const uint64_t *)address);

		if (name && !is_recorded(name))
			add_call(calls, line, g_steal_pointer(&name));
	}
	g_hash_table_iter_init(&at, called);
	while (g_hash_table_iter_next(&at, &address, NULL)) {
		char *name = plain_function(run, *(const uint64_t *)address);

		if (name)
			add_call(calls, line, name);
	}
}

static int by_line(const void *x, const void *y)
{
	const struct pp_suggest_call *a = x, *b = y;

	return a->line != b->line ? a->line - b->line : strcmp(a->name, b->name);
}

void pp_suggest_unrecorded_add(const struct pp_suggest_run *run, const struct pp_flow_code *code,
			       const struct pp_flow *flow, const int *lines, GArray *calls)
{
	if (!run->plain_files)
		return;
	for (uint32_t i = 0; i < flow->nodes->len; i++) {
		const struct pp_flow_node *node = pp_flow_at(flow, i);

		if (node->is_call && node->is_inside && !node->is_exit && lines[i])
			add_of_node(run, code, node, lines[i], calls);
	}
	g_array_sort(calls, by_line);
}
