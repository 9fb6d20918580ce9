/* SPDX-License-Identifier: MIT */
/* A capture must be of one process, and complete unless gaps are allowed. */
#include "cli/replay/source.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "calls/survey.h"
#include "cli/commands.h"
#include "cli/operation_cost.h"
#include "cli/view.h"
#include "core/text/duration.h"
#include "core/text/json.h"
#include "replay/model_file.h"

struct reading {
	struct pp_replay_builder *builder;
	int64_t last_ns;
};

static void take_event(void *data, const struct pp_event *event)
{
	struct reading *reading = data;

	reading->last_ns = MAX(reading->last_ns, event->time_ns);
	pp_replay_builder_event(reading->builder, event);
}

/* Returns 0 or -errno if the capture does not tell enough. */
static int check_gaps(const struct pp_cli_replay_arguments *arguments, const struct pp_view *view,
		      const struct pp_replay_gaps *gaps, struct pp_error *err)
{
	const char *dir = view->capture->model->dir;

	if (arguments->allow_gaps || arguments->check)
		return 0;
	if (gaps->only_counted)
		return pp_error_add(err, -ENODATA,
				    "%s: %" PRIu64
				    " threads have only their waits recorded: record with "
				    "--set sync.mode=all, or use --allow-gaps",
				    dir, gaps->only_counted);
	if (gaps->lost_events)
		return pp_error_add(err, -ENODATA,
				    "%s: %" PRIu64 " synch-events are lost: use --allow-gaps", dir,
				    gaps->lost_events);
	return 0;
}

static int check_processes(const struct pp_view *view, struct pp_error *err)
{
	const GPtrArray *processes = view->capture->model->processes;
	unsigned n = 0;

	if (pp_model_is_attached(view->capture->model))
		return pp_error_add(err, -ENOTSUP,
				    "%s: gprof-mt attached to a running process, whose "
				    "synchronization is not recorded: nothing can be replayed",
				    view->capture->model->dir);
	for (guint i = 0; i < processes->len; i++)
		n += ((const struct pp_process *)processes->pdata[i])->dir != NULL;
	if (n == 1)
		return 0;
	return pp_error_add(err, -ENOTSUP,
			    "%s: %u processes were recorded, and one can be replayed",
			    view->capture->model->dir, n);
}

/* The functions that changes make faster. */
static GPtrArray *functions_of(const struct pp_cli_replay_arguments *arguments)
{
	GPtrArray *functions = g_ptr_array_new();

	for (guint i = 0; i < arguments->changes->len; i++) {
		const struct pp_change *change = arguments->changes->pdata[i];

		if (change->kind == PP_CHANGE_FASTER)
			g_ptr_array_add(functions, change->subject);
	}
	return functions;
}

/* True if the changes need the accesses of sections, and the capture has them. */
static bool wants_accesses(const struct pp_cli_replay_arguments *arguments,
			   const struct pp_view *view)
{
	bool is_wanted = arguments->rank || arguments->write || arguments->sets;

	for (guint i = 0; i < arguments->changes->len; i++)
		is_wanted |= pp_change_needs_accesses(arguments->changes->pdata[i]);
	return is_wanted && pp_view_has_accesses(view);
}

/* True if a change is about the order of the accesses. */
static bool wants_spans(const struct pp_cli_replay_arguments *arguments)
{
	bool is_wanted = arguments->write != NULL;

	for (guint i = 0; i < arguments->changes->len; i++)
		is_wanted |= pp_change_needs_spans(arguments->changes->pdata[i]);
	return is_wanted;
}

/* Refuses a part of the time in which the recorded program did not run. */
static int check_time(const struct pp_cli_replay_arguments *arguments, const struct pp_view *view,
		      struct pp_error *err)
{
	const struct pp_model *model = view->capture->model;
	int64_t length_ns = model->end_ns - pp_model_origin(model);
	g_autofree char *length = NULL;

	if (!arguments->has_time ||
	    (arguments->from_ns < arguments->to_ns && arguments->from_ns < length_ns))
		return 0;
	length = pp_duration_text(length_ns);
	return pp_error_add(err, -ENODATA, "%s: --time selects nothing: the recording lasts %s",
			    model->dir, length);
}

/* True if a thread of the model runs or sleeps. */
static bool has_any_time(const struct pp_replay_model *model)
{
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_replay_thread *thread = model->threads->pdata[i];

		for (guint k = 0; k < thread->steps->len; k++) {
			const struct pp_replay_step *step =
			    &g_array_index(thread->steps, struct pp_replay_step, k);

			if (step->cpu_ns || (step->kind == PP_REPLAY_SLEEP && step->sleep_ns))
				return true;
		}
	}
	return false;
}

/* Refuses a part of the time in which no thread ran, whose replay would take no time. */
static int check_part(const struct pp_cli_replay_arguments *arguments, const struct pp_view *view,
		      const struct pp_replay_model *part, struct pp_error *err)
{
	const struct pp_model *model = view->capture->model;
	int64_t first_ns = INT64_MAX;
	g_autofree char *first = NULL;

	if (!arguments->has_time || has_any_time(part))
		return 0;
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];

		if (thread->start_ns != PP_TIME_UNKNOWN)
			first_ns = MIN(first_ns, thread->start_ns);
	}
	if (first_ns == INT64_MAX || first_ns - pp_model_origin(model) < arguments->to_ns)
		return pp_error_add(err, -ENODATA, "%s: no thread ran within --time", model->dir);
	first = pp_duration_text(first_ns - pp_model_origin(model));
	return pp_error_add(err, -ENODATA,
			    "%s: no thread ran within --time: the first one began at %s",
			    model->dir, first);
}

static bool has_returns(const void *data, uint32_t serial)
{
	return pp_calls_survey_has_returns(data, serial);
}

/* A builder that takes what the changes need; kinds of events are added. */
static struct pp_replay_builder *new_builder(const struct pp_cli_replay_arguments *arguments,
					     const struct pp_view *view, const GPtrArray *functions,
					     const struct pp_calls_survey *survey, unsigned *kinds)
{
	struct pp_replay_builder *builder = pp_replay_builder_new(&view->context);

	if (functions->len)
		pp_replay_builder_share(builder, functions);
	if (survey) {
		pp_replay_builder_call_times(builder, functions, has_returns, survey);
		*kinds |= PP_CALL_KINDS;
	}
	if (arguments->has_time)
		pp_replay_builder_cut(builder, arguments->from_ns, arguments->to_ns);
	if (wants_accesses(arguments, view))
		pp_replay_builder_accesses(builder, wants_spans(arguments));
	return builder;
}

static struct pp_replay_model *build(const struct pp_cli_replay_arguments *arguments,
				     struct pp_view *view, struct pp_cli_replay_source *source,
				     struct pp_error *err)
{
	struct reading reading = {.last_ns = INT64_MIN};
	struct pp_replay_model *model = NULL;
	JsonObject *host = pp_json_object(view->capture->model->info, "host");
	int64_t cpus = pp_json_int(host, "usable_cpus", pp_json_int(host, "cpus", 1));
	uint32_t n_cpus = (uint32_t)CLAMP(cpus, 1, PP_CLI_REPLAY_MAX_CPUS);
	g_autoptr(GPtrArray) functions = NULL;
	g_autofree char *wrong = NULL;
	struct pp_calls_survey *survey = NULL;
	unsigned kinds = PP_REPLAY_KINDS;

	if (check_processes(view, err) || check_time(arguments, view, err) ||
	    (arguments->sets && pp_view_check_accesses(view, err)))
		return NULL;
	functions = functions_of(arguments);
	if (functions->len && view->context.has_calls)
		survey = pp_calls_survey_new(view->capture, true);
	reading.builder = new_builder(arguments, view, functions, survey, &kinds);
	if (pp_view_read(view, kinds, take_event, &reading, err) == 0)
		model = pp_replay_builder_finish(reading.builder, n_cpus, reading.last_ns,
						 &source->gaps);
	if (model && arguments->sets)
		source->sets = pp_replay_builder_sets(reading.builder);
	if (model)
		source->cut = pp_replay_builder_cut_model(reading.builder, model);
	pp_replay_builder_free(reading.builder);
	pp_calls_survey_free(survey);
	if (!model)
		return NULL;
	wrong = pp_replay_check(model);
	if (wrong)
		pp_error_add(err, -ENODATA, "%s: %s", view->capture->model->dir, wrong);
	if (wrong || check_gaps(arguments, view, &source->gaps, err) ||
	    check_part(arguments, view, model, err))
		g_clear_pointer(&model, pp_replay_model_free);
	return model;
}

static void read_command(struct pp_cli_replay_source *source, JsonObject *info)
{
	JsonArray *words = pp_json_array(info, "command");
	guint n = words ? json_array_get_length(words) : 0;

	source->cwd = g_strdup(pp_json_string(info, "cwd"));
	if (n == 0)
		return;
	source->command = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < n; i++)
		g_ptr_array_add(source->command, g_strdup(pp_json_element_string(words, i) ?: ""));
	g_ptr_array_add(source->command, NULL);
}

/*
 * Sets the cost of recording an operation: as it was given; otherwise of a capture of this machine,
 * as it is measured now, and of a model, as the file tells.
 */
static void set_cost(const struct pp_cli_replay_arguments *arguments, JsonObject *info,
		     struct pp_cli_replay_source *source)
{
	const char *host = info ? pp_json_string(pp_json_object(info, "host"), "hostname") : NULL;
	struct pp_error err = PP_ERROR_INIT;
	double ns;

	if (arguments->cost_ns >= 0) {
		source->model->recording_ns = arguments->cost_ns;
	} else if (host && strcmp(host, g_get_host_name()) != 0) {
		source->unknown_cost =
		    g_strdup_printf("the capture is of %s, whose cost --cost gives", host);
	} else if (info && pp_operation_cost_measure(&ns, &err)) {
		source->unknown_cost = pp_error_text(&err);
		pp_error_done(&err);
	} else if (info) {
		source->model->recording_ns = (int64_t)round(ns);
	}
}

bool pp_cli_replay_is_model(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

int pp_cli_replay_source_read(struct pp_cli_replay_source *source,
			      const struct pp_cli_replay_arguments *arguments, struct pp_error *err)
{
	struct pp_view view = {0};

	*source = (struct pp_cli_replay_source){.status = PP_EXIT_GOOD};
	if (pp_cli_replay_is_model(arguments->path)) {
		if (arguments->has_time)
			pp_error_add(
			    err, -EINVAL,
			    "%s: a model has no times of the recording: --time needs a capture",
			    arguments->path);
		else
			source->model = pp_replay_read(arguments->path, err);
		if (source->model)
			set_cost(arguments, NULL, source);
	} else {
		if (pp_view_open(&view, arguments->path, NULL, err) == 0)
			source->model = build(arguments, &view, source, err);
		if (source->model) {
			read_command(source, view.capture->model->info);
			set_cost(arguments, view.capture->model->info, source);
			if (!arguments->is_quiet)
				source->status = pp_view_print_damage(&view);
		}
		pp_view_done(&view);
	}
	return source->model ? 0 : -EINVAL;
}

void pp_cli_replay_source_done(struct pp_cli_replay_source *source)
{
	pp_cli_replay_outcome_done(&source->same);
	g_free(source->unknown_cost);
	g_clear_pointer(&source->cut.held, g_ptr_array_unref);
	g_clear_pointer(&source->model, pp_replay_model_free);
	g_clear_pointer(&source->sets, g_array_unref);
	g_clear_pointer(&source->command, g_ptr_array_unref);
	g_free(source->cwd);
}
