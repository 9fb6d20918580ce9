/* SPDX-License-Identifier: MIT */
/*
 * Opens a capture: reads its session, the files of each process and its traces, and notes losses.
 */
#include "capture/capture.h"
#include "capture/helpers.h"
#include "sync-trace/events.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/json.h"
#include "core/loss.h"
#include "core/pid_namespace.h"
#include "core/text/printable.h"
#include "gmon-mt/format.h"
#include "gmon-mt/history.h"
#include "gmon-mt/samples.h"
#include "sync-trace/accesses.h"
#include "capture/children/children.h"
#include "capture/folders.h"
#include "capture/live.h"
#include "capture/packs.h"
#include "capture/reversals.h"
#include "capture/traces.h"

#define NO_BOOT_ID	  "00000000-0000-0000-0000-000000000000"
#define MAX_SESSION_BYTES 65536

static void trace_free(void *data)
{
	struct pp_trace *trace = data;

	g_free(trace->dir);
	g_clear_pointer(&trace->processes, g_ptr_array_unref);
	g_free(trace);
}

static bool is_dir(const char *path)
{
	return g_file_test(path, G_FILE_TEST_IS_DIR);
}

static bool is_file(const char *path)
{
	return g_file_test(path, G_FILE_TEST_IS_REGULAR);
}

/* --- session ------------------------------------------------------------------------------ */

static int check_schema(const char *path, const char *first_line, struct pp_error *err)
{
	unsigned schema;

	if (sscanf(first_line, GM_SESSION_MAGIC " %u", &schema) != 1)
		return pp_error_add(err, -EINVAL,
				    "%s: does not begin with \"%s\": not a capture, "
				    "or damaged; record again",
				    path, GM_SESSION_MAGIC);
	if (schema > GM_CAPTURE_SCHEMA)
		return pp_error_add(
		    err, -ENOTSUP,
		    "%s: schema %u is newer than %u, the newest that this "
		    "gprof-mt reads; use the gprof-mt that recorded it, or a newer one",
		    path, schema, GM_CAPTURE_SCHEMA);
	if (schema == 0)
		return pp_error_add(err, -EINVAL, "%s: damaged: invalid schema 0; record again",
				    path);
	return 0;
}

/* A full disk may cut short the line that `record` adds at its end. */
static bool is_complete(const char *text, gsize len)
{
	const char *end = strrchr(text, '\n');

	return end && strlen(text) == len && g_str_has_prefix("ended 1", end + 1);
}

/* If one of the two boots is unknown, the capture is neither of this boot nor of another. */
static void compare_boots(struct pp_capture *capture, bool keeps_lock)
{
	const char *uuid = capture->clock_uuid;
	g_autofree char *boot = NULL;

	if (!*uuid || g_str_equal(uuid, NO_BOOT_ID) ||
	    !g_file_get_contents("/proc/sys/kernel/random/boot_id", &boot, NULL, NULL))
		return;
	capture->is_of_this_boot = g_str_has_prefix(boot, uuid);
	capture->may_be_elsewhere = !keeps_lock && !capture->is_of_this_boot;
}

static int read_session(struct pp_capture *capture, struct pp_error *err)
{
	g_autofree char *path = g_build_filename(capture->model->dir, "session", NULL);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	bool has_offset = false, keeps_lock = false;
	struct stat st;
	gsize len;
	int ret;

	if (stat(path, &st) < 0 && errno == EACCES)
		return pp_error_add(err, -EACCES, "%s: %s", path, g_strerror(EACCES));
	if (!is_file(path) || pp_capture_leads_out(capture, path))
		return pp_error_add(err, -ENOENT,
				    "%s is not a capture: it has no file \"session\"; "
				    "give the directory that `gprof-mt record` wrote",
				    capture->model->dir);
	if (stat(path, &st) < 0 || st.st_size > MAX_SESSION_BYTES ||
	    !g_file_get_contents(path, &text, &len, NULL))
		return pp_error_add(err, -EIO, "%s: cannot be read", path);
	if (len == 0)
		return pp_error_add(err, -EINVAL,
				    "%s: empty: the recording never began; record again", path);
	lines = g_strsplit(text, "\n", -1);
	ret = check_schema(path, lines[0] ? lines[0] : "", err);
	if (ret < 0)
		return ret;
	for (char **line = lines; *line; line++) {
		if (sscanf(*line, "clock_offset_ns %" SCNd64, &capture->clock_offset_ns) == 1)
			has_offset = true;
		sscanf(*line, "clock_uuid %36s", capture->clock_uuid);
		keeps_lock |= g_str_equal(*line, "lock 1");
	}
	if (!has_offset || !is_complete(text, len))
		return pp_error_add(err, -EINVAL, "%s: cut short; record again", path);
	compare_boots(capture, keeps_lock);
	return 0;
}

/* --- processes ----------------------------------------------------------------------------- */

static void read_calls(struct pp_capture *capture, struct pp_process *process)
{
	g_autofree char *path = g_build_filename(process->dir, "calls", NULL);
	g_autofree char *text = NULL;
	struct pp_error err = PP_ERROR_INIT;

	if (!g_file_test(path, G_FILE_TEST_EXISTS) || pp_calls_read(process, path, &err) == 0)
		return;
	process->counts_damaged = true;
	text = pp_error_text(&err);
	pp_capture_add_damage(capture, process->folder, "call counts: %s", text);
	pp_error_done(&err);
}

static void read_sync_counts(struct pp_capture *capture, struct pp_process *process)
{
	g_autofree char *path = g_build_filename(process->dir, ST_COUNTS_FILE, NULL);
	g_autofree char *text = NULL;
	struct pp_error err = PP_ERROR_INIT;

	if (!g_file_test(path, G_FILE_TEST_EXISTS) ||
	    pp_counts_read(capture, process, path, &err) == 0)
		return;
	text = pp_error_text(&err);
	pp_capture_add_damage(capture, process->folder, "counts of operations: %s", text);
	pp_error_done(&err);
}

static bool has_addresses(const struct pp_process *process)
{
	g_autofree char *calls = g_build_filename(process->dir, "calls", NULL);
	g_autofree char *user = g_build_filename(process->dir, "user", NULL);

	return g_file_test(calls, G_FILE_TEST_EXISTS) || g_file_test(user, G_FILE_TEST_EXISTS);
}

static void add_samples(struct pp_capture *capture, struct pp_process *process)
{
	guint n_traces = capture->traces->len;

	pp_traces_add(capture, capture->traces, process->dir, GM_SAMPLES_DIR, process);
	if (capture->traces->len == n_traces)
		return;
	((struct pp_trace *)capture->traces->pdata[n_traces])->is_samples = true;
	process->has_stacks = true;
}

static bool is_set(const struct pp_capture *capture, const char *key, const char *value)
{
	const char *set = pp_json_string(pp_json_object(capture->model->info, "config"), key);

	return set && strcmp(set, value) == 0;
}

/* A segment precedes the operation that ends it and has the same time: this trace comes first. */
static void add_accesses(struct pp_capture *capture, struct pp_process *process)
{
	guint n_traces = capture->traces->len;

	pp_traces_add(capture, capture->traces, process->dir, ST_ACCESSES_DIR, process);
	if (capture->traces->len == n_traces)
		return;
	((struct pp_trace *)capture->traces->pdata[n_traces])->is_accesses = true;
	/* Some critical sections were executed in single steps, to find their accesses. */
	process->accesses =
	    is_set(capture, "access.mode", "sampled") ? PP_ACCESSES_SAMPLED : PP_ACCESSES_COMPILED;
	process->knows_blocks =
	    process->accesses == PP_ACCESSES_COMPILED || is_set(capture, "access.blocks", "on");
}

static int read_process(struct pp_capture *capture, const struct pp_folder *folder,
			struct pp_error *err)
{
	g_autofree char *dir = g_build_filename(capture->model->dir, folder->name, NULL);
	g_autofree char *threads = g_build_filename(dir, "threads", NULL);
	g_autofree char *maps = g_build_filename(dir, "maps", NULL);
	g_autofree char *link = NULL;
	struct pp_error maps_err = PP_ERROR_INIT;
	struct pp_process *process;
	guint n_traces;
	int ret;

	process = pp_model_add_process(capture->model, folder->pid, folder->name);
	process->image = folder->image;
	if (folder->pack) {
		pp_packs_read_process(capture, folder->pack, folder->number, process);
		return 0;
	}
	process->dir = g_steal_pointer(&dir);
	link = pp_capture_link_out(capture, process->dir);
	if (link)
		return pp_error_add(err, -ELOOP, "%s: a symlink that leads out of the capture",
				    link);
	ret = pp_threads_read(capture, process, threads, err);
	if (ret < 0)
		return ret;
	if (pp_maps_read(capture, process, maps, &maps_err) < 0) {
		g_autofree char *text = pp_error_text(&maps_err);

		/*
		 * A process killed before it wrote the first line of its load map has no addresses
		 * either.
		 */
		if (is_file(maps) || has_addresses(process))
			pp_capture_add_damage(capture, process->folder,
					      "no names for addresses: %s", text);
		pp_error_done(&maps_err);
	} else {
		process->places = pp_places_new(process->maps);
	}
	pp_helpers_read(capture, process);
	pp_places_translate_starts(process);
	read_calls(capture, process);
	read_sync_counts(capture, process);
	add_accesses(capture, process);
	n_traces = capture->traces->len;
	pp_traces_add(capture, capture->traces, process->dir, "user", process);
	process->has_streams = capture->traces->len > n_traces;
	add_samples(capture, process);
	pp_traces_add(capture, capture->histories, process->dir, GM_HISTORY_DIR, process);
	return 0;
}

/*
 * A process that cannot be read does not hide the others.  It is an error only if it is the only
 * one.
 */
static int read_processes(struct pp_capture *capture, struct pp_error *err)
{
	g_autoptr(GPtrArray) packs = pp_packs_open(capture);
	g_autoptr(GArray) folders = pp_folders_find(capture->model->dir, packs, err);
	int ret = 0;
	unsigned good = 0;

	if (!folders)
		return -EIO;
	for (guint i = 0; i < folders->len; i++) {
		struct pp_error one = PP_ERROR_INIT;
		g_autofree char *text = NULL;
		const struct pp_folder *folder = &g_array_index(folders, struct pp_folder, i);

		ret = read_process(capture, folder, &one);
		if (ret == 0) {
			good++;
			continue;
		}
		text = pp_error_text(&one);
		pp_error_done(&one);
		if (ret == -ENOTSUP || (i + 1 == folders->len && !good))
			return pp_error_add(err, ret, "%s", text);
		pp_capture_add_damage(capture, folder->name, "process left out: %s", text);
	}
	pp_packs_add_traces(capture, packs);
	return 0;
}

static void note_loss(struct pp_model *model, const char *what, unsigned whys, const char *where,
		      uint64_t count)
{
	g_autofree char *text = NULL;

	if (!count)
		return;
	text = pp_loss_text(what, whys);
	pp_model_add_problem(model, text, where, count);
}

/* `steps`: enum gm_stalled. */
static void note_left_out(struct pp_model *model, unsigned steps, const char *where)
{
	for (unsigned step = 1; step <= steps; step <<= 1) {
		g_autofree char *text = steps & step ? pp_loss_step_text(step) : NULL;

		if (text)
			pp_model_add_problem(model, text, where, 1);
	}
}

static void note_thread_losses(struct pp_model *model, const struct pp_thread *thread)
{
	g_autofree char *where = g_strdup_printf("%s thread %u (tid %u)", thread->process->folder,
						 thread->index, thread->tid);

	note_loss(model, "calls not counted", thread->calls_why, where, thread->calls_lost);
	note_loss(model, "calls and returns not in the history", thread->records_why, where,
		  thread->records_lost);
	note_loss(model, "synch-events not written", thread->events_why, where,
		  thread->events_lost);
	if (thread->records_why && !thread->records_lost) {
		g_autofree char *text = pp_loss_text("no history of calls", thread->records_why);

		pp_model_add_problem(model, text, where, 0);
	}
	/*
	 * Every recording has lost samples without a reason: ticks at which no sample could be
	 * taken.
	 */
	if (thread->samples_why)
		note_loss(model, "samples not taken", thread->samples_why, where,
			  thread->samples_missed);
	note_left_out(model, thread->left_out, where);
}

static void note_losses(struct pp_model *model)
{
	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		note_loss(model, "threads not recorded because the thread table had no room",
			  process->threads_why, process->folder, process->threads_lost);
		note_loss(model, "calls of unknown threads not counted", process->calls_why,
			  process->folder, process->calls_lost);
		note_loss(model, "synch-events of unknown threads not written", process->events_why,
			  process->folder, process->events_lost);
		note_loss(model, "samples of unknown threads not taken", process->threads_why,
			  process->folder, process->samples_missed);
		note_loss(model, "synch-events whose call path was lost", 0, process->folder,
			  process->paths_lost);
		note_loss(model,
			  "uncontended holds not recorded: the file sync-holds could not grow", 0,
			  process->folder, process->holds_lost);
		note_loss(model,
			  process->is_live
			      ? "threads whose last records are still in memory"
			      : "threads whose last data was not written (the process was killed, "
				"or its disk was full)",
			  0, process->folder, process->n_in_memory);
		note_loss(model, PP_LOSS_OF_LOADS, PP_LOSS_STALLED, process->folder,
			  process->maps_left_out);
		note_loss(model, PP_LOSS_OF_TASK_WAITS, 0, process->folder,
			  process->task_waits_left_out);
		note_loss(model, PP_LOSS_OF_ACCESSES, 0, process->folder, process->accesses_lost);
		note_loss(model, PP_LOSS_OF_ACCESS_THREADS, 0, process->folder,
			  process->n_without_accesses);
		note_loss(model, PP_LOSS_OF_BLOCKS, 0, process->folder, process->blocks_lost);
		note_loss(model, PP_LOSS_OF_STEPPED_CALLS, 0, process->folder,
			  process->stepped_calls);
		for (unsigned k = 0; k < PP_LOSS_N_BARRED; k++)
			note_loss(model, pp_loss_barred_text(1u << k), 0, process->folder,
				  process->not_stepped >> k & 1);
		note_left_out(model, process->left_out, process->folder);
	}
	for (guint i = 0; i < model->threads->len; i++)
		note_thread_losses(model, model->threads->pdata[i]);
}

static void widen(struct pp_model *model, int64_t start_ns, int64_t end_ns)
{
	if (start_ns != PP_TIME_UNKNOWN &&
	    (model->start_ns == PP_TIME_UNKNOWN || start_ns < model->start_ns))
		model->start_ns = start_ns;
	/* A thread without a recorded end existed at its start at least. */
	model->end_ns = MAX(model->end_ns, MAX(start_ns, end_ns));
}

/* An image ends at the latest when the next image of its process begins. */
static void end_images(struct pp_model *model)
{
	for (guint i = 1; i < model->processes->len; i++) {
		struct pp_process *image = model->processes->pdata[i - 1];
		const struct pp_process *next = model->processes->pdata[i];

		if (image->pid == next->pid && image->end_ns == PP_TIME_UNKNOWN &&
		    next->start_ns >= image->start_ns)
			image->end_ns = next->start_ns;
	}
}

void pp_capture_end(struct pp_capture *capture, int64_t end_ns)
{
	struct pp_model *model = capture->model;
	int64_t pid = pp_json_int(model->info, "pid", 0);
	struct pp_process *last = NULL;

	for (guint i = 0; i < model->processes->len; i++) {
		struct pp_process *process = model->processes->pdata[i];

		if (process->pid == pid)
			last = process;
	}
	if (!last || last->end_ns != PP_TIME_UNKNOWN || end_ns < last->start_ns ||
	    !pp_model_is_near(model, end_ns))
		return;
	last->end_ns = end_ns;
	widen(model, last->start_ns, end_ns);
}

/* A time in a damaged file is not known. */
static void check_times(struct pp_model *model, int64_t *start_ns, int64_t *end_ns,
			const char *where)
{
	bool start_is_near = *start_ns == PP_TIME_UNKNOWN || pp_model_is_near(model, *start_ns);
	bool end_is_near = *end_ns == PP_TIME_UNKNOWN || pp_model_is_near(model, *end_ns);

	if (!start_is_near)
		*start_ns = PP_TIME_UNKNOWN;
	if (!end_is_near)
		*end_ns = PP_TIME_UNKNOWN;
	if (!start_is_near || !end_is_near)
		pp_model_add_problem(
		    model, "threads more than 104 days from the start: their times are left out",
		    where, 1);
}

static void find_base(struct pp_model *model)
{
	for (guint i = 0; i < model->processes->len; i++) {
		int64_t start_ns = ((struct pp_process *)model->processes->pdata[i])->start_ns;

		if (start_ns != PP_TIME_UNKNOWN &&
		    (model->base_ns == PP_TIME_UNKNOWN || start_ns < model->base_ns))
			model->base_ns = start_ns;
	}
}

static void note_times(struct pp_model *model)
{
	find_base(model);
	for (guint i = 0; i < model->processes->len; i++) {
		struct pp_process *process = model->processes->pdata[i];

		check_times(model, &process->start_ns, &process->end_ns, process->folder);
		widen(model, process->start_ns, process->end_ns);
	}
	for (guint i = 0; i < model->threads->len; i++) {
		struct pp_thread *thread = model->threads->pdata[i];

		check_times(model, &thread->start_ns, &thread->end_ns, thread->process->folder);
		widen(model, thread->start_ns, thread->end_ns);
	}
}

/* The first image of the process to which `record` attached. */
static void note_attached(struct pp_model *model)
{
	int64_t pid = pp_json_int(model->info, "pid", 0);

	for (guint i = 0; pp_json_object(model->info, "attached") && i < model->processes->len;
	     i++) {
		struct pp_process *process = model->processes->pdata[i];

		if (process->pid != pid || process->image)
			continue;
		process->is_attached = true;
		if (process->why_no_samples)
			process->why_no_samples = "gprof-mt attached to the running process";
	}
}

static bool is_lttng_output(const char *dir)
{
	g_autofree char *session = g_build_filename(dir, "session", NULL);
	g_autofree char *ust = g_build_filename(dir, "ust", NULL);

	return !g_file_test(session, G_FILE_TEST_EXISTS) && is_dir(ust);
}

static int open_capture(struct pp_capture *capture, struct pp_error *err)
{
	g_autofree char *unwritten = NULL;
	const char *dir = capture->model->dir;
	struct stat st;
	int ret;

	if (stat(dir, &st) < 0)
		return pp_error_add(err, -errno,
				    "no capture %s: %s; record one with "
				    "`gprof-mt record -- PROGRAM`, or name another",
				    dir, g_strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return pp_error_add(err, -ENOTDIR, "%s is not a capture: not a directory", dir);
	/* A directory that `lttng` wrote has no session file of ours. */
	if (!is_lttng_output(dir)) {
		ret = read_session(capture, err);
		if (ret < 0)
			return ret;
	}
	pp_recording_read(capture);
	pp_live_begin(capture);
	capture->readers_fd = pp_children_move(capture->model, capture->may_be_elsewhere);
	ret = read_processes(capture, err);
	if (ret < 0)
		return ret;
	pp_reversals_read(capture->model);
	note_attached(capture->model);
	pp_calls_find_none(capture->model);
	pp_traces_add_kernel(capture);
	pp_capture_ring_read(capture);
	unwritten = pp_capture_note_unwritten(capture->model);
	pp_traces_add_ust(capture);
	if (!capture->model->processes->len && !capture->traces->len)
		return pp_error_add(err, -ENODATA, "%s is an empty capture: %s", dir,
				    unwritten
					?: "no process wrote into it; build the program with "
					   "`gcc -pg -g`, and record again");
	pp_recording_end(capture);
	pp_live_end(capture);
	note_losses(capture->model);
	end_images(capture->model);
	note_times(capture->model);
	pp_capture_end(capture, pp_json_int(capture->model->info, "end_ns", INT64_MIN));
	return 0;
}

int pp_capture_open(const char *dir, struct pp_capture **ret_capture, struct pp_error *err)
{
	struct pp_capture *capture = g_new0(struct pp_capture, 1);
	int ret;

	capture->readers_fd = -1;
	capture->model = pp_model_new(dir);
	capture->traces = g_ptr_array_new_with_free_func(trace_free);
	capture->histories = g_ptr_array_new_with_free_func(trace_free);
	capture->damage = g_ptr_array_new_with_free_func(g_free);
	ret = open_capture(capture, err);
	if (ret < 0) {
		pp_capture_free(capture);
		return ret;
	}
	*ret_capture = capture;
	return 0;
}

void pp_capture_free(struct pp_capture *capture)
{
	if (!capture)
		return;
	for (guint i = 0; i < capture->model->processes->len; i++) {
		struct pp_process *process = capture->model->processes->pdata[i];

		g_clear_pointer(&process->places, pp_places_free);
	}
	pp_model_free(capture->model);
	pp_numbers_free(capture->numbers);
	g_ptr_array_unref(capture->traces);
	g_ptr_array_unref(capture->histories);
	g_ptr_array_unref(capture->damage);
	if (capture->readers_fd >= 0)
		close(capture->readers_fd);
	g_free(capture);
}
