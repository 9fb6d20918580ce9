/* SPDX-License-Identifier: MIT */
/*
 * Reads info.json: the recorded program and the losses that the recorder counted.  Also determines
 * whether the process that writes the end of info.json still runs, or ended without doing so.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/text/json.h"
#include "core/text/printable.h"
#include "capture/capture.h"

#define COLLECTOR_POLL_NS 20000000
#define COLLECTOR_POLLS	  500

/*
 * Adds the recorder's losses: "losses", an array of {"what", "where", "count"}.  Losses that the
 * capture's own files count, too, are taken from those, by thread and file.
 */
static void note_recorded_losses(struct pp_model *model)
{
	JsonArray *losses = pp_json_array(model->info, "losses");

	for (guint i = 0; losses && i < json_array_get_length(losses); i++) {
		JsonObject *loss = pp_json_element_object(losses, i);
		const char *what = pp_json_string(loss, "what");
		const char *where = pp_json_string(loss, "where");

		if (what && strcmp(what, "damage") != 0 &&
		    g_strcmp0(where, "runtime libraries") != 0)
			pp_model_add_problem(model, what, where ? where : "recording",
					     (uint64_t)pp_json_int(loss, "count", 0));
	}
}

static void load_info(struct pp_capture *capture, const char *path)
{
	const char *why;
	JsonObject *info = pp_json_read(path, &why);

	if (!info) {
		pp_capture_add_damage(capture, path, why);
		return;
	}
	g_clear_pointer(&capture->model->info, json_object_unref);
	capture->model->info = info;
}

/*
 * Returns the pid of the collector that records the kernel's events of a program started without
 * `record`, as long as it has not ended; 0: none.
 */
static int64_t collector_of(const struct pp_model *model)
{
	return pp_json_int(pp_json_object(model->info, "kernel"), "collector", 0);
}

static bool is_alive(int64_t pid)
{
	return pid > 0 && pid <= INT32_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

/*
 * Checks the collector's lock, because the pid in the capture may belong to an unrelated process by
 * now.
 */
static bool has_collector(const struct pp_capture *capture)
{
	int fd = open(capture->model->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return locked;
}

/* The collector ends shortly after the program.  A reader that starts right then waits for it. */
static void await_collector(struct pp_capture *capture, const char *path)
{
	const struct timespec pause = {0, COLLECTOR_POLL_NS};
	/* Valid only while the collector lives; otherwise the pid may be another process's. */
	bool running =
	    has_collector(capture) && is_alive(pp_json_int(capture->model->info, "pid", 0));
	bool lives = true;

	for (unsigned i = 0; lives && !running && collector_of(capture->model) > 0; i++) {
		lives = i < COLLECTOR_POLLS && has_collector(capture);
		if (lives)
			nanosleep(&pause, NULL);
		/*
		 * Load it after the check: the collector may have written its last data between the
		 * two.
		 */
		load_info(capture, path);
	}
	if (collector_of(capture->model) > 0)
		pp_model_add_problem(
		    capture->model,
		    running ? "later scheduling events not recorded yet: the program still runs"
		    : has_collector(capture)
			? "later scheduling events not written yet: their collector has not ended"
			: "later scheduling events not recorded: their collector was killed",
		    "kernel", 0);
}

/* At its end `record` rewrites the file, after the last scheduling events. */
static void note_cut_short(struct pp_model *model)
{
	JsonObject *info = model->info;
	const char *source = pp_json_string(pp_json_object(info, "kernel"), "source");
	bool has_kernel = source && strcmp(source, "none") != 0;

	if (g_strcmp0(pp_json_string(info, "recorder"), "record") != 0 ||
	    pp_json_int(info, "end_ns", 0))
		return;
	pp_model_add_problem(
	    model,
	    has_kernel ? "later scheduling events not recorded: record was killed, or has not ended"
		       : "exit status of the program unknown: record was killed, or has not ended",
	    "recording", 0);
}

/* LTTng's traces are at a relay daemon until its user moves them here (`record --url`). */
static void note_relayed(const struct pp_capture *capture)
{
	JsonObject *relay = pp_json_object(capture->model->info, "relay");
	const char *url = pp_json_string(relay, "url"), *session = pp_json_string(relay, "session");
	JsonObject *config = pp_json_object(capture->model->info, "config");
	bool is_here = g_strcmp0(pp_json_string(config, "sync.sink"), "both") == 0;
	g_autofree char *text = NULL;

	for (guint i = 0; i < capture->traces->len; i++)
		is_here |= ((const struct pp_trace *)capture->traces->pdata[i])->is_ust;
	if (!url || !session || is_here)
		return;
	text = g_strdup_printf("synch-events are at the relay daemon of %s: move ust/ of the "
			       "session %s here",
			       url, session);
	pp_model_add_problem(capture->model, pp_printable(text), "ust", 0);
}

void pp_recording_end(struct pp_capture *capture)
{
	note_relayed(capture);
	if (capture->model->info && !pp_model_is_live(capture->model))
		note_cut_short(capture->model);
}

void pp_recording_read(struct pp_capture *capture)
{
	g_autofree char *path = g_build_filename(capture->model->dir, "info.json", NULL);

	if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
		return;
	if (pp_capture_leads_out(capture, path)) {
		pp_capture_add_damage(capture, path,
				      "left out: a symlink that leads out of the capture");
		return;
	}
	load_info(capture, path);
	if (!capture->model->info)
		return;
	await_collector(capture, path);
	note_recorded_losses(capture->model);
}
