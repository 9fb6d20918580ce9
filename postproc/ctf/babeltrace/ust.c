/* SPDX-License-Identifier: MIT */
/*
 * Finds the thread of an event from its contexts, and reads the load history from statedump events.
 */
#include "ctf/babeltrace/ust.h"
#include "ctf/babeltrace/fields.h"

#include <string.h>

#include "capture/late_thread.h"
#include "sync-trace/events.h"

#define MAX_BUILD_ID_BYTES 64

struct pp_ust_contexts pp_ust_contexts_of(const bt_stream_class *stream_class)
{
	const bt_field_class *contexts =
	    bt_stream_class_borrow_event_common_context_field_class_const(stream_class);

	return (struct pp_ust_contexts){
	    .vpid = pp_bt_member_index(contexts, "vpid", PP_MEMBER_INTEGER),
	    .vtid = pp_bt_member_index(contexts, "vtid", PP_MEMBER_INTEGER),
	    .procname = pp_bt_member_index(contexts, "procname", PP_MEMBER_STRING),
	};
}

static const bt_field *context_at(const bt_event *event, int index)
{
	const bt_field *contexts = bt_event_borrow_common_context_field_const(event);

	return contexts && index >= 0 ? pp_bt_member(contexts, index) : NULL;
}

/* Returns 0 for a missing or impossible id. */
static uint32_t context_id(const bt_event *event, int index)
{
	const bt_field *field = context_at(event, index);
	int64_t id = field ? pp_bt_integer(field) : 0;

	return id > 0 && id <= INT32_MAX ? (uint32_t)id : 0;
}

static char *thread_name(const struct pp_bt_stream *bt, const bt_event *event)
{
	const bt_field *field = context_at(event, bt->contexts.procname);

	return field ? g_utf8_make_valid(bt_field_string_get_value(field), -1) : NULL;
}

/* Was the tid reused for a new thread, as far as LTTng's events alone show? */
static bool is_another(const struct pp_thread *thread, const struct pp_event_class *class)
{
	return !thread->process->dir && thread->ended && class->what == PP_CLASS_SYNC &&
	       class->op == ST_EVENT_thread_start;
}

struct pp_thread *pp_ust_thread(struct pp_bt_stream *bt, const bt_event *event,
				const struct pp_event_class *class, int64_t time_ns)
{
	struct pp_stream *stream = &bt->stream;
	struct pp_model *model = stream->decoder->capture->model;
	uint32_t pid = context_id(event, bt->contexts.vpid);
	uint32_t tid = context_id(event, bt->contexts.vtid);
	struct pp_thread *thread;

	if (!pid || !tid) {
		if (!stream->thread_unknown)
			pp_capture_add_damage(stream->decoder->capture, stream->trace->dir,
					      "events without the contexts vpid and vtid: left "
					      "out");
		stream->thread_unknown = true;
		return NULL;
	}
	thread = pp_model_thread_at(model, tid, time_ns);
	/*
	 * A session records all programs of its user; the capture has a folder for each program
	 * that was profiled.
	 */
	if (stream->decoder->capture->clock_uuid[0] && !pp_late_process(model, pid))
		return NULL;
	if (!thread || thread->process->pid != pid || is_another(thread, class))
		thread = pp_late_thread_new(model, pid, tid, time_ns);
	if (!thread->name || !*thread->name) {
		g_free(thread->name);
		thread->name = thread_name(bt, event);
	}
	if (!thread->process->dir) {
		thread->end_ns = MAX(thread->end_ns, time_ns);
		thread->process->end_ns = MAX(thread->process->end_ns, time_ns);
		thread->ended |= class->what == PP_CLASS_SYNC && class->op == ST_EVENT_thread_exit;
	}
	thread->in_ust = true;
	return thread->process->has_streams ? NULL : thread;
}

/* --- load history --------------------------------------------------------------------------- */

static uint64_t get_integer(const bt_field *payload, const struct pp_field *field)
{
	return (uint64_t)pp_bt_integer(pp_bt_member(payload, field->index));
}

static void add_load(struct pp_process *process, const bt_field *payload,
		     const struct pp_field *fields, int64_t time_ns)
{
	uint64_t start = get_integer(payload, &fields[PP_LOAD_BASE]);
	uint64_t size_bytes = get_integer(payload, &fields[PP_LOAD_BYTES]);
	const char *path =
	    bt_field_string_get_value(pp_bt_member(payload, fields[PP_LOAD_PATH].index));
	struct pp_load load = {
	    .time_ns = time_ns,
	    .start = start,
	    .end = start + size_bytes,
	    .bias = get_integer(payload, &fields[PP_LOAD_PIC]) ? start : 0,
	};

	if (load.start >= load.end)
		return;
	load.path = g_strdup(path);
	if (!process->maps)
		process->maps = pp_maps_new();
	g_array_append_val(process->maps, load);
}

static char *build_id(const bt_field *payload)
{
	const bt_field *bytes =
	    bt_field_structure_borrow_member_field_by_name_const(payload, "build_id");
	uint64_t n = 0;
	GString *text;

	if (bytes && bt_field_class_type_is(bt_field_get_class_type(bytes),
					    BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY))
		n = bt_field_array_get_length(bytes);
	if (n == 0 || n > MAX_BUILD_ID_BYTES)
		return NULL;
	text = g_string_new(NULL);
	for (uint64_t i = 0; i < n; i++)
		g_string_append_printf(
		    text, "%02x",
		    (unsigned)pp_bt_integer(
			bt_field_array_borrow_element_field_by_index_const(bytes, i)) &
			0xff);
	return g_string_free(text, FALSE);
}

/* The build-id event follows that of its load. */
static void add_build_id(struct pp_process *process, const bt_field *payload,
			 const struct pp_field *fields)
{
	uint64_t start = get_integer(payload, &fields[PP_LOAD_BASE]);

	for (guint i = process->maps ? process->maps->len : 0; i-- > 0;) {
		struct pp_load *load = &g_array_index(process->maps, struct pp_load, i);

		if (load->start != start)
			continue;
		if (!load->build_id)
			load->build_id = build_id(payload);
		return;
	}
}

void pp_ust_load(struct pp_bt_stream *bt, const bt_event *event, const struct pp_event_class *class,
		 int64_t time_ns)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	uint32_t pid = context_id(event, bt->contexts.vpid);
	struct pp_model *model = bt->stream.decoder->capture->model;
	struct pp_process *process = pid ? pp_late_process(model, pid) : NULL;

	if (!pid || (process && process->dir))
		return;
	if (!process) {
		g_autofree char *folder = g_strdup_printf("%u", pid);

		process = pp_model_add_process(model, pid, folder);
		process->start_ns = time_ns;
	}
	if (class->what == PP_CLASS_LOAD)
		add_load(process, payload, class->fields, time_ns);
	else
		add_build_id(process, payload, class->fields);
}
