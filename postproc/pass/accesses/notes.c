/* SPDX-License-Identifier: MIT */
/* Notes tell what the figures leave out, one line for each reason. */
#include "pass/accesses/accesses.h"

#include <string.h>

static void note_count(struct pp_table *table, uint64_t n, const char *what)
{
	if (n)
		pp_table_note(table, "%" G_GUINT64_FORMAT " %s", n, what);
}

/* Is there a process with that mode, or one with more? */
static bool any_recorded(const struct pp_model *model)
{
	for (guint i = 0; i < model->processes->len; i++)
		if (((const struct pp_process *)model->processes->pdata[i])->accesses !=
		    PP_ACCESSES_NONE)
			return true;
	return false;
}

static bool has_unknown_blocks(const struct pp_model *model)
{
	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		if (process->accesses == PP_ACCESSES_SAMPLED && !process->knows_blocks)
			return true;
	}
	return false;
}

static void note_lost(struct pp_table *table, const struct pp_model *model)
{
	uint64_t n_accesses = 0, n_segments = 0, n_threads = 0, n_blocks = 0;

	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		n_accesses += process->accesses_lost;
		n_segments += process->segments_lost;
		n_threads += process->n_without_accesses;
		n_blocks += process->blocks_lost;
	}
	note_count(table, n_segments,
		   "segments of sections were not written: their accesses are missing");
	note_count(table, n_accesses, "accesses in sections were not written, and are missing");
	note_count(
	    table, n_blocks,
	    "blocks of the heap, or frees of these, were not written: names are missing, and "
	    "reused memory may count as shared");
	note_count(table, n_threads,
		   "threads have no accesses, since only their waits are recorded");
}

static void note_known(struct pp_table *table, const struct pp_access_figures *all)
{
	note_count(table, all->known[PP_ACCESSES_UNKNOWN],
		   "instances are of threads or processes without recorded accesses");
	note_count(table, all->known[PP_ACCESSES_UNSAMPLED],
		   "instances were not sampled: means are over the others");
	note_count(table, all->known[PP_ACCESSES_ABANDONED],
		   "sampled instances were given up and left out");
	note_count(table, all->n_inexact,
		   "instances access more lines than are recorded: their locations are too few");
	note_count(table, all->n_unmapped,
		   "instances wrote memory that was unmapped before their end: all of its bytes "
		   "count as changed");
	note_count(table, all->n_cut,
		   "instances have no recorded end: accesses up to it may be missing");
}

/* --- code that was not compiled for it -------------------------------------------------------- */

#define NAMES 6u

static gint compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "a, b and 3 more", each once. */
static char *list_of(GPtrArray *names)
{
	GString *text = g_string_new(NULL);
	guint n = 0;

	g_ptr_array_sort(names, compare_names);
	for (guint i = 0; i < names->len; i++) {
		const char *name = names->pdata[i];

		if (i && strcmp(name, names->pdata[i - 1]) == 0)
			continue;
		if (n++ < NAMES)
			g_string_append_printf(text, "%s%s", n > 1 ? ", " : "", name);
	}
	if (n > NAMES)
		g_string_append_printf(text, " and %u more", n - NAMES);
	return g_string_free(text, FALSE);
}

static void note_list(struct pp_table *table, GPtrArray *names, const char *what)
{
	g_autofree char *list = names->len ? list_of(names) : NULL;

	if (list)
		pp_table_note(table, "%s: %s", what, list);
}

void pp_access_note_uninstrumented(struct pp_table *table, const struct pp_pass_context *context)
{
	const struct pp_namer *namer = context->namer;
	g_autoptr(GPtrArray) objects = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; namer->uninstrumented && i < context->model->processes->len; i++) {
		const struct pp_process *process = context->model->processes->pdata[i];

		if (process->accesses == PP_ACCESSES_COMPILED)
			namer->uninstrumented(namer->data, process, objects, files);
	}
	note_list(table, objects,
		  "accesses of these are missing, since they were not compiled with "
		  "-fsanitize=thread");
	note_list(table, files,
		  "accesses of these source files are missing, since they were not compiled with "
		  "-fsanitize=thread, as others were");
}

void pp_access_notes(struct pp_table *table, const struct pp_pass_context *context,
		     const struct pp_access_figures *all)
{
	if (!any_recorded(context->model)) {
		pp_table_note(table, "the capture has no accesses: build the program with "
				     "-fsanitize=thread and link it with -laccess_trace, or "
				     "record it with --accesses=sampled");
		return;
	}
	pp_table_note(table, "accesses outside of critical sections are not known: what they share "
			     "counts as private");
	note_known(table, all);
	if (has_unknown_blocks(context->model))
		pp_table_note(table,
			      "in sampled mode the heap's blocks are not known: memory that was "
			      "freed and allocated again counts as the same (record with --set "
			      "access.blocks=on)");
	pp_access_note_uninstrumented(table, context);
	note_lost(table, context->model);
}
