/* SPDX-License-Identifier: MIT */
/* The program is started by `gprof-mt record`, as by the user. */
#include "cli/live/recording.h"

#include <errno.h>
#include <inttypes.h>

/* The types of operations that a schedule has. */
#define ORDERED_TYPES                                                                              \
	(1u << GM_SYNC_TYPE_mutex | 1u << GM_SYNC_TYPE_cond | 1u << GM_SYNC_TYPE_rwlock |          \
	 1u << GM_SYNC_TYPE_spin)

/* All operations of locks, and little else. */
static const char *const settings[] = {
    "sync.order=on",	  "sync.types=all", "sync.include=*",	    "sync.exclude=none",
    "sync.sink=native",	  "sync.paths=off", "sync.path_sample=off", "io.threshold=off",
    "kernel.source=none", "sample.hz=0",
};

static char **record_command(const char *dir, char *const *command)
{
	GPtrArray *argv = g_ptr_array_new();

	g_ptr_array_add(argv, g_strdup("/proc/self/exe"));
	g_ptr_array_add(argv, g_strdup("record"));
	g_ptr_array_add(argv, g_strdup("-q"));
	for (unsigned i = 0; i < G_N_ELEMENTS(settings); i++) {
		g_ptr_array_add(argv, g_strdup("--set"));
		g_ptr_array_add(argv, g_strdup(settings[i]));
	}
	g_ptr_array_add(argv, g_strdup("-o"));
	g_ptr_array_add(argv, g_strdup(dir));
	g_ptr_array_add(argv, g_strdup("--"));
	for (char *const *word = command; *word; word++)
		g_ptr_array_add(argv, g_strdup(*word));
	g_ptr_array_add(argv, NULL);
	return (char **)g_ptr_array_free(argv, FALSE);
}

int pp_live_record(char *const *command, const char *dir, const char *schedule, const char *output,
		   struct pp_measured *ret, struct pp_error *err)
{
	g_auto(GStrv) argv = record_command(dir, command);
	g_auto(GStrv) env = g_get_environ();
	struct pp_measure how = {.argv = argv, .output = output};

	env = schedule ? g_environ_setenv(env, ST_SCHEDULE_VARIABLE, schedule, TRUE)
		       : g_environ_unsetenv(env, ST_SCHEDULE_VARIABLE);
	how.env = env;
	return pp_measure_run(&how, ret, err);
}

static void take_event(void *data, const struct pp_event *event)
{
	pp_schedule_builder_event(data, event);
}

/* Returns 0 or -errno if the capture does not tell enough. */
static int check(const struct pp_view *view, struct pp_error *err)
{
	const struct pp_model *model = view->capture->model;
	unsigned n_processes = 0;
	bool is_partial = false;
	uint64_t n_lost = 0;

	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		n_processes += process->dir != NULL;
		is_partial |=
		    process->sync_objects_chosen || (process->sync_types_off & ORDERED_TYPES) != 0;
	}
	for (guint i = 0; i < model->threads->len; i++)
		n_lost += ((const struct pp_thread *)model->threads->pdata[i])->events_lost;
	if (n_processes != 1)
		return pp_error_add(err, -ENOTSUP,
				    "%u processes were recorded, and one can be replayed",
				    n_processes);
	if (is_partial)
		return pp_error_add(err, -ENODATA,
				    "not all locks were recorded: record without sync.types, "
				    "sync.include and sync.exclude");
	if (n_lost)
		return pp_error_add(err, -ENODATA, "%" PRIu64 " synch-events are lost", n_lost);
	return 0;
}

/* The last event stands for the end of threads that had not ended. */
static int64_t run_time(const struct pp_model *model, const struct pp_schedule *schedule)
{
	int64_t start_ns = INT64_MAX, end_ns = schedule->last_ns;

	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];

		if (thread->start_ns == PP_TIME_UNKNOWN)
			continue;
		start_ns = MIN(start_ns, thread->start_ns);
		end_ns = MAX(end_ns, thread->end_ns);
	}
	return MAX(end_ns - MIN(start_ns, end_ns), 0);
}

int pp_live_read(struct pp_live_recording *recording, const char *dir, struct pp_error *err)
{
	struct pp_schedule_builder *builder;
	int rc;

	*recording = (struct pp_live_recording){.run_ns = 0};
	rc = pp_view_open(&recording->view, dir, NULL, err);
	if (rc)
		return rc;
	builder = pp_schedule_builder_new(&recording->view.namer);
	rc = pp_view_read(&recording->view, PP_SCHEDULE_KINDS, take_event, builder, err);
	if (rc == 0)
		rc = check(&recording->view, err);
	if (rc == 0) {
		recording->schedule = pp_schedule_builder_finish(builder, err);
		rc = recording->schedule ? 0 : -ENODATA;
	}
	if (rc)
		pp_error_add(err, rc, "%s", dir);
	else
		recording->run_ns = run_time(recording->view.capture->model, recording->schedule);
	pp_schedule_builder_free(builder);
	return rc;
}

void pp_live_recording_done(struct pp_live_recording *recording)
{
	pp_schedule_free(recording->schedule);
	pp_view_done(&recording->view);
}
