/* SPDX-License-Identifier: MIT */
/*
 * Reads result, object, call site, call path and folded tries from the fields of an event.  An
 * event without an object has that of the event before it.
 */
#include "ctf/decode_sync.h"

static void decode_site(struct pp_stream *stream, const struct pp_record *record)
{
	uint64_t number = record->values[PP_SITE_NUMBER];
	uint64_t address = record->values[PP_SITE_ADDRESS];

	if (number > UINT16_MAX)
		return;
	if (number >= stream->sites->len)
		g_array_set_size(stream->sites, (guint)number + 1);
	g_array_index(stream->sites, uint64_t, number) = address;
}

static uint64_t site_address(struct pp_stream *stream, uint64_t number)
{
	if (stream->trace->is_ust) /* the field holds the address itself */
		return number;
	if (number < stream->sites->len)
		return g_array_index(stream->sites, uint64_t, number);
	if (number)
		pp_model_add_problem(stream->decoder->capture->model,
				     "synch-events with undefined call sites", stream->name, 1);
	return 0;
}

/* --- translation by load intervals ---------------------------------------------------------- */

static const struct pp_path *place_path(struct pp_model *model, const struct pp_process *process,
					const struct pp_path *path, int64_t time_ns)
{
	uint64_t addresses[ST_PATH_MAX];

	for (unsigned i = 0; i < path->n; i++)
		addresses[i] = pp_places_code(process, path->addresses[i], time_ns);
	return pp_model_path(model, addresses, path->n);
}

static void place_event(struct pp_model *model, const struct pp_process *process,
			struct pp_event *event)
{
	uint64_t site = event->sync.site;
	int64_t now_ns = event->time_ns;

	g_mutex_lock(model->lock);
	event->sync.object_load_id = pp_places_load_id(process, event->sync.object, site, now_ns);
	event->sync.value_load_id = pp_places_load_id(process, event->sync.value, site, now_ns);
	if (site)
		event->sync.site = pp_places_code(process, site, now_ns);
	if (event->sync.path)
		event->sync.path = place_path(model, process, event->sync.path, now_ns);
	g_mutex_unlock(model->lock);
}

/* --- paths ---------------------------------------------------------------------------------- */

static void decode_path(struct pp_stream *stream, const struct pp_record *record)
{
	uint64_t number = record->values[PP_PATH_NUMBER];
	uint64_t n = record->n_addresses;

	if (number > UINT16_MAX || n > ST_PATH_MAX)
		return;
	if (number >= stream->paths->len)
		g_ptr_array_set_size(stream->paths, (gint)number + 1);
	stream->paths->pdata[number] =
	    (void *)pp_model_path(stream->decoder->capture->model, record->addresses, (unsigned)n);
}

static void decode_call_path(struct pp_stream *stream, const struct pp_record *record)
{
	uint64_t number = record->values[PP_CALL_PATH_NUMBER];

	stream->path = number < stream->paths->len ? stream->paths->pdata[number] : NULL;
	stream->path_object = record->values[PP_CALL_PATH_OBJECT];
	if (!stream->path)
		pp_model_add_problem(stream->decoder->capture->model,
				     "synch-events with undefined call paths", stream->name, 1);
}

/* A call path applies to a single event. */
static const struct pp_path *take_path(struct pp_stream *stream, uint64_t object)
{
	const struct pp_path *path = stream->path;

	stream->path = NULL;
	return stream->path_object == object ? path : NULL;
}

static void decode_tries(struct pp_stream *stream, const struct pp_record *record)
{
	stream->tries_object = record->values[PP_TRIES_OBJECT];
	stream->tries_holder = (uint32_t)record->values[PP_TRIES_HOLDER];
	stream->more_tries = record->values[PP_TRIES_MORE];
}

/* They apply to a single event. */
static void take_tries(struct pp_stream *stream, struct pp_event *event)
{
	bool is_its = stream->tries_object == event->sync.object;

	event->sync.more_tries = is_its ? stream->more_tries : 0;
	if (is_its && stream->tries_holder)
		event->sync.holder = stream->tries_holder;
	stream->more_tries = stream->tries_holder = 0;
}

/* Returns false if the event has the object of the event before, and there is none. */
static bool take_object(struct pp_stream *stream, const struct pp_record *record)
{
	if (G_LIKELY(record->class->fields[PP_SYNC_OBJECT].index >= 0)) {
		stream->object = record->values[PP_SYNC_OBJECT];
		stream->has_object = true;
	} else if (!stream->has_object) {
		pp_model_add_problem(stream->decoder->capture->model,
				     "synch-events without an object: left out", stream->name, 1);
	}
	return stream->has_object;
}

bool pp_decode_sync(struct pp_stream *stream, const struct pp_record *record,
		    struct pp_event *event)
{
	if (!take_object(stream, record))
		return false;
	event->kind = PP_EVENT_SYNC;
	event->thread = stream->thread;
	event->sync.op = record->class->op;
	event->sync.result = (uint8_t)record->values[PP_SYNC_RESULT];
	event->sync.site = site_address(stream, record->values[PP_SYNC_SITE]);
	event->sync.object = stream->object;
	event->sync.holder = (uint32_t)record->values[PP_SYNC_HOLDER];
	event->sync.value = record->values[PP_SYNC_VALUE];
	event->sync.path = take_path(stream, event->sync.object);
	take_tries(stream, event);
	if (event->thread && event->thread->process->places)
		place_event(stream->decoder->capture->model, event->thread->process, event);
	return true;
}

void pp_decode_definition(struct pp_stream *stream, const struct pp_record *record)
{
	switch (record->class->what) {
	case PP_CLASS_SITE:
		decode_site(stream, record);
		break;
	case PP_CLASS_PATH:
		decode_path(stream, record);
		break;
	case PP_CLASS_CALL_PATH:
		decode_call_path(stream, record);
		break;
	case PP_CLASS_TRIES:
		decode_tries(stream, record);
		break;
	default:
		break;
	}
}
