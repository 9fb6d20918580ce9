/* SPDX-License-Identifier: MIT */
/* Titles, groups and common cells of threads. */
#include "analysis/thread_cells.h"

#include <string.h>

#include "core/text/printable.h"
#include "analysis/select.h"

char *pp_thread_title(const struct pp_thread *thread)
{
	g_autofree char *name = pp_printable(g_strdup(thread->name ? thread->name : ""));

	return g_strdup_printf("thread %u%s%s (tid %u, process %s)", thread->index,
			       *name ? " " : "", name, thread->tid, thread->process->folder);
}

GPtrArray *pp_threads_with_calls(const struct pp_pass_context *context,
				 const struct pp_process *process)
{
	GPtrArray *threads = g_ptr_array_new();

	for (guint i = 0; i < process->threads->len; i++) {
		struct pp_thread *thread = process->threads->pdata[i];

		if (thread->arcs && thread->arcs->len && pp_selects_thread(context, thread))
			g_ptr_array_add(threads, thread);
	}
	return threads;
}

char *pp_sampled_function(const struct pp_namer *namer, const struct pp_process *process,
			  uint64_t address, uint64_t *ret_entry)
{
	uint64_t return_address = address + 1; /* the namer expects return addresses */
	g_autofree char *name = NULL;

	*ret_entry = 0;
	if (namer->is_own && namer->is_own(namer->data, process, address))
		return g_strdup(PP_OWN_CODE);
	name = namer->function(namer->data, process, return_address);
	if (g_str_has_prefix(name, "0x"))
		return g_strdup("<no name, in no file>");
	if (namer->entry)
		*ret_entry = namer->entry(namer->data, process, return_address);
	return g_steal_pointer(&name);
}

bool pp_thread_calls(const struct pp_thread *thread, uint64_t *ret_calls)
{
	*ret_calls = 0;
	if (!thread->arcs)
		return false;
	for (guint i = 0; i < thread->arcs->len; i++)
		*ret_calls += g_array_index(thread->arcs, struct pp_arc, i).count;
	return true;
}

struct pp_cell *pp_thread_row(struct pp_table *table, const struct pp_thread *thread)
{
	struct pp_cell *row = pp_table_add_row(table);

	pp_cell_set_count(&row[PP_CELL_PID], thread->process->pid);
	pp_cell_set_count(&row[PP_CELL_IMAGE], thread->process->image);
	pp_cell_set_count(&row[PP_CELL_TID], thread->tid);
	pp_cell_set_count(&row[PP_CELL_INDEX], thread->index);
	return row;
}

/* "client-12" -> "client".  A name of digits only is not changed. */
static char *name_stem(const char *name)
{
	size_t len = strlen(name);

	while (len > 0 && g_ascii_isdigit(name[len - 1]))
		len--;
	while (len > 0 && strchr("-_.:/# ", name[len - 1]))
		len--;
	return len ? g_strndup(name, len) : g_strdup(name);
}

char *pp_thread_group(const struct pp_pass_context *context, const struct pp_thread *thread)
{
	const struct pp_namer *namer = context->namer;

	/* The namer expects return addresses: add one to the entry address. */
	if (thread->start_routine && namer && namer->function)
		return namer->function(namer->data, thread->process, thread->start_routine + 1);
	return thread->name && thread->name[0] ? name_stem(thread->name) : NULL;
}

struct pp_cell *pp_named_thread_row(struct pp_table *table, const struct pp_pass_context *context,
				    const struct pp_thread *thread)
{
	struct pp_cell *row = pp_thread_row(table, thread);
	g_autofree char *group = pp_thread_group(context, thread);

	pp_cell_set_text(&row[PP_CELL_GROUP], group);
	pp_cell_set_text(&row[PP_CELL_THREAD], thread->name);
	return row;
}

static void note_no_calls(const struct pp_listing *listing)
{
	if (listing->context->selection)
		pp_table_note(listing->table, "the selection contains no calls of these threads");
	else
		pp_table_note(listing->table,
			      "no calls were counted: the program was not built with -pg, or "
			      "counting was off");
}

gint pp_edge_order(const struct pp_cell *x, const struct pp_cell *y, unsigned count, unsigned from,
		   unsigned to)
{
	if (x[count].count != y[count].count)
		return x[count].count < y[count].count ? 1 : -1;
	if (x[from].count != y[from].count)
		return x[from].count < y[from].count ? -1 : 1;
	return (x[to].count > y[to].count) - (x[to].count < y[to].count);
}

void pp_listing_begin(struct pp_listing *listing, struct pp_table *table)
{
	listing->table = table;
	listing->text = g_string_new(NULL);
}

bool pp_listing_end(struct pp_listing *listing, GPtrArray *tables)
{
	bool has_rows = listing->table->rows->len > 0;

	if (has_rows) { /* drop the empty line after the last thread */
		g_string_truncate(listing->text, listing->text->len - 1);
		listing->table->text = g_string_free(listing->text, FALSE);
	} else {
		g_string_free(listing->text, TRUE);
		note_no_calls(listing);
	}
	g_ptr_array_add(tables, listing->table);
	return has_rows;
}
