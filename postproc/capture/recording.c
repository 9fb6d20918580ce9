/* SPDX-License-Identifier: MIT */
/*
 * What info.json says of the recording: what ran where, what the recorder knows to be missing; and
 * whether there still is, or ever was, someone to write the end of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/json.h"
#include "capture/capture.h"

#define MAX_INFO_BYTES	  (16 << 20)
#define COLLECTOR_POLL_NS 20000000
#define COLLECTOR_POLLS	  500

/*
 * What the recorder knows to be missing: "losses", of {"what", "where", "count"}.  What it knows
 * only from the files that are read here, too, is told from there, by thread and file.
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
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autofree char *text = NULL;
	struct stat st;
	JsonNode *root;
	gsize len;

	if (stat(path, &st) < 0 || st.st_size > MAX_INFO_BYTES ||
	    !g_file_get_contents(path, &text, &len, NULL) || !pp_json_is_shallow(text, len) ||
	    !json_parser_load_from_data(parser, text, (gssize)len, NULL)) {
		pp_capture_add_damage(capture, path, "cannot be read as JSON");
		return;
	}
	root = json_parser_get_root(parser);
	if (!root || !JSON_NODE_HOLDS_OBJECT(root)) {
		pp_capture_add_damage(capture, path, "holds no JSON object");
		return;
	}
	g_clear_pointer(&capture->model->info, json_object_unref);
	capture->model->info = json_node_dup_object(root);
}

/* Who gathers the kernel's events of a program without `record`, and has not ended; 0: nobody. */
static int64_t collector_of(const struct pp_model *model)
{
	return pp_json_int(pp_json_object(model->info, "kernel"), "collector", 0);
}

static bool is_alive(int64_t pid)
{
	return pid > 0 && pid <= INT32_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

/* Its lock is no thing that a capture can hold: the number in there may be anybody's. */
static bool has_collector(const struct pp_capture *capture)
{
	int fd = open(capture->model->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return locked;
}

/* It ends shortly after the program; who reads at once waits for it. */
static void await_collector(struct pp_capture *capture, const char *path)
{
	const struct timespec pause = {0, COLLECTOR_POLL_NS};
	/* As long as the collector lives: without it the number may be another process's. */
	bool running =
	    has_collector(capture) && is_alive(pp_json_int(capture->model->info, "pid", 0));
	bool lives = true;

	for (unsigned i = 0; lives && !running && collector_of(capture->model) > 0; i++) {
		lives = i < COLLECTOR_POLLS && has_collector(capture);
		if (lives)
			nanosleep(&pause, NULL);
		/* After that: it may have written its last between two looks. */
		load_info(capture, path);
	}
	if (collector_of(capture->model) > 0)
		pp_model_add_problem(capture->model,
				     running ? "scheduling events from now on: the program runs"
				     : has_collector(capture)
					 ? "later scheduling events: their collector has not ended"
					 : "later scheduling events: their collector was killed",
				     "kernel", 0);
}

/* record writes the file anew at its end, and what is left of the scheduling events before that. */
static void note_cut_short(struct pp_model *model)
{
	JsonObject *info = model->info;
	const char *source = pp_json_string(pp_json_object(info, "kernel"), "source");
	bool has_kernel = source && strcmp(source, "none") != 0;

	if (g_strcmp0(pp_json_string(info, "recorder"), "record") != 0 ||
	    pp_json_int(info, "end_ns", 0))
		return;
	pp_model_add_problem(model,
			     has_kernel
				 ? "later scheduling events: record was killed, or has not ended"
				 : "how the program ended: record was killed, or has not ended",
			     "recording", 0);
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
	note_cut_short(capture->model);
	note_recorded_losses(capture->model);
}
