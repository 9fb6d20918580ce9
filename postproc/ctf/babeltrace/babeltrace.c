/* SPDX-License-Identifier: MIT */
/*
 * Builds the graph, adds the sink's input ports to the sweep, and turns failures of src.ctf.fs into
 * damage of the capture.
 */
#include "ctf/babeltrace/babeltrace.h"

#include <errno.h>
#include <string.h>

#include "capture/traces.h"
#include "core/progress.h"
#include "ctf/ahead.h"
#include "ctf/babeltrace/error.h"
#include "ctf/babeltrace/stream.h"
#include "ctf/babeltrace/salvage.h"

/* Events for one call of the sink's consume method. */
#define BATCH 65536

/* An input port of the sink: a stream and its queued messages. */
struct bt_feed {
	struct pp_feed feed;
	struct reading *reading;
	struct pp_bt_stream *bt;
	bt_message_iterator *iterator;
	bt_message_array_const messages;
	uint64_t n_messages, at; /* messages[at] is the current event */
	char *cause;		 /* the error that follows these messages; NULL: none known */
};

struct reading {
	struct pp_sweep *sweep;
	struct pp_capture *capture;
	const GPtrArray *traces;
	bt_graph *graph;
	const bt_component_class_source *ctf_fs;
	GPtrArray *salvages; /* of struct pp_salvage * */
	GPtrArray *feeds;    /* of struct bt_feed * */
	unsigned n_before;
	uint64_t size_bytes, read_bytes; /* of all traces */
};

/* --- messages --------------------------------------------------------------------------------- */

static void drop_messages(struct bt_feed *feed)
{
	for (; feed->at < feed->n_messages; feed->at++)
		bt_message_put_ref(feed->messages[feed->at]);
}

static bool fetch(struct bt_feed *feed)
{
	struct pp_stream *stream = &feed->bt->stream;
	g_autofree char *cause = NULL;
	bt_message_iterator_next_status status;

	feed->at = feed->n_messages = 0;
	do {
		status =
		    bt_message_iterator_next(feed->iterator, &feed->messages, &feed->n_messages);
	} while (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN);
	/* src.ctf.fs 2.0 sets an error together with the last good messages, or with the end. */
	cause = pp_bt_cause_take();
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
		if (cause) {
			g_free(feed->cause);
			feed->cause = g_steal_pointer(&cause);
		}
		return true;
	}
	feed->n_messages = 0;
	if (!cause)
		cause = g_steal_pointer(&feed->cause);
	/* A stream already reported as cut short may end within an event. */
	if ((cause || status != BT_MESSAGE_ITERATOR_NEXT_STATUS_END) &&
	    !pp_capture_is_damaged(feed->reading->capture, stream->name))
		pp_capture_add_damage(feed->reading->capture, stream->name,
				      "cannot be read beyond its event %" G_GUINT64_FORMAT
				      "; the report covers only the events before (%s)",
				      stream->n_events, cause ? cause : "unknown cause");
	pp_stream_end(stream);
	return false;
}

/* Babeltrace does not tell how far it has read: as if events were equally dense at all times. */
static void add_progress(struct reading *reading, int64_t time_ns)
{
	const struct pp_model *model = reading->capture->model;
	int64_t from_ns = pp_model_origin(model), to_ns = model->end_ns;
	double share = time_ns > from_ns && to_ns > from_ns
			   ? (double)(time_ns - from_ns) / (double)(to_ns - from_ns)
			   : 0;
	uint64_t read_bytes = (uint64_t)((double)reading->size_bytes * MIN(share, 1));

	if (read_bytes <= reading->read_bytes)
		return;
	pp_progress_add(read_bytes - reading->read_bytes);
	reading->read_bytes = read_bytes;
}

static bool advance(struct pp_feed *base)
{
	struct bt_feed *feed = (struct bt_feed *)base;

	if (pp_stream_look_again(&feed->bt->stream, &base->time_ns))
		return true;
	for (;;) {
		if (feed->at == feed->n_messages) {
			add_progress(feed->reading, base->time_ns);
			if (!fetch(feed))
				return false;
		}
		if (pp_bt_stream_look(feed->bt, feed->messages[feed->at], &base->time_ns))
			return true;
		bt_message_put_ref(feed->messages[feed->at++]);
	}
}

static void emit(struct pp_feed *base)
{
	struct bt_feed *feed = (struct bt_feed *)base;
	const bt_message *message = feed->messages[feed->at];

	pp_bt_stream_emit(feed->bt, message, base->time_ns);
	if (feed->bt->stream.io_begins)
		return; /* the same message is the end of the call */
	feed->at++;
	bt_message_put_ref(message);
}

/* --- the sink ------------------------------------------------------------------------------- */

static bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct reading *reading =
	    bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	return pp_sweep_run(reading->sweep, BATCH)
		   ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK
		   : BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
}

static bt_component_class_initialize_method_status
sink_init(bt_self_component_sink *self, bt_self_component_sink_configuration *configuration,
	  const bt_value *params, void *data)
{
	struct reading *reading = data;

	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), reading);
	for (guint i = 0; i < reading->feeds->len; i++) {
		g_autofree char *name = g_strdup_printf("in%u", i);

		if (bt_self_component_sink_add_input_port(self, name, reading->feeds->pdata[i],
							  NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
sink_configured(bt_self_component_sink *self)
{
	struct reading *reading =
	    bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	for (guint i = 0; i < reading->feeds->len; i++) {
		struct bt_feed *feed = reading->feeds->pdata[i];
		bt_self_component_port_input *port =
		    bt_self_component_sink_borrow_input_port_by_index(self, i);

		if (bt_message_iterator_create_from_sink_component(self, port, &feed->iterator) !=
		    BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK) {
			g_autofree char *cause = pp_bt_cause_take();

			feed->iterator = NULL;
			pp_capture_add_damage(reading->capture, feed->bt->stream.name,
					      "left out (%s)", cause ? cause : "unknown cause");
			continue;
		}
		pp_sweep_add(reading->sweep, &feed->feed);
	}
	pp_sweep_start(reading->sweep);
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

/* Messages and iterators must be released before the graph. */
static void sink_finalize(bt_self_component_sink *self)
{
	struct reading *reading =
	    bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	for (guint i = 0; i < reading->feeds->len; i++) {
		struct bt_feed *feed = reading->feeds->pdata[i];

		drop_messages(feed);
		BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(feed->iterator);
	}
}

static int add_sink(struct reading *reading, const bt_component_sink **ret_sink)
{
	bt_component_class_sink *class = bt_component_class_sink_create("merge", sink_consume);
	int ret;

	if (!class)
		return -ENOMEM;
	bt_component_class_sink_set_initialize_method(class, sink_init);
	bt_component_class_sink_set_graph_is_configured_method(class, sink_configured);
	bt_component_class_sink_set_finalize_method(class, sink_finalize);
	ret = bt_graph_add_sink_component_with_initialize_method_data(
	    reading->graph, class, "merge", NULL, reading, BT_LOGGING_LEVEL_NONE, ret_sink);
	bt_component_class_sink_put_ref(class);
	return ret == BT_GRAPH_ADD_COMPONENT_STATUS_OK ? 0 : -EIO;
}

/* --- the sources ---------------------------------------------------------------------------- */

/* Returns NULL if src.ctf.fs rejects the directory; its error has the cause. */
static const bt_component_source *add_source(const struct reading *reading, const char *dir,
					     const char *name)
{
	const bt_component_source *source = NULL;
	bt_value *params = bt_value_map_create();
	bt_value *inputs = NULL;

	if (params &&
	    bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) ==
		BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK &&
	    bt_value_array_append_string_element(inputs, dir) ==
		BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK)
		bt_graph_add_source_component(reading->graph, reading->ctf_fs, name, params,
					      BT_LOGGING_LEVEL_NONE, &source);
	bt_value_put_ref(params);
	return source;
}

/* The port is called "trace | stream class | path". */
static const char *stream_path(const char *port_name)
{
	const char *bar = strrchr(port_name, '|');

	return bar && bar[1] == ' ' ? bar + 2 : port_name;
}

static void add_feeds(struct reading *reading, const bt_component_source *source,
		      const struct pp_trace *trace)
{
	uint64_t n = bt_component_source_get_output_port_count(source);

	for (uint64_t i = 0; i < n; i++) {
		const bt_port *port = bt_port_output_as_port_const(
		    bt_component_source_borrow_output_port_by_index_const(source, i));
		struct bt_feed *feed = g_new0(struct bt_feed, 1);
		g_autofree char *file = g_path_get_basename(stream_path(bt_port_get_name(port)));
		g_autofree char *name = g_build_filename(trace->dir, file, NULL);

		feed->feed.advance = advance;
		feed->feed.emit = emit;
		feed->reading = reading;
		feed->bt = pp_bt_stream_new(&reading->sweep->decoder, trace, name);
		feed->feed.order = reading->n_before + reading->feeds->len;
		g_ptr_array_add(reading->feeds, feed);
	}
}

/*
 * Returns the reason why src.ctf.fs rejects the directory, tried in a temporary graph; NULL: it
 * accepts.
 */
static char *find_refusal(const struct reading *reading, const char *dir)
{
	struct reading trial = {.ctf_fs = reading->ctf_fs, .graph = bt_graph_create(0)};
	char *refusal = NULL;

	if (!trial.graph || !add_source(&trial, dir, "trial")) {
		refusal = pp_bt_cause_take();
		if (!refusal)
			refusal = g_strdup("unknown cause");
	}
	bt_graph_put_ref(trial.graph);
	return refusal;
}

static bool is_readable(void *data, const char *dir)
{
	g_autofree char *refusal = find_refusal(data, dir);

	return !refusal;
}

/*
 * Returns a directory from which the trace can be read: its own, or a temporary one with its
 * readable parts, since src.ctf.fs rejects all streams for a bad one.  NULL: none.
 */
static const char *find_readable(struct reading *reading, const struct pp_trace *trace)
{
	struct pp_capture *capture = reading->capture;
	g_autofree char *refusal = NULL;
	struct pp_salvage *salvage;

	if (pp_salvage_is_needless(trace->dir)) {
		refusal = find_refusal(reading, trace->dir);
		if (!refusal)
			return trace->dir;
	}
	if (pp_salvage_new(capture, trace->dir, &salvage) == 0) {
		const char *dir = pp_salvage_dir(salvage);

		g_ptr_array_add(reading->salvages, salvage);
		if (is_readable(reading, dir)) {
			pp_salvage_take_streams(salvage);
			if (is_readable(reading, dir))
				return dir;
			pp_salvage_sift(salvage, is_readable, reading);
			if (is_readable(reading, dir))
				return dir;
		} else {
			g_free(refusal);
			refusal = g_strdup("its metadata is damaged");
		}
	}
	pp_capture_add_damage(capture, trace->dir, "left out: %s",
			      refusal ? refusal : "none of its streams can be read");
	return NULL;
}

static int connect_all(struct reading *reading, GPtrArray *sources, const bt_component_sink *sink)
{
	uint64_t input = 0;

	for (guint s = 0; s < sources->len; s++) {
		const bt_component_source *source = sources->pdata[s];
		uint64_t n = bt_component_source_get_output_port_count(source);

		for (uint64_t i = 0; i < n; i++, input++)
			if (bt_graph_connect_ports(
				reading->graph,
				bt_component_source_borrow_output_port_by_index_const(source, i),
				bt_component_sink_borrow_input_port_by_index_const(sink, input),
				NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
				return -EIO;
	}
	return 0;
}

/*
 * Adds a source for each directory (NULL: none) and feeds for its streams.  After a failure the
 * graph is unusable.
 */
static int add_sources(struct reading *reading, const char *const *dirs, GPtrArray *sources)
{
	const GPtrArray *traces = reading->traces;

	reading->graph = bt_graph_create(0);
	if (!reading->graph)
		return -ENOMEM;
	for (guint i = 0; i < traces->len; i++) {
		const bt_component_source *source;

		if (!dirs[i])
			continue;
		source = add_source(reading, dirs[i], dirs[i]);
		if (!source)
			return -EIO;
		add_feeds(reading, source, traces->pdata[i]);
		g_ptr_array_add(sources, (void *)source);
	}
	return 0;
}

/* Discards a partly built graph. */
static void reset_graph(struct reading *reading, GPtrArray *sources)
{
	bt_current_thread_clear_error();
	BT_GRAPH_PUT_REF_AND_RESET(reading->graph);
	g_ptr_array_set_size(sources, 0);
	g_ptr_array_set_size(reading->feeds, 0);
}

/* Assumes first that traces which look whole can be read; if building fails, tests each alone. */
static int build_graph(struct reading *reading)
{
	const GPtrArray *traces = reading->traces;
	g_autofree const char **dirs = g_new0(const char *, traces->len + 1);
	g_autoptr(GPtrArray) sources = g_ptr_array_new();
	const bt_component_sink *sink;
	int ret;

	for (guint i = 0; i < traces->len; i++) {
		const struct pp_trace *trace = traces->pdata[i];

		dirs[i] =
		    pp_salvage_is_needless(trace->dir) ? trace->dir : find_readable(reading, trace);
	}
	ret = add_sources(reading, dirs, sources);
	if (ret == -EIO) {
		reset_graph(reading, sources);
		for (guint i = 0; i < traces->len; i++) {
			const struct pp_trace *trace = traces->pdata[i];

			if (dirs[i] == trace->dir)
				dirs[i] = find_readable(reading, trace);
		}
		ret = add_sources(reading, dirs, sources);
	}
	if (ret < 0 || !reading->feeds->len)
		return ret;
	ret = add_sink(reading, &sink);
	return ret < 0 ? ret : connect_all(reading, sources, sink);
}

static int run_graph(struct reading *reading)
{
	bt_graph_run_once_status status;

	do {
		status = bt_graph_run_once(reading->graph);
	} while (status == BT_GRAPH_RUN_ONCE_STATUS_OK || status == BT_GRAPH_RUN_ONCE_STATUS_AGAIN);
	return status == BT_GRAPH_RUN_ONCE_STATUS_END ? 0 : -EIO;
}

static void feed_free(void *data)
{
	struct bt_feed *feed = data;

	pp_bt_stream_free(feed->bt);
	g_free(feed->cause);
	g_free(feed);
}

/* The plugin stays loaded until the program ends. */
static int find_ctf_fs(const bt_component_class_source **ret_class, struct pp_error *err)
{
	static const bt_plugin *plugin;

	if (!plugin && bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_TRUE,
				      &plugin) != BT_PLUGIN_FIND_STATUS_OK) {
		plugin = NULL;
		pp_bt_error_take(err);
		return pp_error_add(err, -ENOENT,
				    "Babeltrace has no plugin \"ctf\": "
				    "install Debian's libbabeltrace2-0");
	}
	*ret_class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	return *ret_class
		   ? 0
		   : pp_error_add(err, -ENOENT,
				  "Babeltrace's plugin \"ctf\" has no component class \"fs\": "
				  "install Debian's libbabeltrace2-0");
}

static int read_all(struct pp_sweep *sweep, const GPtrArray *traces, unsigned n_before,
		    struct pp_error *err)
{
	struct reading reading = {
	    .sweep = sweep,
	    .capture = sweep->decoder.capture,
	    .traces = traces,
	    .n_before = n_before,
	};
	int ret;

	for (guint i = 0; i < traces->len; i++)
		reading.size_bytes += pp_trace_bytes(traces->pdata[i]);
	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
	ret = find_ctf_fs(&reading.ctf_fs, err);
	if (ret < 0)
		return ret;
	reading.salvages = g_ptr_array_new_with_free_func((GDestroyNotify)pp_salvage_free);
	reading.feeds = g_ptr_array_new_with_free_func(feed_free);
	ret = build_graph(&reading);
	if (ret == 0 && reading.feeds->len) {
		ret = run_graph(&reading);
	} else if (ret == 0) {
		pp_sweep_start(sweep);
		pp_sweep_run(sweep, UINT64_MAX);
	}
	if (ret < 0)
		pp_bt_error_take(err);
	bt_graph_put_ref(reading.graph);
	g_ptr_array_unref(reading.feeds);
	g_ptr_array_unref(reading.salvages);
	return ret;
}

int pp_babeltrace_run(struct pp_sweep *sweep, const GPtrArray *traces, unsigned n_before,
		      struct pp_error *err)
{
	static GMutex
	    lock; /* graphs share the plugin, and Babeltrace's reference counts are not atomic */
	int ret;

	g_mutex_lock(&lock);
	ret = read_all(sweep, traces, n_before, err);
	g_mutex_unlock(&lock);
	return ret;
}
