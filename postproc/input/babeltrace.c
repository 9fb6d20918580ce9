/* SPDX-License-Identifier: MIT */
/*
 * One graph: a src.ctf.fs for each trace directory, and a sink of ours with an input port for each
 * stream.  The sink merges the streams by time with a heap: filter.utils.muxer looks at every
 * stream for every message, which with a thousand threads costs more than all the rest.
 *
 * Histories of calls are read without Babeltrace, and join at the heap.
 *
 * A trace that src.ctf.fs refuses is left out, and a stream in which it fails ends there; both are
 * damage of the capture.  Babeltrace's own log stays off: its errors come as causes.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "input/bt_error.h"
#include "input/calls_history.h"
#include "input/decode.h"
#include "input/salvage.h"

/* Events for one call of the sink's consume method. */
#define BATCH 65536

#define KERNEL_KINDS                                                                               \
	(PP_EVENT_MASK(PP_EVENT_SWITCH) | PP_EVENT_MASK(PP_EVENT_WAKING) |                         \
	 PP_EVENT_MASK(PP_EVENT_FORK) | PP_EVENT_MASK(PP_EVENT_EXIT) |                             \
	 PP_EVENT_MASK(PP_EVENT_EXEC) | PP_EVENT_MASK(PP_EVENT_SYSCALL_ENTRY) |                    \
	 PP_EVENT_MASK(PP_EVENT_SYSCALL_EXIT) | PP_EVENT_MASK(PP_EVENT_FAULT) |                    \
	 PP_EVENT_MASK(PP_EVENT_SIGNAL) | PP_EVENT_MASK(PP_EVENT_BLOCK) |                          \
	 PP_EVENT_MASK(PP_EVENT_TIMER))

#define CALL_KINDS (PP_EVENT_MASK(PP_EVENT_CALL) | PP_EVENT_MASK(PP_EVENT_RETURN))

/* An input port of the sink: a stream, and the messages of it that wait; or a history of calls. */
struct feed {
	struct pp_calls_stream *calls; /* NULL: of Babeltrace's */
	struct pp_event call;	       /* at time_ns */
	struct pp_stream *stream;
	bt_message_iterator *iterator;
	bt_message_array_const messages;
	uint64_t n_messages, at; /* messages[at] is the event at time_ns */
	int64_t time_ns;
	char *cause;	/* why it will fail behind these messages; NULL: not known to */
	unsigned order; /* of creation: decides between equal times */
};

struct sweep {
	struct pp_decoder decoder;
	bt_graph *graph;
	const bt_component_class_source *ctf_fs;
	GPtrArray *salvages;   /* of struct pp_salvage * */
	GPtrArray *feeds;      /* of struct feed *, all of Babeltrace's */
	GPtrArray *histories;  /* of struct pp_calls_stream * */
	GPtrArray *call_feeds; /* of struct feed *, one for each of them */
	struct feed **heap;    /* those with an event, least time first */
	unsigned n_heap;
	struct pp_error *err;
};

/* --- merging -------------------------------------------------------------------------------- */

static bool is_before(const struct feed *a, const struct feed *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static void sift_down(struct sweep *sweep, unsigned at)
{
	struct feed *feed = sweep->heap[at];

	for (;;) {
		unsigned child = 2 * at + 1;

		if (child >= sweep->n_heap)
			break;
		if (child + 1 < sweep->n_heap &&
		    is_before(sweep->heap[child + 1], sweep->heap[child]))
			child++;
		if (is_before(feed, sweep->heap[child]))
			break;
		sweep->heap[at] = sweep->heap[child];
		at = child;
	}
	sweep->heap[at] = feed;
}

static void drop_messages(struct feed *feed)
{
	for (; feed->at < feed->n_messages; feed->at++)
		bt_message_put_ref(feed->messages[feed->at]);
}

static bool fetch(struct sweep *sweep, struct feed *feed)
{
	g_autofree char *cause = NULL;
	bt_message_iterator_next_status status;

	feed->at = feed->n_messages = 0;
	do {
		status =
		    bt_message_iterator_next(feed->iterator, &feed->messages, &feed->n_messages);
	} while (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN);
	/* src.ctf.fs 2.0 leaves an error behind with the last good messages, or with the end. */
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
	/* A stream that was cut short, and has been said to be, may end in the midst of an event.
	 */
	if ((cause || status != BT_MESSAGE_ITERATOR_NEXT_STATUS_END) &&
	    !pp_capture_is_damaged(sweep->decoder.capture, feed->stream->name))
		pp_capture_add_damage(sweep->decoder.capture, feed->stream->name,
				      "cannot be read beyond its event %" G_GUINT64_FORMAT
				      "; the report covers what is before it (%s)",
				      feed->stream->n_events, cause ? cause : "unknown cause");
	pp_stream_end(feed->stream);
	return false;
}

/* Goes on to the stream's next event; false: it has no more. */
static bool advance(struct sweep *sweep, struct feed *feed)
{
	if (feed->calls) {
		if (!pp_calls_stream_next(feed->calls, &feed->call))
			return false;
		feed->time_ns = feed->call.time_ns;
		return true;
	}
	for (;;) {
		if (feed->at == feed->n_messages && !fetch(sweep, feed))
			return false;
		if (pp_stream_look(feed->stream, feed->messages[feed->at], &feed->time_ns))
			return true;
		bt_message_put_ref(feed->messages[feed->at++]);
	}
}

static void emit(struct sweep *sweep, struct feed *feed)
{
	const bt_message *message;

	if (feed->calls) {
		pp_decoder_emit(&sweep->decoder, &feed->call);
		return;
	}
	message = feed->messages[feed->at++];
	pp_stream_emit(feed->stream, message, feed->time_ns);
	bt_message_put_ref(message);
}

/* Hands over up to n_max events, least time first. */
static void merge(struct sweep *sweep, uint64_t n_max)
{
	for (uint64_t i = 0; i < n_max && sweep->n_heap; i++) {
		struct feed *feed = sweep->heap[0];

		emit(sweep, feed);
		if (!advance(sweep, feed))
			sweep->heap[0] = sweep->heap[--sweep->n_heap];
		if (sweep->n_heap)
			sift_down(sweep, 0);
	}
}

/* Histories join in; `sweep->heap` holds what is there already. */
static void start_heap(struct sweep *sweep)
{
	for (guint i = 0; i < sweep->call_feeds->len; i++)
		if (advance(sweep, sweep->call_feeds->pdata[i]))
			sweep->heap[sweep->n_heap++] = sweep->call_feeds->pdata[i];
	for (unsigned i = sweep->n_heap / 2; i-- > 0;)
		sift_down(sweep, i);
}

static bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct sweep *sweep =
	    bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	merge(sweep, BATCH);
	return sweep->n_heap ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK
			     : BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
}

/* --- the sink ------------------------------------------------------------------------------- */

static bt_component_class_initialize_method_status
sink_init(bt_self_component_sink *self, bt_self_component_sink_configuration *configuration,
	  const bt_value *params, void *data)
{
	struct sweep *sweep = data;

	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), sweep);
	for (guint i = 0; i < sweep->feeds->len; i++) {
		g_autofree char *name = g_strdup_printf("in%u", i);

		if (bt_self_component_sink_add_input_port(self, name, sweep->feeds->pdata[i],
							  NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
sink_configured(bt_self_component_sink *self)
{
	struct sweep *sweep =
	    bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	for (guint i = 0; i < sweep->feeds->len; i++) {
		struct feed *feed = sweep->feeds->pdata[i];
		bt_self_component_port_input *port =
		    bt_self_component_sink_borrow_input_port_by_index(self, i);

		if (bt_message_iterator_create_from_sink_component(self, port, &feed->iterator) !=
		    BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK) {
			g_autofree char *cause = pp_bt_cause_take();

			feed->iterator = NULL;
			pp_capture_add_damage(sweep->decoder.capture, feed->stream->name,
					      "left out (%s)", cause ? cause : "unknown cause");
			continue;
		}
		if (advance(sweep, feed))
			sweep->heap[sweep->n_heap++] = feed;
	}
	start_heap(sweep);
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

/* Messages and iterators have to go before the graph does. */
static void sink_finalize(bt_self_component_sink *self)
{
	struct sweep *sweep =
	    bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	for (guint i = 0; i < sweep->feeds->len; i++) {
		struct feed *feed = sweep->feeds->pdata[i];

		drop_messages(feed);
		BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(feed->iterator);
	}
}

static int add_sink(struct sweep *sweep, const bt_component_sink **ret_sink)
{
	bt_component_class_sink *class = bt_component_class_sink_create("merge", sink_consume);
	int ret;

	if (!class)
		return -ENOMEM;
	bt_component_class_sink_set_initialize_method(class, sink_init);
	bt_component_class_sink_set_graph_is_configured_method(class, sink_configured);
	bt_component_class_sink_set_finalize_method(class, sink_finalize);
	ret = bt_graph_add_sink_component_with_initialize_method_data(
	    sweep->graph, class, "merge", NULL, sweep, BT_LOGGING_LEVEL_NONE, ret_sink);
	bt_component_class_sink_put_ref(class);
	return ret == BT_GRAPH_ADD_COMPONENT_STATUS_OK ? 0 : -EIO;
}

/* --- the sources ---------------------------------------------------------------------------- */

/* Every process's streams may need a file each, at once. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* NULL: src.ctf.fs refuses the directory, and has said why. */
static const bt_component_source *add_source(const struct sweep *sweep, const char *dir,
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
		bt_graph_add_source_component(sweep->graph, sweep->ctf_fs, name, params,
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

static void add_feeds(struct sweep *sweep, const bt_component_source *source,
		      const struct pp_trace *trace)
{
	uint64_t n = bt_component_source_get_output_port_count(source);

	for (uint64_t i = 0; i < n; i++) {
		const bt_port *port = bt_port_output_as_port_const(
		    bt_component_source_borrow_output_port_by_index_const(source, i));
		struct feed *feed = g_new0(struct feed, 1);
		g_autofree char *file = g_path_get_basename(stream_path(bt_port_get_name(port)));
		g_autofree char *name = g_build_filename(trace->dir, file, NULL);

		feed->stream = pp_stream_new(&sweep->decoder, trace, name);
		feed->order = sweep->histories->len + sweep->feeds->len;
		g_ptr_array_add(sweep->feeds, feed);
	}
}

static bool is_wanted(const struct pp_trace *trace, unsigned kinds)
{
	unsigned held = PP_EVENT_MASK(PP_EVENT_LOST);

	if (trace->process || trace->is_ust)
		held |= PP_EVENT_MASK(PP_EVENT_SYNC);
	else
		held |= KERNEL_KINDS;
	return held & kinds;
}

/* Why src.ctf.fs refuses the directory, tried in a graph that is thrown away; NULL: it does not. */
static char *find_refusal(const struct sweep *sweep, const char *dir)
{
	struct sweep trial = {.ctf_fs = sweep->ctf_fs, .graph = bt_graph_create(0)};
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
 * Where the trace can be read: in its own directory; or, since one bad stream makes src.ctf.fs
 * refuse them all, in one with what is good of it; or nowhere (NULL).
 */
static const char *find_readable(struct sweep *sweep, const struct pp_trace *trace)
{
	struct pp_capture *capture = sweep->decoder.capture;
	g_autofree char *refusal = NULL;
	struct pp_salvage *salvage;

	if (pp_salvage_is_needless(trace->dir)) {
		refusal = find_refusal(sweep, trace->dir);
		if (!refusal)
			return trace->dir;
	}
	if (pp_salvage_new(capture, trace->dir, &salvage) == 0) {
		const char *dir = pp_salvage_dir(salvage);

		g_ptr_array_add(sweep->salvages, salvage);
		if (is_readable(sweep, dir)) {
			pp_salvage_take_streams(salvage);
			if (is_readable(sweep, dir))
				return dir;
			pp_salvage_sift(salvage, is_readable, sweep);
			if (is_readable(sweep, dir))
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

static int connect_all(struct sweep *sweep, GPtrArray *sources, const bt_component_sink *sink)
{
	uint64_t input = 0;

	for (guint s = 0; s < sources->len; s++) {
		const bt_component_source *source = sources->pdata[s];
		uint64_t n = bt_component_source_get_output_port_count(source);

		for (uint64_t i = 0; i < n; i++, input++)
			if (bt_graph_connect_ports(
				sweep->graph,
				bt_component_source_borrow_output_port_by_index_const(source, i),
				bt_component_sink_borrow_input_port_by_index_const(sink, input),
				NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
				return -EIO;
	}
	return 0;
}

/*
 * A source for each of the directories (NULL: none), with feeds for its streams.  A graph in which
 * one failed is of no more use.
 */
static int add_sources(struct sweep *sweep, const char *const *dirs, GPtrArray *sources)
{
	const GPtrArray *traces = sweep->decoder.capture->traces;

	sweep->graph = bt_graph_create(0);
	if (!sweep->graph)
		return -ENOMEM;
	for (guint i = 0; i < traces->len; i++) {
		const bt_component_source *source;

		if (!dirs[i])
			continue;
		source = add_source(sweep, dirs[i], dirs[i]);
		if (!source)
			return -EIO;
		add_feeds(sweep, source, traces->pdata[i]);
		g_ptr_array_add(sources, (void *)source);
	}
	return 0;
}

/* Gives up what was built. */
static void reset_graph(struct sweep *sweep, GPtrArray *sources)
{
	bt_current_thread_clear_error();
	BT_GRAPH_PUT_REF_AND_RESET(sweep->graph);
	g_ptr_array_set_size(sources, 0);
	g_ptr_array_set_size(sweep->feeds, 0);
}

/* Takes traces that look whole to be good; only if they are not, tries each alone. */
static int build_graph(struct sweep *sweep)
{
	const GPtrArray *traces = sweep->decoder.capture->traces;
	g_autofree const char **dirs = g_new0(const char *, traces->len + 1);
	g_autoptr(GPtrArray) sources = g_ptr_array_new();
	const bt_component_sink *sink;
	int ret;

	for (guint i = 0; i < traces->len; i++) {
		const struct pp_trace *trace = traces->pdata[i];

		if (is_wanted(trace, sweep->decoder.kinds))
			dirs[i] = pp_salvage_is_needless(trace->dir) ? trace->dir
								     : find_readable(sweep, trace);
	}
	ret = add_sources(sweep, dirs, sources);
	if (ret == -EIO) {
		reset_graph(sweep, sources);
		for (guint i = 0; i < traces->len; i++) {
			const struct pp_trace *trace = traces->pdata[i];

			if (dirs[i] == trace->dir)
				dirs[i] = find_readable(sweep, trace);
		}
		ret = add_sources(sweep, dirs, sources);
	}
	if (ret < 0 || !sweep->feeds->len)
		return ret;
	ret = add_sink(sweep, &sink);
	return ret < 0 ? ret : connect_all(sweep, sources, sink);
}

static int run_graph(struct sweep *sweep)
{
	bt_graph_run_once_status status;

	do {
		status = bt_graph_run_once(sweep->graph);
	} while (status == BT_GRAPH_RUN_ONCE_STATUS_OK || status == BT_GRAPH_RUN_ONCE_STATUS_AGAIN);
	return status == BT_GRAPH_RUN_ONCE_STATUS_END ? 0 : -EIO;
}

static int sweep_run(struct sweep *sweep)
{
	int ret = build_graph(sweep);

	sweep->heap = g_new(struct feed *, sweep->feeds->len + sweep->call_feeds->len + 1);
	if (ret == 0 && sweep->feeds->len)
		ret = run_graph(sweep);
	else if (ret == 0) {
		start_heap(sweep);
		merge(sweep, UINT64_MAX);
	}
	if (ret < 0)
		pp_bt_error_take(sweep->err);
	return ret;
}

static void feed_free(void *data)
{
	struct feed *feed = data;

	if (feed->stream)
		pp_stream_free(feed->stream);
	g_free(feed->cause);
	g_free(feed);
}

static void add_histories(struct sweep *sweep)
{
	sweep->call_feeds = g_ptr_array_new_with_free_func(feed_free);
	sweep->histories = g_ptr_array_new();
	if (!(sweep->decoder.kinds & CALL_KINDS))
		return;
	g_ptr_array_unref(sweep->histories);
	sweep->histories = pp_calls_streams_new(sweep->decoder.capture);
	for (guint i = 0; i < sweep->histories->len; i++) {
		struct feed *feed = g_new0(struct feed, 1);

		feed->calls = sweep->histories->pdata[i];
		/* Before Babeltrace's: a call comes before what the function called does. */
		feed->order = i;
		g_ptr_array_add(sweep->call_feeds, feed);
	}
}

/* The plugin stays loaded once it is: there is no end to the use of it before the program's. */
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
	return *ret_class ? 0 : pp_error_add(err, -ENOENT, "Babeltrace cannot read CTF files");
}

int pp_events_read(struct pp_capture *capture, unsigned kinds,
		   void (*take)(void *data, const struct pp_event *event), void *data,
		   struct pp_error *err)
{
	struct sweep sweep = {.err = err};
	int ret;

	if (!kinds)
		return 0;
	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
	raise_file_limit();
	ret = find_ctf_fs(&sweep.ctf_fs, err);
	if (ret < 0)
		return ret;
	sweep.salvages = g_ptr_array_new_with_free_func((GDestroyNotify)pp_salvage_free);
	pp_decoder_init(&sweep.decoder, capture, kinds, take, data);
	sweep.feeds = g_ptr_array_new_with_free_func(feed_free);
	add_histories(&sweep);
	ret = sweep_run(&sweep);
	bt_graph_put_ref(sweep.graph);
	g_ptr_array_unref(sweep.feeds);
	g_ptr_array_unref(sweep.call_feeds);
	g_ptr_array_unref(sweep.histories);
	g_ptr_array_unref(sweep.salvages);
	g_free(sweep.heap);
	if (ret == 0 && kinds & KERNEL_KINDS)
		pp_missing_kernel_events(capture, sweep.decoder.n_kernel_events);
	pp_decoder_done(&sweep.decoder);
	return ret < 0 ? pp_error_add(err, ret, "%s: reading events", capture->model->dir) : 0;
}
