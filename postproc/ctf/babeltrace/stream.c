/* SPDX-License-Identifier: MIT */
/* Describes each event class once, then copies the fields of a message by index. */
#include "ctf/babeltrace/stream.h"

#include "ctf/ahead.h"

#include <string.h>

#include "ctf/babeltrace/fields.h"
#include "ctf/babeltrace/ust.h"
#include "sync-trace/accesses.h"

#define MAX_CLASS_ID 65535

/* --- classes ---------------------------------------------------------------------------------- */

static void learn_class(struct pp_bt_stream *bt, struct pp_event_class *class,
			const bt_event_class *event_class)
{
	const struct pp_trace *trace = bt->stream.trace;
	const bt_stream_class *stream_class = bt_event_class_borrow_stream_class_const(event_class);
	struct pp_class_description description = {
	    .name = bt_event_class_get_name(event_class),
	    .payload = pp_bt_members(bt_event_class_borrow_payload_field_class_const(event_class)),
	    .context = pp_bt_members(
		bt_event_class_borrow_specific_context_field_class_const(event_class)),
	    .common_context = pp_bt_members(
		bt_stream_class_borrow_event_common_context_field_class_const(stream_class)),
	};
	const char *missing = pp_event_class_learn(class, &description,
						   trace->is_ust    ? PP_NAMES_UST
						   : trace->process ? PP_NAMES_OURS
								    : PP_NAMES_KERNEL);

	if (missing)
		pp_capture_add_damage(bt->stream.decoder->capture, trace->dir,
				      "events %s have no usable field \"%s\": left out",
				      description.name, missing);
	pp_bt_members_free(description.payload);
	pp_bt_members_free(description.context);
	pp_bt_members_free(description.common_context);
}

static const struct pp_event_class *class_of(struct pp_bt_stream *bt, const bt_event *event)
{
	static const struct pp_event_class ignored = {.what = PP_CLASS_IGNORED};
	const bt_event_class *event_class = bt_event_borrow_class_const(event);
	uint64_t id = bt_event_class_get_id(event_class);
	struct pp_event_class *class;

	if (G_UNLIKELY(id > MAX_CLASS_ID))
		return &ignored;
	if (G_UNLIKELY(id >= bt->classes->len))
		g_array_set_size(bt->classes, (guint)id + 1);
	class = &g_array_index(bt->classes, struct pp_event_class, id);
	if (G_UNLIKELY(class->what == PP_CLASS_UNSEEN))
		learn_class(bt, class, event_class);
	return class;
}

/* --- records -------------------------------------------------------------------------------- */

static uint64_t take_integer(const bt_field *structure, const struct pp_field *field)
{
	const bt_field *member = pp_bt_member(structure, field->index);

	return field->is_signed ? (uint64_t)bt_field_integer_signed_get_value(member)
				: bt_field_integer_unsigned_get_value(member);
}

static void take_lines(struct pp_bt_stream *bt, struct pp_record *record, const bt_field *member)
{
	if (!bt->lines)
		bt->lines = g_array_new(FALSE, FALSE, sizeof(struct st_access_line));
	record->n_lines = pp_bt_lines(member, bt->lines);
	record->lines = bt->lines->data;
}

static void take_places(struct pp_bt_stream *bt, struct pp_record *record, const bt_field *member)
{
	if (!bt->places)
		bt->places = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	record->n_lines = pp_bt_places(member, bt->places);
	record->lines = bt->places->data;
}

static void take_field(struct pp_bt_stream *bt, struct pp_record *record, unsigned i,
		       const struct pp_field *field, const bt_field *structure)
{
	if (field->type == PP_MEMBER_LINES)
		take_lines(bt, record, pp_bt_member(structure, field->index));
	else if (field->type == PP_MEMBER_PLACES)
		take_places(bt, record, pp_bt_member(structure, field->index));
	else if (field->type == PP_MEMBER_STRING)
		record->texts[i] = bt_field_string_get_value(pp_bt_member(structure, field->index));
	else
		record->values[i] = take_integer(structure, field);
}

static int32_t take_tid(const struct pp_event_class *class, const bt_event *event)
{
	if (class->tid >= 0)
		return (int32_t)pp_bt_integer(
		    pp_bt_member(bt_event_borrow_specific_context_field_const(event), class->tid));
	if (class->common_tid >= 0)
		return (int32_t)pp_bt_integer(pp_bt_member(
		    bt_event_borrow_common_context_field_const(event), class->common_tid));
	return PP_TID_UNKNOWN;
}

static void take_fields(struct pp_bt_stream *bt, struct pp_record *record,
			const struct pp_event_class *class, const bt_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field *context = bt_event_borrow_specific_context_field_const(event);
	const struct pp_field *fields = class->syscall ? class->syscall->fields : class->fields;
	unsigned n = class->syscall ? class->syscall->n : PP_MAX_FIELDS;

	record->class = class;
	record->tid = take_tid(class, event);
	for (unsigned i = 0; i < n; i++)
		if (fields[i].index >= 0)
			take_field(bt, record, i, &fields[i],
				   fields[i].in_context ? context : payload);
}

void pp_bt_stream_emit(struct pp_bt_stream *bt, const bt_message *message, int64_t time_ns)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const struct pp_event_class *class = class_of(bt, event);
	struct pp_stream *stream = &bt->stream;
	struct pp_record record = {0};

	pp_stream_begin_event(stream, time_ns);
	if (class->what == PP_CLASS_IGNORED)
		return;
	if (class->what == PP_CLASS_LOAD || class->what == PP_CLASS_BUILD_ID) {
		pp_ust_load(bt, event, class, time_ns);
		return;
	}
	if (stream->trace->is_ust)
		stream->thread = pp_ust_thread(bt, event, class, time_ns);
	if (stream->trace->is_ust && !stream->thread)
		return;
	take_fields(bt, &record, class, event);
	pp_stream_take(stream, &record, time_ns);
}

/* --- packets and other messages ------------------------------------------------------------- */

static bool is_of_lttng_kernel(const struct pp_trace *trace, const bt_stream *bt_stream)
{
	const bt_value *tracer = bt_trace_borrow_environment_entry_value_by_name_const(
	    bt_stream_borrow_trace_const(bt_stream), "tracer_name");

	return !trace->process && !trace->is_ust && tracer && bt_value_is_string(tracer) &&
	       strcmp(bt_value_string_get(tracer), "lttng-modules") == 0;
}

static void begin_stream(struct pp_bt_stream *bt, const bt_message *message)
{
	const bt_stream *bt_stream = bt_message_stream_beginning_borrow_stream_const(message);
	const bt_stream_class *stream_class = bt_stream_borrow_class_const(bt_stream);
	const bt_clock_class *clock =
	    bt_stream_class_borrow_default_clock_class_const(stream_class);
	const bt_field_class *context =
	    bt_stream_class_borrow_packet_context_field_class_const(stream_class);
	const char *path = bt_stream_get_name(bt_stream);
	struct pp_stream *stream = &bt->stream;

	if (path) {
		g_autofree char *file = g_path_get_basename(path);

		g_free(stream->name);
		stream->name = g_build_filename(stream->trace->dir, file, NULL);
	}
	if (!clock) {
		bt->unusable = true;
		pp_capture_add_damage(stream->decoder->capture, stream->name,
				      "events without times: left out");
		return;
	}
	stream->all_programs = is_of_lttng_kernel(stream->trace, bt_stream);
	bt->is_ns = bt_clock_class_get_frequency(clock) == 1000000000;
	bt->tid_field = pp_bt_member_index(context, "tid", PP_MEMBER_INTEGER);
	bt->index_field = pp_bt_member_index(context, stream->trace->processes ? "child" : "index",
					     PP_MEMBER_INTEGER);
	bt->cpu_field = pp_bt_member_index(context, "cpu_id", PP_MEMBER_INTEGER);
	bt->contexts = pp_ust_contexts_of(stream_class);
}

static uint64_t context_value(const bt_field *context, int index, uint64_t otherwise)
{
	return context && index >= 0 ? (uint64_t)pp_bt_integer(pp_bt_member(context, index))
				     : otherwise;
}

static void begin_packet(struct pp_bt_stream *bt, const bt_message *message)
{
	const bt_packet *packet = bt_message_packet_beginning_borrow_packet_const(message);
	const bt_field *context = bt_packet_borrow_context_field_const(packet);

	if (!bt->unusable)
		pp_stream_packet(&bt->stream, context_value(context, bt->cpu_field, UINT64_MAX),
				 context_value(context, bt->tid_field, 0),
				 context_value(context, bt->index_field, UINT64_MAX));
}

/* Babeltrace gives no count if the first packet of a stream reports losses. */
static void lose_events(struct pp_bt_stream *bt, const bt_message *message)
{
	uint64_t count;

	if (bt_message_discarded_events_get_count(message, &count) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		count = 0;
	pp_stream_lose(&bt->stream, count);
}

static void lose_packets(struct pp_bt_stream *bt, const bt_message *message)
{
	uint64_t count;

	if (bt_message_discarded_packets_get_count(message, &count) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		count = 0;
	pp_model_add_problem(bt->stream.decoder->capture->model,
			     "packets discarded during recording", bt->stream.name, count);
	bt->stream.lost += MAX(count, 1);
}

static int64_t time_of(const struct pp_bt_stream *bt, const bt_message *message)
{
	const bt_clock_snapshot *snapshot =
	    bt_message_event_borrow_default_clock_snapshot_const(message);
	int64_t offset_ns = bt->stream.decoder->capture->clock_offset_ns, ns;

	if (bt->is_ns)
		return (int64_t)MIN(bt_clock_snapshot_get_value(snapshot), INT64_MAX);
	if (bt_clock_snapshot_get_ns_from_origin(snapshot, &ns) !=
	    BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK)
		return bt->stream.last_ns;
	return __builtin_sub_overflow(ns, offset_ns, &ns) ? INT64_MAX : ns;
}

/* Looks ahead; see ctf/ahead.h. */
static bool look_at_event(struct pp_bt_stream *bt, const bt_message *message, int64_t *time_ns)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	struct pp_record record = {0};

	if (!bt->stream.trace->process)
		return true;
	record.class = class_of(bt, event);
	if (record.class->what == PP_CLASS_IGNORED)
		return true;
	take_fields(bt, &record, record.class, event);
	return pp_stream_look(&bt->stream, &record, time_ns);
}

bool pp_bt_stream_look(struct pp_bt_stream *bt, const bt_message *message, int64_t *ret_time_ns)
{
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		begin_stream(bt, message);
		return false;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		begin_packet(bt, message);
		return false;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		lose_events(bt, message);
		return false;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		lose_packets(bt, message);
		return false;
	case BT_MESSAGE_TYPE_EVENT:
		break;
	default:
		return false;
	}
	if (bt->unusable)
		return false;
	*ret_time_ns = time_of(bt, message);
	return pp_stream_admit(&bt->stream, ret_time_ns) && look_at_event(bt, message, ret_time_ns);
}

/* --- creation and release --------------------------------------------------------------------- */

struct pp_bt_stream *pp_bt_stream_new(struct pp_decoder *decoder, const struct pp_trace *trace,
				      const char *name)
{
	struct pp_bt_stream *bt = g_new0(struct pp_bt_stream, 1);

	pp_stream_init(&bt->stream, decoder, trace, name);
	bt->tid_field = bt->index_field = bt->cpu_field = -1;
	bt->classes = g_array_new(FALSE, TRUE, sizeof(struct pp_event_class));
	return bt;
}

void pp_bt_stream_free(struct pp_bt_stream *bt)
{
	pp_stream_done(&bt->stream);
	for (guint i = 0; i < bt->classes->len; i++)
		g_free(g_array_index(bt->classes, struct pp_event_class, i).syscall);
	g_array_unref(bt->classes);
	if (bt->lines)
		g_array_unref(bt->lines);
	if (bt->places)
		g_array_unref(bt->places);
	g_free(bt);
}
