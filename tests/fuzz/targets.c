/* SPDX-License-Identifier: MIT */
/*
 * A file that a single reader reads is passed to it in memory. Other files replace the one of their
 * kind in a small capture, which is then read completely, by every pass, and its report is
 * formatted.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "fixture.h"
#include "fuzz.h"
#include "gmon-mt/history.h"
#include "gmon-mt/samples.h"
#include "sync-trace/accesses.h"
#include "symbols/cached_names.h"
#include "calls/history.h"
#include "ctf/direct.h"
#include "events/events.h"
#include "ctf/babeltrace/salvage.h"
#include "event_text.h"
#include "capture/children/packed.h"
#include "capture/children/packets.h"
#include "capture/traces.h"
#include "pass/history_by_object.h"
#include "analysis/pass_set.h"
#include "pass/timeline/timeline.h"
#include "render/render.h"
#include "runtime/config/config.h"

#define PID	  500
#define N_THREADS 3u
#define SECOND_NS UINT64_C(1000000000)
#define MUTEX	  0x1000

/* --- where the bytes go ----------------------------------------------------------------------- */

const char *fuzz_file(const uint8_t *data, size_t len_bytes)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		MUST(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	MUST(ftruncate(fd, 0) == 0);
	MUST(pwrite(fd, data, len_bytes, 0) == (ssize_t)len_bytes);
	return path;
}

static char *capture_dir;

static void remove_capture(void)
{
	const char *argv[] = {"rm", "-rf", capture_dir, NULL};

	g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
		     NULL);
}

static void write_file(const char *name, const void *data, size_t len_bytes)
{
	g_autofree char *path = g_build_filename(capture_dir, name, NULL);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	MUST(fd >= 0);
	MUST(write(fd, data, len_bytes) == (ssize_t)len_bytes);
	close(fd);
}

static void write_streams(void)
{
	struct fixture_stream *cpu = fixture_cpu_stream(capture_dir, 0, SECOND_NS);

	for (uint32_t i = 0; i < N_THREADS; i++) {
		struct fixture_stream *thread =
		    fixture_thread_stream(capture_dir, PID, i, PID + i, SECOND_NS);

		fixture_site(thread, SECOND_NS, 1, 0x401000);
		fixture_path(thread, SECOND_NS, 16, 0, 0x401100);
		fixture_path(thread, SECOND_NS, 17, 16, 0x401000);
		fixture_call_path(thread, SECOND_NS, 17, MUTEX);
		fixture_sync(thread, 2 * SECOND_NS, ST_EVENT_mutex_lock_begin, 0, 1, MUTEX, PID);
		fixture_sync(thread, 3 * SECOND_NS + i, ST_EVENT_mutex_lock, 0, 1, MUTEX, 0);
		fixture_sync(thread, 4 * SECOND_NS + i, ST_EVENT_mutex_unlock, 0, 1, MUTEX, 0);
		fixture_close(thread);
	}
	fixture_switch(cpu, 2 * SECOND_NS + 1, PID, 1, PID + 1);
	fixture_waking(cpu, 3 * SECOND_NS, PID, 0, PID + 1, 0);
	fixture_switch(cpu, 3 * SECOND_NS + 1, PID + 1, 0, PID);
	fixture_exit(cpu, 4 * SECOND_NS, PID);
	fixture_close(cpu);
}

/* The capture whose files are replaced. */
static const char *capture(void)
{
	struct gm_thread_slot slots[N_THREADS];

	if (capture_dir)
		return capture_dir;
	capture_dir = g_dir_make_tmp("gprof-mt-fuzz-XXXXXX", NULL);
	MUST(capture_dir);
	atexit(remove_capture);
	for (uint32_t i = 0; i < N_THREADS; i++)
		slots[i] = (struct gm_thread_slot){
		    .state = GM_THREAD_LIVE,
		    .tid = PID + i,
		    .parent_index = i ? 0 : -1,
		    .start_ns = SECOND_NS,
		    .name = "thread",
		};
	fixture_capture(capture_dir, 1);
	fixture_process(capture_dir, PID, slots, N_THREADS);
	fixture_kernel(capture_dir, "perf");
	write_streams();
	return capture_dir;
}

static struct pp_capture *open_capture(void)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_capture *opened = NULL;

	if (pp_capture_open(capture(), &opened, &err) < 0)
		MUST(err.causes && err.causes->len);
	pp_error_done(&err);
	return opened;
}

/* --- the passes and what they print ----------------------------------------------------------- */

static char *name_address(void *data, const struct pp_process *process, uint64_t address)
{
	(void)data;
	(void)process;
	return g_strdup_printf("f%" PRIx64, address);
}

static const struct pp_namer namer = {
    .site = name_address, .function = name_address, .object = name_address};

void fuzz_check_printable(const GString *text)
{
	MUST(g_utf8_validate(text->str, (gssize)text->len, NULL));
	for (const char *p = text->str; *p; p = g_utf8_next_char(p))
		MUST(*p == '\n' || !g_unichar_iscntrl(g_utf8_get_char(p)));
}

static void render(struct pp_pass_set *set, const char *name)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) json = g_string_new(NULL);
	struct pp_table **tables;
	unsigned n;

	tables = pp_pass_set_tables(set, name, &n);
	MUST(tables);
	for (unsigned i = 0; i < n; i++)
		pp_render_text(text, tables[i], &(struct pp_text_style){0});
	fuzz_check_printable(text);
	pp_render_json(json, tables, n);
}

struct sweep {
	struct pp_pass_set *set;
	struct pp_history_by_object *history;
	struct pp_timeline *timeline;
};

static void take_event(void *data, const struct pp_event *event)
{
	struct sweep *sweep = data;

	pp_pass_set_event(sweep->set, event);
	if (PP_EVENT_MASK(event->kind) & PP_HISTORY_KINDS)
		pp_history_by_object_event(sweep->history, event);
	pp_timeline_event(sweep->timeline, event);
}

static void take_line(void *table, const struct pp_timeline_line *line)
{
	pp_timeline_add_row(table, line);
}

static void render_history(struct sweep *sweep)
{
	while (pp_history_next_object(sweep->history)) {
		struct pp_table *table = pp_history_next_operations(sweep->history, UINT_MAX);
		g_autoptr(GString) text = g_string_new(NULL);

		pp_render_text(text, table, &(struct pp_text_style){0});
		fuzz_check_printable(text);
		pp_table_free(table);
	}
}

/* Runs every pass on the events that `read` passes to take_event(). */
static void run_passes(struct pp_pass_context *context,
		       void (*read)(void *source, struct sweep *sweep), void *source)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	struct pp_table *lines = pp_timeline_table();
	const struct pp_thread *thread =
	    context->model->threads->len ? context->model->threads->pdata[0] : NULL;
	struct pp_timeline_options options = {
	    .tid = thread ? thread->tid : PID, .take = take_line, .data = lines};
	g_autoptr(GString) text = g_string_new(NULL);
	struct pp_error err = PP_ERROR_INIT;
	struct sweep sweep;

	for (unsigned i = 0; pp_passes[i]; i++)
		g_ptr_array_add(names, (char *)pp_passes[i]->name);
	sweep.set =
	    pp_pass_set_new(context, (const char *const *)names->pdata, (unsigned)names->len);
	sweep.history = pp_history_by_object_new(context);
	sweep.timeline = pp_timeline_new(context, &options);
	read(source, &sweep);
	pp_pass_set_finish(sweep.set, context->model->end_ns);
	MUST(pp_history_by_object_finish(sweep.history, context->model->end_ns, &err) == 0);
	pp_timeline_finish(sweep.timeline, context->model->end_ns);
	for (guint i = 0; i < names->len; i++)
		render(sweep.set, names->pdata[i]);
	render_history(&sweep);
	pp_render_text(text, lines, &(struct pp_text_style){0});
	fuzz_check_printable(text);
	pp_table_free(lines);
	pp_timeline_free(sweep.timeline);
	pp_history_by_object_free(sweep.history);
	pp_pass_set_free(sweep.set);
}

static void read_capture(void *source, struct sweep *sweep)
{
	struct pp_error err = PP_ERROR_INIT;

	if (pp_events_read(source, ~0u, take_event, sweep, &err) < 0)
		MUST(err.causes && err.causes->len);
	pp_error_done(&err);
}

static void read_nothing(void *source, struct sweep *sweep)
{
	(void)source;
	(void)sweep;
}

/* Opens the capture with the bytes as its file `name`, and creates its report. */
static void report_with(const char *name, const uint8_t *data, size_t len_bytes, bool with_events)
{
	struct pp_capture *opened;
	struct pp_kernel_abilities kernel;
	struct pp_pass_context context;

	capture();
	write_file(name, data, len_bytes);
	opened = open_capture();
	if (!opened)
		return;
	pp_kernel_abilities(opened, &kernel);
	context = (struct pp_pass_context){
	    .model = opened->model,
	    .namer = &namer,
	    .has_kernel = kernel.has_events,
	    .has_switch_pairs = kernel.has_switch_pairs,
	    .has_wakings = kernel.has_wakings,
	};
	run_passes(&context, with_events ? read_capture : read_nothing, opened);
	pp_capture_free(opened);
}

/* --- the targets ------------------------------------------------------------------------------ */

static void run_session(const uint8_t *data, size_t len_bytes)
{
	capture();
	write_file("session", data, len_bytes);
	pp_capture_free(open_capture());
}

/* Checks cached names without the digest, which only shows that the file is unchanged. */
static void run_cached_names(const uint8_t *data, size_t len_bytes)
{
	g_autoptr(GByteArray) file = g_byte_array_new();
	g_autoptr(GBytes) bytes = NULL;
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	struct pp_cached_names *cached = pp_cached_names_new(), *again = pp_cached_names_new();
	guint8 digest[32];
	gsize digest_len = sizeof(digest);

	g_checksum_update(sum, data, (gssize)len_bytes);
	g_checksum_get_digest(sum, digest, &digest_len);
	g_byte_array_append(file, data, (guint)len_bytes);
	g_byte_array_append(file, digest, (guint)digest_len);
	bytes = g_byte_array_free_to_bytes(g_steal_pointer(&file));
	if (pp_cached_names_read(cached, bytes, "key")) {
		g_autoptr(GBytes) written = pp_cached_names_write(cached, "key");
		g_autoptr(GBytes) rewritten = NULL;

		MUST(pp_cached_names_read(again, written, "key"));
		rewritten = pp_cached_names_write(again, "key");
		MUST(g_bytes_equal(written, rewritten));
	}
	pp_cached_names_free(cached);
	pp_cached_names_free(again);
}

static void run_info(const uint8_t *data, size_t len_bytes)
{
	report_with("info.json", data, len_bytes, false);
}

static void run_user_stream(const uint8_t *data, size_t len_bytes)
{
	report_with("500/user/stream_0", data, len_bytes, true);
}

/* A sample stands for CPU time only if the period is known. */
static void set_sample_period(void)
{
	g_autofree char *path = g_build_filename(capture(), "500", "threads", NULL);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct gm_threads_header header;

	MUST(fd >= 0);
	MUST(pread(fd, &header, sizeof(header), 0) == sizeof(header));
	header.sample_state = GM_SAMPLE_ON;
	header.sample_period_ns = SECOND_NS / 100;
	MUST(pwrite(fd, &header, sizeof(header), 0) == sizeof(header));
	close(fd);
}

static void run_samples(const uint8_t *data, size_t len_bytes)
{
	static bool is_made;

	if (!is_made) {
		fixture_samples(capture(), PID);
		set_sample_period();
	}
	is_made = true;
	report_with("500/" GM_SAMPLES_DIR "/stream_0", data, len_bytes, true);
}

static void run_accesses(const uint8_t *data, size_t len_bytes)
{
	static bool is_made;

	if (!is_made)
		fixture_accesses(capture(), PID);
	is_made = true;
	report_with("500/" ST_ACCESSES_DIR "/stream_0", data, len_bytes, true);
}

static void run_kernel_stream(const uint8_t *data, size_t len_bytes)
{
	report_with("kernel/channel0_0", data, len_bytes, true);
}

static void drop_event(void *data, const struct pp_event *event)
{
	(void)data;
	(void)event;
}

/* The streams beside it, as the metadata describes them. */
static void read_direct(struct pp_capture *opened, const char *dir)
{
	struct pp_trace trace = {.dir = (char *)dir, .process = opened->model->processes->pdata[0]};
	struct pp_decoder decoder;
	struct pp_direct_trace *direct;

	pp_decoder_init(&decoder, opened, ~0u, drop_event, NULL);
	direct = pp_direct_trace_new(&decoder, &trace);
	for (guint i = 0; direct && i < pp_direct_streams(direct)->len; i++) {
		struct pp_direct_stream *stream = pp_direct_streams(direct)->pdata[i];
		int64_t time_ns;

		while (pp_direct_stream_next(stream, &time_ns))
			pp_direct_stream_emit(stream, time_ns);
	}
	if (direct)
		pp_direct_trace_free(direct);
	pp_decoder_done(&decoder);
}

/* Our readers of metadata; Babeltrace has its own. */
static void run_metadata(const uint8_t *data, size_t len_bytes)
{
	g_autofree char *dir = g_build_filename(capture(), "500", "user", NULL);
	g_autofree char *path = g_build_filename(dir, "metadata", NULL);
	struct pp_capture *opened;

	opened = open_capture();
	MUST(opened);
	write_file("500/user/metadata", data, len_bytes);
	pp_missing_clock(opened, path);
	pp_salvage_is_needless(dir);
	read_direct(opened, dir);
	pp_capture_free(opened);
}

static void read_threads(struct pp_capture *opened, struct pp_process *process, const char *path,
			 struct pp_error *err)
{
	pp_threads_read(opened, process, path, err);
}

static void read_calls(struct pp_capture *opened, struct pp_process *process, const char *path,
		       struct pp_error *err)
{
	(void)opened;
	pp_calls_read(process, path, err);
}

static void read_counts(struct pp_capture *opened, struct pp_process *process, const char *path,
			struct pp_error *err)
{
	pp_counts_read(opened, process, path, err);
}

static void read_holds(struct pp_capture *opened, struct pp_process *process, const char *path,
		       struct pp_error *err)
{
	pp_holds_read(opened, process, path, err);
}

static void read_maps(struct pp_capture *opened, struct pp_process *process, const char *path,
		      struct pp_error *err)
{
	if (pp_maps_read(opened, process, path, err) < 0)
		return;
	process->places = pp_places_new(process->maps);
	for (int64_t time_ns = 0; time_ns < 20; time_ns += 5)
		for (uint64_t address = 0x400000; address; address <<= 4)
			pp_places_load_id(process, address,
					  pp_places_code(process, address, time_ns), time_ns);
	g_clear_pointer(&process->places, pp_places_free);
}

/* Runs only the reader, for a process that has threads. */
static void run_reader(void (*read)(struct pp_capture *, struct pp_process *, const char *,
				    struct pp_error *),
		       const uint8_t *data, size_t len_bytes, unsigned n_threads)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_capture opened = {.model = pp_model_new("none"),
				    .damage = g_ptr_array_new_with_free_func(g_free)};
	struct pp_process *process = pp_model_add_process(opened.model, PID, "500");

	for (uint32_t i = 0; i < n_threads; i++)
		pp_model_add_thread(opened.model, process, PID + i, i);
	read(&opened, process, fuzz_file(data, len_bytes), &err);
	pp_error_done(&err);
	g_ptr_array_unref(opened.damage);
	pp_model_free(opened.model);
}

static void run_threads(const uint8_t *data, size_t len_bytes)
{
	run_reader(read_threads, data, len_bytes, 0);
}

static void run_calls(const uint8_t *data, size_t len_bytes)
{
	run_reader(read_calls, data, len_bytes, N_THREADS);
}

static void run_counts(const uint8_t *data, size_t len_bytes)
{
	run_reader(read_counts, data, len_bytes, N_THREADS);
}

static void run_holds(const uint8_t *data, size_t len_bytes)
{
	run_reader(read_holds, data, len_bytes, N_THREADS);
}

static void run_maps(const uint8_t *data, size_t len_bytes)
{
	run_reader(read_maps, data, len_bytes, 0);
}

static void run_history(const uint8_t *data, size_t len_bytes)
{
	static char *dir;
	struct pp_capture *opened;
	struct pp_trace *trace;
	GPtrArray *streams;

	if (!dir) {
		dir = g_build_filename(capture(), "500", GM_HISTORY_DIR, NULL);
		MUST(g_mkdir(dir, 0700) == 0);
	}
	write_file("500/" GM_HISTORY_DIR "/stream_0", data, len_bytes);
	opened = open_capture();
	MUST(opened);
	trace = g_new0(struct pp_trace, 1);
	*trace =
	    (struct pp_trace){.dir = g_strdup(dir), .process = opened->model->processes->pdata[0]};
	g_ptr_array_add(opened->histories, trace);
	streams = pp_calls_streams_new(opened);
	for (guint i = 0; i < streams->len; i++) {
		struct pp_event event;
		int64_t last_ns = 0;

		while (pp_calls_stream_next(streams->pdata[i], &event)) {
			MUST(event.thread && event.time_ns >= last_ns);
			last_ns = event.time_ns;
		}
	}
	g_ptr_array_unref(streams);
	pp_capture_free(opened);
}

static void read_text(void *source, struct sweep *sweep)
{
	const struct pp_text *text = source;

	for (guint i = 0; i < text->events->len; i++)
		take_event(sweep, &g_array_index(text->events, struct pp_event, i));
}

static void run_text(const uint8_t *data, size_t len_bytes)
{
	g_autofree char *copy = g_strndup((const char *)data, len_bytes);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_text *text = NULL;
	struct pp_pass_context context;

	if (pp_text_read(copy, "text", 1, &text, &err) < 0) {
		MUST(err.causes && err.causes->len);
		pp_error_done(&err);
		return;
	}
	context = (struct pp_pass_context){
	    .model = text->model,
	    .namer = &namer,
	    .has_kernel = text->has_kernel,
	    .has_switch_pairs = text->has_switch_pairs,
	    .has_wakings = text->has_wakings,
	};
	run_passes(&context, read_text, text);
	pp_text_free(text);
}

/* Data that was read can be written, and reads back the same. */
static void check_config(const struct gm_config *config)
{
	static char first[65536], second[65536];
	struct gm_config again;
	struct gm_config_error error;
	size_t len_bytes = gm_config_format(config, first, sizeof(first));

	MUST(len_bytes < sizeof(first));
	gm_config_defaults(&again);
	MUST(gm_config_read(fuzz_file((const uint8_t *)first, len_bytes), &again, &error) == 0);
	MUST(gm_config_format(&again, second, sizeof(second)) == len_bytes);
	MUST(memcmp(first, second, len_bytes) == 0);
}

/* One line, for a terminal. */
static void check_error(const struct gm_config_error *error)
{
	MUST(error->text[0]);
	for (const char *p = error->text; *p; p++)
		MUST(!g_ascii_iscntrl(*p));
}

static void run_config(const uint8_t *data, size_t len_bytes)
{
	g_autofree char *copy = g_strndup((const char *)data, len_bytes);
	struct gm_config config;
	struct gm_config_error error = {""};

	gm_config_defaults(&config);
	if (gm_config_read(fuzz_file(data, len_bytes), &config, &error) == 0)
		check_config(&config);
	else
		check_error(&error);
	gm_config_defaults(&config);
	if (gm_config_set(copy, &config, &error) == 0)
		check_config(&config);
	else
		check_error(&error);
}

static void run_pack(const uint8_t *data, size_t len_bytes)
{
	static char *dir;

	if (!dir) {
		dir = g_build_filename(capture(), "500", GM_PACK_PREFIX "0", NULL);
		MUST(g_mkdir(dir, 0700) == 0);
	}
	report_with("500/" GM_PACK_PREFIX "0/" GM_PACK_TABLE, data, len_bytes, true);
}

/* What was taken is not longer, and is taken again without a change. */
static void run_packets(const uint8_t *data, size_t len_bytes)
{
	g_autoptr(GByteArray) first = g_byte_array_new(), second = g_byte_array_new();
	struct pp_child_packets packets, again;

	if (!pp_child_packets_take(data, len_bytes, PID, first, &packets)) {
		MUST(first->len == 0);
		return;
	}
	MUST(first->len <= len_bytes && packets.begin_ns <= packets.end_ns);
	MUST(pp_child_packets_take(first->data, first->len, PID, second, &again));
	MUST(second->len == first->len && again.end_ns == packets.end_ns);
}

static const struct fuzz_target targets[] = {
    {"session", run_session},	{"info", run_info},
    {"threads", run_threads},	{"maps", run_maps},
    {"calls", run_calls},	{"counts", run_counts},
    {"history", run_history},	{"user", run_user_stream},
    {"samples", run_samples},	{"kernel", run_kernel_stream},
    {"metadata", run_metadata}, {"text", run_text},
    {"config", run_config},	{"cached_names", run_cached_names},
    {"holds", run_holds},	{"pack", run_pack},
    {"packets", run_packets},	{"campaign", fuzz_run_campaign},
    {"plan", fuzz_run_plan},	{"accesses", run_accesses},
};

const struct fuzz_target *fuzz_target_find(const char *name)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(targets); i++)
		if (strcmp(targets[i].name, name) == 0)
			return &targets[i];
	return NULL;
}

void fuzz_target_list(void)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(targets); i++)
		puts(targets[i].name);
}
