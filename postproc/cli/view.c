/* SPDX-License-Identifier: MIT */
/* Opens a capture, reads its events for the passes, and prints its damage. */
#include "cli/view.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "core/text/printable.h"
#include "events/events.h"
#include "capture/manifest.h"
#include "capture/traces.h"
#include "analysis/select.h"
#include "analysis/thread_routines.h"

/* Lines of damage on stderr; the quality section shows all of it. */
#define MAX_DAMAGE_LINES 5

void pp_view_begin(struct pp_view *view, struct pp_capture *capture, GHashTable *options,
		   const struct pp_symbols_options *symbols)
{
	struct pp_kernel_abilities kernel;

	*view = (struct pp_view){.capture = capture};
	pp_kernel_abilities(view->capture, &kernel);
	view->symbols = pp_symbols_new(view->capture->model, symbols);
	view->namer = pp_symbols_namer(view->symbols);
	pp_name_routines(view->capture->model, &view->namer);
	view->context = (struct pp_pass_context){
	    .model = view->capture->model,
	    .namer = &view->namer,
	    .has_kernel = kernel.has_events,
	    .has_switch_pairs = kernel.has_switch_pairs,
	    .has_wakings = kernel.has_wakings,
	    .has_calls = capture->histories->len > 0,
	    .options = options,
	};
	if (pp_model_begins_late(view->capture->model)) {
		view->of_ring = pp_selection_new();
		pp_select_of_ring(view->of_ring, view->capture->model);
		view->context.selection = view->of_ring;
	}
}

int pp_view_open(struct pp_view *view, const char *dir, GHashTable *options, struct pp_error *err)
{
	struct pp_capture *capture;
	int ret;

	*view = (struct pp_view){0};
	pp_cli_progress_start();
	ret = pp_capture_open(dir, &capture, err);
	if (ret == 0)
		pp_view_begin(view, capture, options, pp_cli_symbols());
	return ret;
}

bool pp_view_has_accesses(const struct pp_view *view)
{
	const GPtrArray *processes = view->capture->model->processes;

	for (guint i = 0; i < processes->len; i++)
		if (((const struct pp_process *)processes->pdata[i])->accesses != PP_ACCESSES_NONE)
			return true;
	return false;
}

int pp_view_check_accesses(const struct pp_view *view, struct pp_error *err)
{
	return pp_view_has_accesses(view)
		   ? 0
		   : pp_error_add(
			 err, -ENODATA,
			 "%s has no memory accesses of critical sections: gprof-mt-predict(1) "
			 "tells how to record them",
			 view->capture->model->dir);
}

/* True if threads may have changed names without recording it. */
static bool has_late_names(const struct pp_model *model)
{
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];

		/* main() rarely renames its thread, and its end is not recorded. */
		if (!thread->ended && thread->tid != thread->process->pid)
			return true;
	}
	return false;
}

int pp_view_name_threads(struct pp_view *view, struct pp_error *err)
{
	const struct pp_selection *selection = view->context.selection;

	return (selection && selection->threads->len) || has_late_names(view->capture->model)
		   ? pp_events_name_threads(view->capture, err)
		   : 0;
}

/* Makes sure that threads have their last names; see pp_view_read(). */
static int name_before(struct pp_view *view, unsigned *kinds, struct pp_error *err)
{
	struct pp_capture *capture = view->capture;
	const struct pp_selection *selection = view->context.selection;

	if (selection && selection->threads->len)
		return pp_events_name_threads(capture, err);
	if (!capture->names_known && has_late_names(capture->model))
		*kinds |= PP_EVENT_MASK(PP_EVENT_EXIT);
	return 0;
}

int pp_view_read(struct pp_view *view, unsigned kinds,
		 void (*take)(void *data, const struct pp_event *event), void *data,
		 struct pp_error *err)
{
	return pp_view_read_while(view, kinds, take, NULL, data, err);
}

int pp_view_read_while(struct pp_view *view, unsigned kinds,
		       void (*take)(void *data, const struct pp_event *event),
		       bool (*go_on)(void *data), void *data, struct pp_error *err)
{
	int ret = name_before(view, &kinds, err);

	if (ret == 0)
		ret = pp_events_read_while(view->capture, kinds, take, go_on, data, err);
	if (ret == 0)
		pp_manifest_check(view->capture);
	return ret;
}

int pp_view_read_apart(struct pp_view *view, unsigned kinds,
		       void (*take)(void *data, const struct pp_event *event), void *data,
		       struct pp_error *err)
{
	int ret = name_before(view, &kinds, err);

	if (ret == 0)
		ret = pp_events_read_apart(view->capture, kinds, take, data, err);
	if (ret == 0)
		pp_manifest_check(view->capture);
	return ret;
}

/* Runs the events through view->passes. */
static int run_passes(struct pp_view *view, struct pp_error *err)
{
	unsigned kinds = pp_pass_set_kinds(view->passes);

	return pp_pass_set_calls_apart(view->passes)
		   ? pp_view_read_apart(view, kinds, pp_pass_set_event, view->passes, err)
		   : pp_view_read(view, kinds, pp_pass_set_event, view->passes, err);
}

int pp_view_run(struct pp_view *view, const char *const *names, unsigned n_names,
		struct pp_error *err)
{
	const struct pp_model *model = view->capture->model;
	int ret;

	view->passes = pp_pass_set_new(&view->context, names, n_names);
	ret = run_passes(view, err);
	if (ret < 0)
		return ret;
	pp_pass_set_finish(view->passes, model->end_ns);
	return 0;
}

struct bounded {
	struct pp_pass_set *passes;
	bool (*go_on)(void *data);
	void *data;
	int64_t last_ns;
};

static void take_bounded(void *data, const struct pp_event *event)
{
	struct bounded *self = data;

	self->last_ns = event->time_ns;
	pp_pass_set_event(self->passes, event);
}

static bool bounded_goes_on(void *data)
{
	const struct bounded *self = data;

	return !self->go_on || self->go_on(self->data);
}

int pp_view_run_while(struct pp_view *view, const char *const *names, unsigned n_names,
		      bool (*go_on)(void *data), void *data, int64_t *ret_end_ns,
		      struct pp_error *err)
{
	const struct pp_model *model = view->capture->model;
	struct bounded bounded = {.go_on = go_on, .data = data, .last_ns = pp_model_origin(model)};
	int ret;

	view->passes = bounded.passes = pp_pass_set_new(&view->context, names, n_names);
	ret = pp_events_read_while(view->capture, pp_pass_set_kinds(view->passes), take_bounded,
				   bounded_goes_on, &bounded, err);
	if (ret < 0 && ret != -ECANCELED)
		return ret;
	*ret_end_ns = ret < 0 ? bounded.last_ns : PP_TIME_UNKNOWN;
	view->context.is_cut = ret < 0;
	pp_pass_set_finish(view->passes, ret < 0 ? bounded.last_ns : model->end_ns);
	return 0;
}

int pp_view_run_windows(struct pp_view *view, const char *const *names, unsigned n_names,
			struct pp_windows *windows, uint64_t max_bytes, bool (*go_on)(void *data),
			void *data, struct pp_error *err)
{
	const struct pp_model *model = view->capture->model;
	struct bounded bounded = {.go_on = go_on, .data = data, .last_ns = pp_model_origin(model)};
	int ret;

	view->context.selection->by |= PP_SELECT_TIME;
	view->context.selection->windows = windows;
	view->passes = bounded.passes = pp_pass_set_new(&view->context, names, n_names);
	ret = pp_events_read_windows(view->capture, pp_pass_set_kinds(view->passes), windows,
				     max_bytes, take_bounded, bounded_goes_on, &bounded, err);
	if (ret == -ECANCELED)
		pp_windows_cut(windows, pp_model_origin(model), bounded.last_ns);
	else if (ret < 0)
		return ret;
	view->context.is_cut = ret < 0;
	pp_pass_set_finish(view->passes, ret < 0 ? bounded.last_ns : model->end_ns);
	return 0;
}

void pp_view_check_wrappers(struct pp_view *view)
{
	g_auto(GStrv) names = pp_symbols_unknown_wrappers(view->symbols);

	for (char **name = names; name && *name; name++) {
		g_autofree char *text = pp_printable(g_strdup(*name));

		pp_model_add_problem(view->capture->model,
				     "names.wrappers: no function has this name", text, 0);
	}
}

int pp_view_print_damage(const struct pp_view *view)
{
	const GPtrArray *damage = view->capture->damage;
	g_autofree char *live = pp_model_live_text(view->capture->model);
	g_autofree char *ring = pp_model_ring_text(view->capture->model);

	pp_cli_progress_stop();
	if (live)
		fprintf(stderr, "gprof-mt: %s: %s\n",
			view->name ? view->name : view->capture->model->dir, live);
	if (ring)
		fprintf(stderr, "gprof-mt: %s: %s\n",
			view->name ? view->name : view->capture->model->dir, ring);
	for (guint i = 0; i < damage->len && i < MAX_DAMAGE_LINES; i++)
		fprintf(stderr, "gprof-mt: %s%s%s\n", view->name ? view->name : "",
			view->name ? ": " : "", (const char *)damage->pdata[i]);
	if (damage->len > MAX_DAMAGE_LINES)
		fprintf(stderr, "gprof-mt: and %u more: see `gprof-mt report -i %s quality`\n",
			damage->len - MAX_DAMAGE_LINES, view->capture->model->dir);
	return damage->len ? PP_EXIT_FAILED : PP_EXIT_GOOD;
}

void pp_view_done(struct pp_view *view)
{
	pp_cli_progress_stop();
	pp_pass_set_free(view->passes);
	pp_symbols_free(view->symbols);
	pp_selection_free(view->of_ring);
	pp_capture_free(view->capture);
	*view = (struct pp_view){0};
}

static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

int pp_cli_print(const GString *text)
{
	struct pp_error err = PP_ERROR_INIT;

	/* A pager writes to the terminal, too. */
	if (!is_file(STDOUT_FILENO))
		pp_cli_progress_stop();
	if (fwrite(text->str, 1, text->len, stdout) == text->len && fflush(stdout) == 0)
		return PP_EXIT_GOOD;
	pp_error_add(&err, -errno, "standard output: %s", g_strerror(errno));
	return pp_cli_fail(&err);
}

void pp_cli_print_batch(GString *text, size_t least, int *status)
{
	if (text->len < least)
		return;
	if (*status == PP_EXIT_GOOD)
		*status = pp_cli_print(text);
	g_string_truncate(text, 0);
}
