/* SPDX-License-Identifier: MIT */
/*
 * Reuses a saved index that matches the capture, or creates a new one while showing the progress,
 * and saves it.
 */
#include "cli/browse_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/text/printable.h"
#include "index/build.h"
#include "index/saved_index.h"
#include "events/events.h"
#include "capture/identity.h"
#include "tui/browse.h"

#define PICTURE_NS  100000000  /* between two updates of the progress display */
#define LEAST_BYTES (8u << 20) /* of a capture; a smaller one is read in half a second */

struct making {
	struct pp_screen *screen;
	struct pp_view *view;
	struct pp_index_builder *builder;
	struct pp_index_key key;
	struct pp_index_folder folder;
	bool is_kept;	   /* the index is being made in files */
	bool goes_on;	   /* the recorded program is still running */
	const char *doing; /* the current step, for the display */
	int64_t shown_ns;  /* CLOCK_MONOTONIC of the last update; 0: none yet */
	uint64_t n_events;
	struct pp_error why; /* the reason why it is not saved */
};

/* --- the key -------------------------------------------------------------------------------- */

/*
 * Includes the program's build, since another version may derive other data from the same events.
 */
static struct pp_index_key key_of(const struct pp_view *view)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	const char *reader = getenv("GPROF_MT_READER");
	g_autofree char *program = NULL;
	struct pp_index_key key;
	struct stat self = {0};
	gsize len = sizeof(key.digest);

	(void)stat("/proc/self/exe", &self);
	program = g_strdup_printf("%s %jd %jd.%09ld %s\n", GM_VERSION, (intmax_t)self.st_size,
				  (intmax_t)self.st_mtim.tv_sec, self.st_mtim.tv_nsec,
				  reader ? reader : "");
	g_checksum_update(sum, (const guchar *)program, -1);
	pp_capture_identify(view->capture->model->dir, PP_INDEX_FOLDER, sum, &key.capture_bytes);
	g_checksum_get_digest(sum, key.digest, &len);
	return key;
}

/* The sweep may add to the load maps, which a saved index does not contain. */
static uint64_t count_loads(const struct pp_model *model)
{
	uint64_t n = 0;

	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		n += process->maps ? process->maps->len : 0;
	}
	return n;
}

/* --- progress ------------------------------------------------------------------------------- */

static bool show(struct making *making, double share)
{
	int64_t now_ns = pp_clock_now_ns();

	if (now_ns - making->shown_ns < PICTURE_NS)
		return true;
	making->shown_ns = now_ns;
	return pp_browse_progress(making->screen, making->doing, making->view->capture->model->dir,
				  share, making->n_events);
}

static bool show_share(void *data, double share)
{
	return show(data, share);
}

static bool show_reading(void *data)
{
	struct making *making = data;
	const struct pp_model *model = making->view->capture->model;
	double span = (double)model->end_ns - (double)model->start_ns;
	int64_t last_ns;

	making->n_events = pp_index_builder_events(making->builder, &last_ns);
	if (model->start_ns == PP_TIME_UNKNOWN || span <= 0)
		return show(making, -1);
	return show(making, CLAMP(((double)last_ns - (double)model->start_ns) / span, 0, 1));
}

/* --- creation ------------------------------------------------------------------------------- */

static void take_event(void *data, const struct pp_event *event)
{
	pp_index_builder_event(((struct making *)data)->builder, event);
}

static int read_events(struct making *making, struct pp_error *err)
{
	struct pp_capture *capture = making->view->capture;
	uint64_t n_loads = count_loads(capture->model);
	guint n_damage = capture->damage->len;
	int ret;

	making->doing = "reading";
	ret = pp_events_read_while(capture, PP_INDEX_KINDS, take_event, show_reading, making, err);
	for (guint i = n_damage; i < capture->damage->len; i++)
		pp_index_builder_damage(making->builder, capture->damage->pdata[i]);
	if (ret == 0 && making->is_kept && count_loads(capture->model) != n_loads) {
		pp_error_add(&making->why, -ENOTSUP,
			     "modules were replaced by others at the same addresses");
		making->is_kept = false;
	}
	return ret;
}

static int keep(struct making *making, struct pp_index *index)
{
	const struct pp_index_progress progress = {show_share, making};
	struct pp_index_key now = key_of(making->view);

	making->doing = "writing the index of";
	if (memcmp(now.digest, making->key.digest, sizeof(now.digest)) != 0)
		return pp_error_add(&making->why, -EBUSY, "the capture has changed meanwhile");
	return pp_index_folder_keep(&making->folder, index, &making->key, &progress, &making->why);
}

static int make(struct making *making, struct pp_index **ret, struct pp_error *err)
{
	const struct pp_index_progress progress = {show_share, making};
	struct pp_index *index;
	int rc = read_events(making, err);

	if (rc < 0)
		return rc;
	making->doing = "sorting the events of";
	index = pp_index_builder_finish(making->builder, &progress);
	if (!index || (making->is_kept && keep(making, index) == -ECANCELED)) {
		pp_index_free(index);
		return pp_error_add(err, -ECANCELED, "stopped");
	}
	*ret = index;
	return 0;
}

/* Creates the index in files if the capture is large enough. */
static void begin(struct making *making)
{
	const struct pp_capture *capture = making->view->capture;
	int fds[PP_INDEX_FILES];

	making->folder = (struct pp_index_folder){-1, -1};
	/* Streams are mapped by the program, so their sizes and times need not change. */
	making->goes_on = pp_model_is_live(capture->model);
	if (making->key.capture_bytes >= LEAST_BYTES) {
		if (making->goes_on)
			pp_error_add(&making->why, -EBUSY, "the program is still running");
		else
			making->is_kept = pp_index_folder_new(capture->model->dir, &making->folder,
							      fds, &making->why) == 0;
	}
	making->builder = pp_index_builder_new(&making->view->context, capture->model,
					       making->is_kept ? fds : NULL);
}

static void add_damage(struct pp_capture *capture, const struct pp_index *index)
{
	const char *line;

	for (uint64_t at = 0; (line = pp_index_damage(index, &at));)
		g_ptr_array_add(capture->damage, pp_printable(g_strdup(line)));
}

int pp_browse_index(struct pp_screen *screen, struct pp_view *view, struct pp_index **ret,
		    char **ret_note, struct pp_error *err)
{
	struct pp_capture *capture = view->capture;
	struct making making = {.screen = screen, .view = view, .key = key_of(view)};
	int rc;

	*ret_note = NULL;
	*ret = making.key.capture_bytes < LEAST_BYTES
		   ? NULL
		   : pp_index_folder_read(capture->model->dir, &making.key, capture->model);
	if (*ret) {
		add_damage(capture, *ret);
		return 0;
	}
	begin(&making);
	rc = make(&making, ret, err);
	if (rc == 0 && making.why.causes) {
		g_autofree char *why = pp_error_text(&making.why);

		*ret_note = g_strdup_printf("the index is not saved: %s", why);
	} else if (rc == 0 && making.goes_on) {
		*ret_note = pp_model_live_text(capture->model);
	}
	pp_error_done(&making.why);
	pp_index_builder_free(making.builder);
	pp_index_folder_done(&making.folder);
	return rc;
}
