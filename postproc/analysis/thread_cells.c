/* SPDX-License-Identifier: MIT */
/* Titles, groups and common cells of threads. */
#include "analysis/thread_cells.h"

#include <string.h>

#include "core/text/printable.h"
#include "analysis/select.h"

char *pp_thread_label(const struct pp_thread *thread)
{
	const char *name = pp_thread_name(thread);

	return pp_printable(g_strdup(name ? name : ""));
}

char *pp_thread_title(const struct pp_thread *thread)
{
	g_autofree char *name = pp_thread_label(thread);

	return g_strdup_printf("thread %u%s%s (tid %u, process %s)", thread->index,
			       *name ? " " : "", name, thread->tid, thread->process->folder);
}

static GPtrArray *select_threads(const struct pp_pass_context *context,
				 const struct pp_process *process, bool with_samples)
{
	GPtrArray *threads = g_ptr_array_new();

	for (guint i = 0; i < process->threads->len; i++) {
		struct pp_thread *thread = process->threads->pdata[i];
		bool has_any = (thread->arcs && thread->arcs->len) ||
			       (with_samples && thread->samples && thread->samples->len);

		if (has_any && pp_selects_thread(context, thread))
			g_ptr_array_add(threads, thread);
	}
	return threads;
}

GPtrArray *pp_threads_with_calls(const struct pp_pass_context *context,
				 const struct pp_process *process)
{
	return select_threads(context, process, false);
}

GPtrArray *pp_threads_with_profile(const struct pp_pass_context *context,
				   const struct pp_process *process)
{
	return select_threads(context, process, true);
}

bool pp_process_has_no_calls(const struct pp_process *process)
{
	if (process->has_counts || process->counts_damaged)
		return false;
	for (guint i = 0; i < process->threads->len; i++)
		if (((const struct pp_thread *)process->threads->pdata[i])->arcs)
			return false;
	return true;
}

static void unit_free(void *data)
{
	struct pp_unit *unit = data;

	g_free(unit->title);
	g_ptr_array_unref(unit->threads);
	g_free(unit);
}

static struct pp_unit *add_unit(GPtrArray *units)
{
	struct pp_unit *unit = g_new0(struct pp_unit, 1);

	unit->threads = g_ptr_array_new();
	g_ptr_array_add(units, unit);
	return unit;
}

static void title_groups(GHashTable *by_group)
{
	GHashTableIter iter;
	void *group, *item;

	g_hash_table_iter_init(&iter, by_group);
	while (g_hash_table_iter_next(&iter, &group, &item)) {
		struct pp_unit *unit = item;
		const struct pp_thread *first = unit->threads->pdata[0];

		unit->title =
		    g_strdup_printf("%u thread%s of group %s (process %s)", unit->threads->len,
				    unit->threads->len == 1 ? "" : "s", (const char *)group,
				    first->process->folder);
	}
}

GPtrArray *pp_thread_units(const struct pp_pass_context *context, const GPtrArray *threads)
{
	g_autoptr(GHashTable) by_group =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	GPtrArray *units = g_ptr_array_new_with_free_func(unit_free);

	for (guint i = 0; i < threads->len; i++) {
		struct pp_thread *thread = threads->pdata[i];
		char *group = context->group ? pp_thread_group(thread) : NULL;
		struct pp_unit *unit = group ? g_hash_table_lookup(by_group, group) : NULL;

		if (!unit) {
			unit = add_unit(units);
			if (group)
				g_hash_table_insert(by_group, g_steal_pointer(&group), unit);
			else
				unit->title = pp_thread_title(thread);
		}
		g_free(group);
		g_ptr_array_add(unit->threads, thread);
	}
	title_groups(by_group);
	return units;
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

char *pp_thread_group(const struct pp_thread *thread)
{
	if (thread->routine)
		return g_strdup(thread->routine);
	if (!thread->name || !*thread->name)
		return NULL;
	return thread->tid == thread->process->pid ? g_strdup(thread->name)
						   : name_stem(thread->name);
}

struct pp_cell *pp_named_thread_row(struct pp_table *table, const struct pp_thread *thread)
{
	struct pp_cell *row = pp_thread_row(table, thread);
	g_autofree char *group = pp_thread_group(thread);

	pp_cell_set_text(&row[PP_CELL_GROUP], group);
	pp_cell_set_text(&row[PP_CELL_THREAD], pp_thread_name(thread));
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

void pp_listing_rest(const struct pp_listing *listing, unsigned n_shown, unsigned n_all)
{
	if (n_shown < n_all)
		g_string_append_printf(listing->text, "... and %u more functions\n",
				       n_all - n_shown);
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
