/* SPDX-License-Identifier: MIT */
/*
 * A Perfetto trace, for its viewer and its trace processor.  It is a sequence of packets, each
 * encoded as field 1 of a message, so each can be written separately.  Times are CLOCK_MONOTONIC,
 * declared as the trace's clock.  Readers sort by time.
 *
 * Names and texts get numbers at their first use, in the same packet.  When they are many, since
 * objects are created again and again, they are forgotten, and numbered anew: readers then forget
 * them, too.
 */
#include "core/text/printable.h"
#include "export/trace/perfetto.pb-c.h"
#include "export/trace/samples.h"
#include "export/trace/slices.h"
#include "export/trace/tracks.h"
#include "analysis/select.h"

#define SEQUENCE	   1
#define SAMPLES_SEQUENCE   2 /* whose texts keep their numbers */
#define INTERNING_BEGINS   1
#define INTERNING_IS_USED  2
#define CLOCK_ID_MONOTONIC 3

/* Texts with a number at a time. */
#define TEXTS_MAX 16384u

/* Maximum of newly interned names in a packet. */
#define NEW_NAMES (2 * PP_SLICE_NOTES + 1)

struct perfetto {
	const struct pp_export *export;
	struct pp_slices *slices;
	struct pp_trace_samples *samples;
	struct pp_tracks tracks;
	GHashTable *events, *keys, *values; /* text -> 1, 2, ... */
	uint64_t n_slices;		    /* and samples */
};

/* A packet and the names that it interns. */
struct packet {
	Perfetto__TracePacket packet;
	Perfetto__InternedData data;
	Perfetto__InternedName names[NEW_NAMES];
	Perfetto__InternedName *events[1], *keys[PP_SLICE_NOTES], *values[PP_SLICE_NOTES];
	unsigned n_names;
	Perfetto__TrackEvent event;
	Perfetto__DebugAnnotation notes[PP_SLICE_NOTES], *note_list[PP_SLICE_NOTES];
	uint64_t flow;
};

/* --- packets -------------------------------------------------------------------------------- */

static void packet_init(struct packet *packet)
{
	perfetto__trace_packet__init(&packet->packet);
	perfetto__interned_data__init(&packet->data);
	perfetto__track_event__init(&packet->event);
	packet->packet.has_trusted_packet_sequence_id = 1;
	packet->packet.trusted_packet_sequence_id = SEQUENCE;
	packet->packet.has_sequence_flags = 1;
	packet->packet.sequence_flags = INTERNING_IS_USED;
	packet->data.event_names = packet->events;
	packet->data.debug_annotation_names = packet->keys;
	packet->data.debug_annotation_string_values = packet->values;
	packet->n_names = 0;
}

static void write_packet(struct perfetto *self, Perfetto__TracePacket *packet)
{
	Perfetto__TracePacket *packets[] = {packet};
	Perfetto__Trace trace = PERFETTO__TRACE__INIT;
	GString *text = self->export->out->text;
	size_t begin = text->len;

	trace.n_packet = 1;
	trace.packet = packets;
	g_string_set_size(text, begin + perfetto__trace__get_packed_size(&trace));
	perfetto__trace__pack(&trace, (uint8_t *)text->str + begin);
	pp_out_flush(self->export->out);
}

/* Returns the text's number; interns a new text in this packet. */
static uint64_t intern(GHashTable *names, const char *text, struct packet *packet,
		       Perfetto__InternedName **list, size_t *n)
{
	uint64_t number = GPOINTER_TO_SIZE(g_hash_table_lookup(names, text));
	Perfetto__InternedName *name;
	char *kept;

	if (number)
		return number;
	kept = g_strdup(text);
	number = g_hash_table_size(names) + 1;
	g_hash_table_insert(names, kept, GSIZE_TO_POINTER(number));
	name = &packet->names[packet->n_names++];
	perfetto__interned_name__init(name);
	name->has_iid = 1;
	name->iid = number;
	name->name = kept;
	list[(*n)++] = name;
	packet->packet.interned_data = &packet->data;
	return number;
}

/* Resets the numbering of a sequence's texts.  `clocks`: NULL if they were declared. */
static void write_reset(struct perfetto *self, uint32_t sequence, Perfetto__ClockSnapshot *clocks,
			Perfetto__PerfSampleDefaults *sampling)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;

	defaults.has_timestamp_clock_id = 1;
	defaults.timestamp_clock_id = CLOCK_ID_MONOTONIC;
	defaults.perf_sample_defaults = sampling;
	packet.has_trusted_packet_sequence_id = packet.has_sequence_flags = 1;
	packet.trusted_packet_sequence_id = sequence;
	packet.sequence_flags = INTERNING_BEGINS;
	packet.trace_packet_defaults = &defaults;
	packet.clock_snapshot = clocks;
	write_packet(self, &packet);
}

static void forget_texts(struct perfetto *self)
{
	g_hash_table_remove_all(self->events);
	g_hash_table_remove_all(self->keys);
	g_hash_table_remove_all(self->values);
	write_reset(self, SEQUENCE, NULL, NULL);
}

/* The first packet: declares the clock. */
static void write_head(struct perfetto *self)
{
	Perfetto__ClockSnapshot clocks = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock clock = PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT;
	Perfetto__ClockSnapshot__Clock *list[] = {&clock};
	Perfetto__PerfSampleDefaults sampling = PERFETTO__PERF_SAMPLE_DEFAULTS__INIT;
	Perfetto__Timebase time = PERFETTO__TIMEBASE__INIT;
	const GPtrArray *processes = self->export->context->model->processes;

	for (guint i = 0; i < processes->len && !time.period; i++)
		time.period = ((const struct pp_process *)processes->pdata[i])->sample_period_ns;
	clock.has_clock_id = clock.has_timestamp = 1;
	clock.clock_id = CLOCK_ID_MONOTONIC;
	clock.timestamp = (uint64_t)self->export->context->model->start_ns;
	clocks.n_clocks = 1;
	clocks.clocks = list;
	clocks.has_primary_trace_clock = 1;
	clocks.primary_trace_clock = CLOCK_ID_MONOTONIC;
	time.name = (char *)"CPU time (ns)";
	time.has_period = time.period != 0;
	sampling.timebase = &time;
	write_reset(self, SEQUENCE, &clocks, NULL);
	write_reset(self, SAMPLES_SEQUENCE, NULL, &sampling);
}

/* --- tracks --------------------------------------------------------------------------------- */

static uint64_t track_of(struct perfetto *self, struct pp_track_key key);

/* NULL: viewers derive a name from pid and tid. */
static char *track_name(struct perfetto *self, const struct pp_track_key *key)
{
	switch (key->kind) {
	case PP_TRACK_LOCKS:
		return g_strdup("locks");
	case PP_TRACK_STATES:
		return g_strdup("state");
	case PP_TRACK_LOCK:
		return pp_printable(
		    g_strdup(pp_slices_object(self->slices, (struct pp_object *)key->of)));
	default:
		return NULL;
	}
}

static void write_track(struct perfetto *self, const struct pp_track *track)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;
	struct pp_track_key parent;
	g_autofree char *name = track_name(self, &track->key);
	g_autofree char *thread_name = NULL;

	descriptor.has_uuid = 1;
	descriptor.uuid = track->number;
	descriptor.has_parent_uuid = pp_track_parent(&track->key, &parent);
	if (descriptor.has_parent_uuid)
		descriptor.parent_uuid = track_of(self, parent);
	descriptor.name = name;
	if (track->key.kind == PP_TRACK_PROCESS) {
		const struct pp_process *of = track->key.of;

		thread_name = pp_track_process_name(of);
		process.has_pid = 1;
		process.pid = (int32_t)of->pid;
		process.process_name = thread_name;
		descriptor.process = &process;
	} else if (track->key.kind == PP_TRACK_OPERATIONS) {
		const struct pp_thread *of = track->key.of;

		thread_name =
		    pp_thread_name(of) ? pp_printable(g_strdup(pp_thread_name(of))) : NULL;
		thread.has_pid = thread.has_tid = 1;
		thread.pid = (int32_t)of->process->pid;
		thread.tid = of->tid;
		thread.thread_name = thread_name;
		descriptor.thread = &thread;
	}
	packet.track_descriptor = &descriptor;
	packet.has_trusted_packet_sequence_id = 1;
	packet.trusted_packet_sequence_id = SEQUENCE;
	write_packet(self, &packet);
}

static uint64_t track_of(struct perfetto *self, struct pp_track_key key)
{
	bool is_new;
	const struct pp_track *track = pp_tracks_get(&self->tracks, key, &is_new);

	if (is_new)
		write_track(self, track);
	return track->number;
}

/* --- slices --------------------------------------------------------------------------------- */

static void add_notes(struct perfetto *self, struct packet *packet, const struct pp_slice *slice)
{
	for (unsigned i = 0; i < slice->n_notes; i++) {
		const struct pp_slice_note *note = &slice->notes[i];
		Perfetto__DebugAnnotation *annotation = &packet->notes[i];

		perfetto__debug_annotation__init(annotation);
		packet->note_list[i] = annotation;
		annotation->has_name_iid = 1;
		annotation->name_iid = intern(self->keys, note->key, packet, packet->keys,
					      &packet->data.n_debug_annotation_names);
		if (note->text) {
			g_autofree char *text = pp_printable(g_strdup(note->text));

			annotation->has_string_value_iid = 1;
			annotation->string_value_iid =
			    intern(self->values, text, packet, packet->values,
				   &packet->data.n_debug_annotation_string_values);
		} else {
			annotation->has_int_value = 1;
			annotation->int_value = note->number;
		}
	}
	packet->event.n_debug_annotations = slice->n_notes;
	packet->event.debug_annotations = packet->note_list;
}

static void write_event(struct perfetto *self, struct packet *packet, uint64_t track,
			Perfetto__TrackEvent__Type type, int64_t time_ns)
{
	packet->event.has_track_uuid = packet->event.has_type = 1;
	packet->event.track_uuid = track;
	packet->event.type = type;
	packet->packet.track_event = &packet->event;
	packet->packet.has_timestamp = 1;
	packet->packet.timestamp = (uint64_t)time_ns;
	write_packet(self, &packet->packet);
}

/* Writes an instant, or the begin of a slice. */
static void write_begin(struct perfetto *self, struct packet *packet, uint64_t track,
			Perfetto__TrackEvent__Type type, const char *name, int64_t time_ns)
{
	g_autofree char *printable = pp_printable(g_strdup(name));

	packet->event.has_name_iid = 1;
	packet->event.name_iid =
	    intern(self->events, printable, packet, packet->events, &packet->data.n_event_names);
	write_event(self, packet, track, type, time_ns);
}

static void write_end(struct perfetto *self, uint64_t track, int64_t time_ns)
{
	struct packet packet;

	packet_init(&packet);
	write_event(self, &packet, track, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END, time_ns);
}

static void write_woken(struct perfetto *self, uint64_t track, const struct pp_slice *wait)
{
	struct packet packet;

	packet_init(&packet);
	packet.flow = wait->flow;
	packet.event.n_terminating_flow_ids = 1;
	packet.event.terminating_flow_ids = &packet.flow;
	write_begin(self, &packet, track, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN,
		    PP_SLICES_WOKEN, wait->woken_ns);
	write_end(self, track, wait->end_ns);
}

static void take_slice(void *data, const struct pp_slice *slice)
{
	struct perfetto *self = data;
	uint64_t track = track_of(self, pp_track_of_slice(slice));
	bool is_instant = slice->kind == PP_SLICE_RELEASE;
	struct packet packet;

	if (g_hash_table_size(self->events) + g_hash_table_size(self->values) > TEXTS_MAX)
		forget_texts(self);
	packet_init(&packet);
	add_notes(self, &packet, slice);
	if (is_instant) {
		packet.flow = slice->flow;
		packet.event.n_flow_ids = slice->flow != 0;
		packet.event.flow_ids = &packet.flow;
	}
	write_begin(self, &packet, track,
		    is_instant ? PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT
			       : PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN,
		    slice->name, slice->start_ns);
	self->n_slices++;
	if (is_instant)
		return;
	if (slice->flow)
		write_woken(self, track, slice);
	write_end(self, track, slice->end_ns);
}

/* --- samples -------------------------------------------------------------------------------- */

static void write_sample(void *data, Perfetto__TracePacket *packet)
{
	packet->has_trusted_packet_sequence_id = packet->has_sequence_flags = 1;
	packet->trusted_packet_sequence_id = SAMPLES_SEQUENCE;
	packet->sequence_flags = INTERNING_IS_USED;
	write_packet(data, packet);
}

/* --- the exporter --------------------------------------------------------------------------- */

static void forget_object(void *data, const struct pp_object *object)
{
	pp_tracks_forget(&((struct perfetto *)data)->tracks, object);
}

static GHashTable *names_new(void)
{
	return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static void *perfetto_start(const struct pp_export *export)
{
	struct perfetto *self = g_new0(struct perfetto, 1);

	self->export = export;
	self->slices = pp_slices_new(export, take_slice, forget_object, self);
	self->samples = pp_trace_samples_new(export, write_sample, self);
	pp_tracks_init(&self->tracks);
	self->events = names_new();
	self->keys = names_new();
	self->values = names_new();
	write_head(self);
	return self;
}

static void perfetto_event(void *state, const struct pp_event *event)
{
	struct perfetto *self = state;

	if (event->kind == PP_EVENT_SAMPLE)
		self->n_slices += pp_trace_samples_event(self->samples, event);
	else
		pp_slices_event(self->slices, event);
}

static int perfetto_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	struct perfetto *self = state;

	pp_slices_finish(self->slices, end_ns);
	if (!self->n_slices)
		return pp_slices_nothing(self->export, err);
	pp_slices_note_kernel(self->export);
	return 0;
}

static void perfetto_free(void *state)
{
	struct perfetto *self = state;

	pp_tracks_done(&self->tracks);
	g_hash_table_unref(self->events);
	g_hash_table_unref(self->keys);
	g_hash_table_unref(self->values);
	pp_slices_free(self->slices);
	pp_trace_samples_free(self->samples);
	g_free(self);
}

const struct pp_exporter pp_exporter_perfetto = {
    .format = "perfetto",
    .summary = "threads, locks, wake-ups, samples, for Perfetto's viewer",
    .file_name = "gprof-mt.pftrace",
    .kinds = PP_SLICES_KINDS | PP_EVENT_MASK(PP_EVENT_SAMPLE),
    .selects = PP_SLICES_SELECTS,
    .start = perfetto_start,
    .event = perfetto_event,
    .finish = perfetto_finish,
    .free = perfetto_free,
};
