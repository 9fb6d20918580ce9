/* SPDX-License-Identifier: MIT */
/* The program is started by `gprof-mt record`, as by the user. */
#include "cli/live/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "replay/live/file.h"

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

/* All sections are stepped: a sample is of two certain ones. */
static const char *const sampled_settings[] = {"access.mode=sampled", "access.budget=100"};
static const char *const compiled_settings[] = {"access.mode=compiled"};

static void append_settings(GPtrArray *argv, const char *const *names, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		g_ptr_array_add(argv, g_strdup("--set"));
		g_ptr_array_add(argv, g_strdup(names[i]));
	}
}

static char **record_command(const struct pp_live_run *run)
{
	GPtrArray *argv = g_ptr_array_new();

	g_ptr_array_add(argv, g_strdup("/proc/self/exe"));
	g_ptr_array_add(argv, g_strdup("record"));
	g_ptr_array_add(argv, g_strdup("-q"));
	append_settings(argv, settings, G_N_ELEMENTS(settings));
	if (g_strcmp0(run->accesses, "sampled") == 0)
		append_settings(argv, sampled_settings, G_N_ELEMENTS(sampled_settings));
	else if (run->accesses)
		append_settings(argv, compiled_settings, G_N_ELEMENTS(compiled_settings));
	g_ptr_array_add(argv, g_strdup("-o"));
	g_ptr_array_add(argv, g_strdup(run->dir));
	g_ptr_array_add(argv, g_strdup("--"));
	for (char *const *word = run->command; *word; word++)
		g_ptr_array_add(argv, g_strdup(*word));
	g_ptr_array_add(argv, NULL);
	return (char **)g_ptr_array_free(argv, FALSE);
}

int pp_live_record(const struct pp_live_run *run, struct pp_measured *ret, struct pp_error *err)
{
	g_auto(GStrv) argv = record_command(run);
	g_auto(GStrv) env = g_get_environ();
	struct pp_measure how = {
	    .argv = argv, .output = run->output, .timeout_ns = run->timeout_ns};

	env = run->schedule ? g_environ_setenv(env, ST_SCHEDULE_VARIABLE, run->schedule, TRUE)
			    : g_environ_unsetenv(env, ST_SCHEDULE_VARIABLE);
	how.env = env;
	return pp_measure_run(&how, ret, err);
}

struct reading {
	struct pp_schedule_builder *builder;
	const struct pp_live_reader *reader; /* NULL: none */
};

static void take_event(void *data, const struct pp_event *event)
{
	const struct reading *reading = data;
	uint64_t op = UINT64_MAX;

	if (event->kind == PP_EVENT_SYNC) {
		pp_schedule_builder_event(reading->builder, event);
		op = pp_schedule_builder_ended(reading->builder);
	}
	if (reading->reader)
		reading->reader->event(reading->reader->data, event, op);
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

static int read_events(struct pp_live_recording *recording, const struct pp_live_reader *reader,
		       struct pp_error *err)
{
	struct reading reading = {pp_schedule_builder_new(&recording->view.namer), reader};
	unsigned kinds = PP_SCHEDULE_KINDS | (reader ? reader->kinds : 0);
	int rc;

	if (reader && reader->begin)
		reader->begin(reader->data, &recording->view.context);
	rc = pp_view_read(&recording->view, kinds, take_event, &reading, err);
	if (rc == 0)
		rc = check(&recording->view, err);
	if (rc == 0) {
		recording->schedule = pp_schedule_builder_finish(reading.builder, err);
		rc = recording->schedule ? 0 : -ENODATA;
	}
	pp_schedule_builder_free(reading.builder);
	return rc;
}

int pp_live_read_with(struct pp_live_recording *recording, const char *dir,
		      const struct pp_live_reader *reader, struct pp_error *err)
{
	int rc;

	*recording = (struct pp_live_recording){.run_ns = 0};
	rc = pp_view_open(&recording->view, dir, NULL, err);
	if (rc)
		return rc;
	rc = read_events(recording, reader, err);
	if (rc)
		pp_error_add(err, rc, "%s", dir);
	else
		recording->run_ns = run_time(recording->view.capture->model, recording->schedule);
	return rc;
}

int pp_live_read(struct pp_live_recording *recording, const char *dir, struct pp_error *err)
{
	return pp_live_read_with(recording, dir, NULL, err);
}

void pp_live_recording_done(struct pp_live_recording *recording)
{
	pp_schedule_free(recording->schedule);
	pp_view_done(&recording->view);
}

char *pp_live_outcome_text(const struct pp_schedule *schedule, const struct st_schedule *page,
			   const struct pp_live_recording *run)
{
	const struct st_schedule_outcome *outcome = &page->outcome;
	const GPtrArray *processes = run->view.capture ? run->view.capture->model->processes : NULL;
	g_autofree char *site = NULL;

	if (outcome->state == ST_SCHEDULE_UNUSED)
		return g_strdup("the program did not load libsync_trace.so");
	if (outcome->state == ST_SCHEDULE_KEPT && page->pair.is_set)
		return g_strdup("the program ended before both sections did");
	if (outcome->state == ST_SCHEDULE_KEPT)
		return g_strdup("kept");
	if (outcome->site && processes && processes->len)
		site =
		    run->view.namer.site(run->view.namer.data, processes->pdata[0], outcome->site);
	return pp_schedule_left_text(schedule, outcome, site);
}

char *pp_live_make_work(const char *keep, struct pp_error *err)
{
	char *work;

	if (keep && mkdir(keep, 0700)) {
		pp_error_add(err, -errno, "--keep %s: %s", keep, g_strerror(errno));
		return NULL;
	}
	work = keep ? g_strdup(keep) : g_dir_make_tmp("gprof-mt-replay-XXXXXX", NULL);
	if (!work)
		pp_error_add(err, -EIO, "cannot create a temporary directory");
	return work;
}
