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

static void place_io(struct pp_model *model, const struct pp_process *process,
		     struct pp_event *event)
{
	g_mutex_lock(model->lock);
	if (event->io.site)
		event->io.site = pp_places_code(process, event->io.site, event->time_ns);
	if (event->io.path)
		event->io.path = place_path(model, process, event->io.path, event->time_ns);
	g_mutex_unlock(model->lock);
}

/* --- paths ---------------------------------------------------------------------------------- */

/*
 * Numbers increase in a stream.  If they do not, it is damaged, and no definition in it is certain.
 */
static void decode_path(struct pp_stream *stream, const struct pp_record *record)
{
	uint64_t number = record->values[PP_PATH_NUMBER], parent = record->values[PP_PATH_PARENT];
	struct pp_path_node node = {.number = (uint32_t)number,
				    .parent = (uint32_t)parent,
				    .address = record->values[PP_PATH_ADDRESS]};
	guint n = stream->nodes->len;

	if (number > UINT32_MAX || number < ST_PATH_FIRST || parent >= number ||
	    (n && g_array_index(stream->nodes, struct pp_path_node, n - 1).number >= number)) {
		g_array_set_size(stream->nodes, 0);
		pp_model_add_problem(stream->decoder->capture->model,
				     "call paths with contradictory definitions", stream->name, 1);
		return;
	}
	g_array_append_val(stream->nodes, node);
}

static int compare_nodes(const void *a, const void *b)
{
	uint32_t x = ((const struct pp_path_node *)a)->number;
	uint32_t y = ((const struct pp_path_node *)b)->number;

	return (x > y) - (x < y);
}

static struct pp_path_node *find_node(struct pp_stream *stream, uint64_t number)
{
	struct pp_path_node key = {.number = (uint32_t)number};
	guint at;

	return number <= UINT32_MAX &&
		       g_array_binary_search(stream->nodes, &key, compare_nodes, &at)
		   ? &g_array_index(stream->nodes, struct pp_path_node, at)
		   : NULL;
}

/*
 * Returns the path up to the node, and why it ends.  NULL: one of its nodes is not defined, since a
 * packet is missing.
 */
static const struct pp_path *path_to(struct pp_stream *stream, struct pp_path_node *innermost)
{
	const struct pp_path_node *node = innermost;
	uint64_t addresses[ST_PATH_MAX];
	unsigned n = 0;

	if (innermost->path)
		return innermost->path;
	for (; node && n < ST_PATH_MAX; node = find_node(stream, node->parent)) {
		addresses[n++] = node->address;
		if (node->parent >= ST_PATH_FIRST)
			continue;
		innermost->end = node->parent;
		innermost->path = pp_model_path(stream->decoder->capture->model, addresses, n);
		break;
	}
	return innermost->path;
}

/* A path of one frame is that of an operation whose path ends early: it tells nothing but the site.
 */
static const struct pp_path *longer_path(const struct pp_path *path)
{
	return path && path->n > 1 ? path : NULL;
}

/* Returns the path with that number, for one event; NULL: not known, which is counted. */
static const struct pp_path *find_path(struct pp_stream *stream, uint64_t number)
{
	struct pp_path_node *node = find_node(stream, number);
	const struct pp_path *path = node ? path_to(stream, node) : NULL;

	if (!path)
		pp_model_add_problem(stream->decoder->capture->model,
				     "synch-events with undefined call paths", stream->name, 1);
	else if (stream->thread && node->end < ST_N_PATH_ENDS)
		stream->thread->process->path_ends[node->end]++;
	return path;
}

static void decode_call_path(struct pp_stream *stream, const struct pp_record *record)
{
	stream->path = find_path(stream, record->values[PP_CALL_PATH_NUMBER]);
	stream->path_object_low = (uint32_t)record->values[PP_CALL_PATH_OBJECT_LOW];
}

/* A call path applies to a single event. The end of a thread has no site, but may have a frame. */
static const struct pp_path *take_path(struct pp_stream *stream, const struct pp_event *event)
{
	const struct pp_path *path = stream->path;

	stream->path = NULL;
	if (!path || stream->path_object_low != (uint32_t)event->sync.object)
		return NULL;
	return event->sync.op == ST_EVENT_thread_exit ? path : longer_path(path);
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
	event->sync.path = take_path(stream, event);
	take_tries(stream, event);
	event->sync.conditionals = stream->conditionals;
	event->sync.order = stream->order;
	stream->order = 0;
	if (event->thread && event->thread->process->places)
		place_event(stream->decoder->capture->model, event->thread->process, event);
	return true;
}

bool pp_decode_io(struct pp_stream *stream, const struct pp_record *record, struct pp_event *event)
{
	struct pp_model *model = stream->decoder->capture->model;
	uint64_t call = record->values[PP_IO_CALL], path = record->values[PP_IO_PATH];

	if (call >= ST_N_IO_CALLS) {
		pp_model_add_problem(model, "blocking calls of a later gprof-mt: left out",
				     stream->name, 1);
		return false;
	}
	event->kind = PP_EVENT_IO;
	event->thread = stream->thread;
	event->io.call = (enum st_io_call)call;
	event->io.error = (uint8_t)record->values[PP_IO_RESULT];
	event->io.object = record->values[PP_IO_OBJECT];
	event->io.fd =
	    pp_io_object(event->io.call) == ST_IO_FD ? (int)(int64_t)event->io.object : -1;
	event->io.site = site_address(stream, record->values[PP_IO_SITE]);
	event->io.duration_ns = record->values[PP_IO_DURATION];
	if (!pp_io_may_last(stream, event->io.duration_ns,
			    stream->io_begins ? stream->io_end_ns : event->time_ns)) {
		pp_model_add_problem(model,
				     "blocking calls with an impossible duration: without it",
				     stream->name, 1);
		event->io.duration_ns = 0;
	}
	stream->io_ns += event->io.duration_ns;
	event->io.path = path ? longer_path(find_path(stream, path)) : NULL;
	if (event->thread && event->thread->process->places)
		place_io(model, event->thread->process, event);
	return true;
}

static void place_sample(struct pp_model *model, const struct pp_process *process,
			 struct pp_event *event)
{
	g_mutex_lock(model->lock);
	event->sample.path = place_path(model, process, event->sample.path, event->time_ns);
	g_mutex_unlock(model->lock);
}

/* The path of a sample is one of its own, also if it consists of one address. */
static void take_sample_path(struct pp_stream *stream, uint64_t number, struct pp_event *event)
{
	struct pp_process *process = stream->thread->process;
	struct pp_path_node *node = number ? find_node(stream, number) : NULL;

	event->sample.path = node ? path_to(stream, node) : NULL;
	if (!event->sample.path) {
		process->sample_paths_lost++;
		return;
	}
	event->sample.end = node->end;
	if (node->end < ST_N_PATH_ENDS)
		process->sample_ends[node->end]++;
	if (process->places)
		place_sample(stream->decoder->capture->model, process, event);
}

/* CPU time and time come from different clocks, which need not agree exactly. */
#define CLOCK_ERROR_NS INT64_C(1000000000)

/*
 * A sample stands for CPU time that has passed, but not only for that since the thread's start: a
 * child of fork counts its samples until it has a folder, and tells them with the first one that it
 * writes.
 */
static bool sample_may_count(const struct pp_stream *stream, uint64_t n, int64_t time_ns)
{
	int64_t origin_ns = pp_model_origin(stream->decoder->capture->model);
	uint64_t passed_ns = time_ns > origin_ns ? (uint64_t)time_ns - (uint64_t)origin_ns : 0;
	uint64_t period_ns = MAX(stream->thread->process->sample_period_ns, 1);

	return n > 0 && n <= (passed_ns + CLOCK_ERROR_NS) / period_ns;
}

void pp_decode_sample(struct pp_stream *stream, const struct pp_record *record,
		      struct pp_event *event)
{
	struct pp_capture *capture = stream->decoder->capture;
	uint64_t n = record->values[PP_SAMPLE_N];

	event->kind = PP_EVENT_SAMPLE;
	event->thread = stream->thread;
	if (!event->thread)
		return;
	take_sample_path(stream, record->values[PP_SAMPLE_PATH], event);
	if (!sample_may_count(stream, n, event->time_ns)) {
		if (!pp_capture_is_damaged(capture, stream->name))
			pp_capture_add_damage(capture, stream->name,
					      "has samples of more CPU time than has passed; the "
					      "report leaves out their time");
		n = 0;
	}
	event->sample.weight_ns = n * event->thread->process->sample_period_ns;
	event->thread->stack_samples += n;
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
	case PP_CLASS_CONDITIONALS:
		stream->conditionals = record->values[PP_CONDITIONALS_COUNT];
		break;
	case PP_CLASS_ORDER:
		stream->order = record->values[PP_ORDER_NUMBER];
		break;
	default:
		break;
	}
}
