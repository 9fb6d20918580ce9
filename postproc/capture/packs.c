/* SPDX-License-Identifier: MIT */
/*
 * Reads children of fork from packs, as if each had a folder.  Children with the same part of their
 * parent's load map share one array, unless a library was unloaded: the array then grows.
 */
#include "capture/packs.h"

#include <inttypes.h>

#include "capture/records.h"
#include "capture/traces.h"

static void open_pack_free(void *data)
{
	struct pp_open_pack *open = data;

	pp_pack_free(open->pack);
	g_ptr_array_unref(open->processes);
	g_free(open->maps_path);
	g_clear_pointer(&open->maps, g_array_unref);
	g_free(open);
}

static void add_pack(struct pp_capture *capture, GPtrArray *packs, struct pp_pack *pack)
{
	struct pp_open_pack *open = g_new0(struct pp_open_pack, 1);
	const char *dir = capture->model->dir;
	g_autofree char *maps = g_build_filename(dir, pack->parent, "maps", NULL);
	g_autofree char *table = g_build_filename(dir, pack->name, GM_PACK_TABLE, NULL);

	if (pack->fault)
		pp_capture_add_damage(capture, table, "%s; the report covers %u children of fork",
				      pack->fault, pack->children->len);
	open->pack = pack;
	open->processes = g_ptr_array_new();
	g_ptr_array_set_size(open->processes, (gint)pack->children->len);
	if (!pp_capture_leads_out(capture, maps))
		open->maps_path = g_steal_pointer(&maps);
	g_ptr_array_add(packs, open);
}

GPtrArray *pp_packs_open(struct pp_capture *capture)
{
	GPtrArray *packs = g_ptr_array_new_with_free_func(open_pack_free);
	g_autoptr(GPtrArray) found = pp_packs_read(capture->model->dir);

	g_ptr_array_set_free_func(found, NULL);
	for (guint i = 0; i < found->len; i++)
		add_pack(capture, packs, found->pdata[i]);
	return packs;
}

static void read_maps(struct pp_capture *capture, struct pp_open_pack *open,
		      const struct pp_pack_record *record, struct pp_process *process)
{
	struct pp_error err = PP_ERROR_INIT;
	g_autofree char *text = NULL;

	if (open->maps && open->maps_bytes == record->maps_bytes) {
		process->maps = g_array_ref(open->maps);
		return;
	}
	if (open->maps_path &&
	    pp_maps_read_part(capture, process, open->maps_path, record->maps_bytes, &err) == 0) {
		process->places = pp_places_new(process->maps);
		if (process->places)
			return;
		g_clear_pointer(&open->maps, g_array_unref);
		open->maps = g_array_ref(process->maps);
		open->maps_bytes = record->maps_bytes;
		return;
	}
	text = pp_error_text(&err);
	if (record->parts)
		pp_capture_add_damage(capture, process->folder, "no names for addresses: %s",
				      open->maps_path ? text
						      : "a symlink leads out of the capture");
	pp_error_done(&err);
}

static void read_calls(struct pp_capture *capture, const struct pp_pack_child *child,
		       struct pp_process *process)
{
	struct pp_error err = PP_ERROR_INIT;
	g_autofree char *text = NULL;

	if (!(child->record.parts & GM_CHILD_CALLS) ||
	    pp_calls_take(process, child->calls, child->record.calls_bytes, &err) == 0)
		return;
	process->counts_damaged = true;
	text = pp_error_text(&err);
	pp_capture_add_damage(capture, process->folder, "call counts: %s", text);
	pp_error_done(&err);
}

void pp_packs_read_process(struct pp_capture *capture, struct pp_open_pack *open, guint number,
			   struct pp_process *process)
{
	const struct pp_pack_child *child =
	    &g_array_index(open->pack->children, struct pp_pack_child, number);
	struct gm_threads_header threads = pp_pack_threads(&child->record);

	process->dir = g_build_filename(capture->model->dir, open->pack->name, NULL);
	process->pack = g_strdup(open->pack->name);
	process->pack_number = number;
	pp_threads_take(capture, process, &threads, &child->record.first, process->dir);
	read_maps(capture, open, &child->record, process);
	pp_places_translate_starts(process);
	read_calls(capture, child, process);
	open->processes->pdata[number] = process;
}

/* Makes the trace that of all children with events. */
static void share_trace(struct pp_trace *trace, const struct pp_open_pack *open)
{
	trace->processes = g_ptr_array_ref(open->processes);
	for (guint i = 0; i < open->processes->len; i++) {
		struct pp_process *process = open->processes->pdata[i];
		const struct pp_pack_child *child =
		    &g_array_index(open->pack->children, struct pp_pack_child, i);

		if (process)
			process->has_streams = (child->record.parts & GM_CHILD_STREAM) != 0;
	}
}

void pp_packs_add_traces(struct pp_capture *capture, const GPtrArray *packs)
{
	for (guint i = 0; i < packs->len; i++) {
		const struct pp_open_pack *open = packs->pdata[i];
		struct pp_process *first = NULL;
		guint n_traces = capture->traces->len;

		for (guint j = 0; j < open->processes->len && !first; j++)
			first = open->processes->pdata[j];
		if (!first)
			continue;
		pp_traces_add(capture, capture->traces, first->dir, "user", first);
		if (capture->traces->len > n_traces)
			share_trace(capture->traces->pdata[n_traces], open);
	}
}
