/* SPDX-License-Identifier: MIT */
#include "input/decode_sync.h"

static void decode_site(struct pp_stream *stream, const struct pp_event_class *class,
			const bt_field *payload)
{
	uint64_t number = pp_field_unsigned(payload, &class->fields[PP_SITE_NUMBER]);
	uint64_t address = pp_field_unsigned(payload, &class->fields[PP_SITE_ADDRESS]);

	if (number > UINT16_MAX)
		return;
	if (number >= stream->sites->len)
		g_array_set_size(stream->sites, (guint)number + 1);
	g_array_index(stream->sites, uint64_t, number) = address;
}

static uint64_t site_address(struct pp_stream *stream, uint64_t number)
{
	if (stream->trace->is_ust) /* the address itself */
		return number;
	if (number < stream->sites->len)
		return g_array_index(stream->sites, uint64_t, number);
	if (number)
		pp_model_add_problem(stream->decoder->capture->model,
				     "synch-events from call sites that are not defined",
				     stream->name, 1);
	return 0;
}

static void decode_path(struct pp_stream *stream, const struct pp_event_class *class,
			const bt_field *payload)
{
	uint64_t number = pp_field_unsigned(payload, &class->fields[PP_PATH_NUMBER]);
	const bt_field *array = bt_field_structure_borrow_member_field_by_index_const(
	    payload, (uint64_t) class->fields[PP_PATH_ADDRESSES].index);
	uint64_t n = bt_field_array_get_length(array), addresses[ST_PATH_MAX];

	if (number > UINT16_MAX || n > ST_PATH_MAX)
		return;
	for (uint64_t i = 0; i < n; i++)
		addresses[i] = bt_field_integer_unsigned_get_value(
		    bt_field_array_borrow_element_field_by_index_const(array, i));
	if (number >= stream->paths->len)
		g_ptr_array_set_size(stream->paths, (gint)number + 1);
	stream->paths->pdata[number] =
	    (void *)pp_model_path(stream->decoder->capture->model, addresses, (unsigned)n);
}

static void decode_call_path(struct pp_stream *stream, const struct pp_event_class *class,
			     const bt_field *payload)
{
	uint64_t number = pp_field_unsigned(payload, &class->fields[PP_CALL_PATH_NUMBER]);

	stream->path = number < stream->paths->len ? stream->paths->pdata[number] : NULL;
	stream->path_object = pp_field_unsigned(payload, &class->fields[PP_CALL_PATH_OBJECT]);
	if (!stream->path)
		pp_model_add_problem(stream->decoder->capture->model,
				     "synch-events along paths that are not defined", stream->name,
				     1);
}

/* A path is said of one event only. */
static const struct pp_path *take_path(struct pp_stream *stream, uint64_t object)
{
	const struct pp_path *path = stream->path;

	stream->path = NULL;
	return stream->path_object == object ? path : NULL;
}

void pp_decode_sync(struct pp_stream *stream, const struct pp_event_class *class,
		    const bt_field *payload, struct pp_event *event)
{
	const struct pp_field *fields = class->fields;

	event->kind = PP_EVENT_SYNC;
	event->thread = stream->thread;
	event->sync.op = class->op;
	event->sync.result = (uint8_t)pp_field_unsigned(payload, &fields[PP_SYNC_RESULT]);
	event->sync.site = site_address(stream, pp_field_unsigned(payload, &fields[PP_SYNC_SITE]));
	event->sync.object = pp_field_unsigned(payload, &fields[PP_SYNC_OBJECT]);
	event->sync.holder = (uint32_t)pp_field_unsigned(payload, &fields[PP_SYNC_HOLDER]);
	event->sync.value = pp_field_unsigned(payload, &fields[PP_SYNC_VALUE]);
	event->sync.path = take_path(stream, event->sync.object);
}

void pp_decode_definition(struct pp_stream *stream, const struct pp_event_class *class,
			  const bt_field *payload)
{
	switch (class->what) {
	case PP_CLASS_SITE:
		decode_site(stream, class, payload);
		break;
	case PP_CLASS_PATH:
		decode_path(stream, class, payload);
		break;
	case PP_CLASS_CALL_PATH:
		decode_call_path(stream, class, payload);
		break;
	default:
		break;
	}
}
