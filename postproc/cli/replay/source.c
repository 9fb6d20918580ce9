/* SPDX-License-Identifier: MIT */
/* A capture must be of one process, and complete unless gaps are allowed. */
#include "cli/replay/source.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/view.h"
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

	if (arguments->allow_gaps)
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

	for (guint i = 0; i < processes->len; i++)
		n += ((const struct pp_process *)processes->pdata[i])->dir != NULL;
	if (n == 1)
		return 0;
	return pp_error_add(err, -ENOTSUP,
			    "%s: %u processes were recorded, and one can be replayed",
			    view->capture->model->dir, n);
}

static struct pp_replay_model *build(const struct pp_cli_replay_arguments *arguments,
				     struct pp_view *view, struct pp_replay_gaps *ret_gaps,
				     struct pp_error *err)
{
	struct reading reading = {.last_ns = INT64_MIN};
	struct pp_replay_model *model = NULL;
	JsonObject *host = pp_json_object(view->capture->model->info, "host");
	int64_t cpus = pp_json_int(host, "usable_cpus", pp_json_int(host, "cpus", 1));
	uint32_t n_cpus = (uint32_t)CLAMP(cpus, 1, PP_CLI_REPLAY_MAX_CPUS);
	g_autofree char *wrong = NULL;

	if (check_processes(view, err))
		return NULL;
	reading.builder = pp_replay_builder_new(&view->context);
	if (pp_view_read(view, PP_REPLAY_KINDS, take_event, &reading, err) == 0)
		model =
		    pp_replay_builder_finish(reading.builder, n_cpus, reading.last_ns, ret_gaps);
	pp_replay_builder_free(reading.builder);
	if (!model)
		return NULL;
	wrong = pp_replay_check(model);
	if (wrong)
		pp_error_add(err, -ENODATA, "%s: %s", view->capture->model->dir, wrong);
	if (wrong || check_gaps(arguments, view, ret_gaps, err))
		g_clear_pointer(&model, pp_replay_model_free);
	return model;
}

static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

int pp_cli_replay_source_read(struct pp_cli_replay_source *source,
			      const struct pp_cli_replay_arguments *arguments, struct pp_error *err)
{
	struct pp_view view = {0};

	*source = (struct pp_cli_replay_source){.status = PP_EXIT_GOOD};
	if (is_file(arguments->path)) {
		source->model = pp_replay_read(arguments->path, err);
	} else {
		if (pp_view_open(&view, arguments->path, NULL, err) == 0)
			source->model = build(arguments, &view, &source->gaps, err);
		if (source->model)
			source->status = pp_view_print_damage(&view);
		pp_view_done(&view);
	}
	return source->model ? 0 : -EINVAL;
}

void pp_cli_replay_source_done(struct pp_cli_replay_source *source)
{
	g_clear_pointer(&source->model, pp_replay_model_free);
}
