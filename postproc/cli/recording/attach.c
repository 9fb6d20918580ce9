/* SPDX-License-Identifier: MIT */
/*
 * Attaches to a process, records, and prints the summary.  Until info.json is written, an error
 * removes the capture; from then on, the recording ends normally.
 */
#include "cli/recording/attach.h"

#include <errno.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/recording/end.h"
#include "cli/recording/losses.h"
#include "cli/recording/new_capture.h"
#include "cli/recording/notes.h"
#include "cli/recording/snapshots.h"
#include "core/clock.h"
#include "core/text/duration.h"
#include "core/text/printable.h"
#include "record/attach/attach.h"
#include "record/discard.h"

/* The parts of an attached recording. */
struct attachment {
	struct pp_run *run;
	struct pp_target target;
	struct pp_target_threads threads;
	struct pp_target_folder folder;
	struct pp_target_samples samples;
	struct pp_collector collector;
	struct pp_attached attached;
	char *no_samples; /* why there are none, although they were asked for; NULL: there are */
};

static void note_samples(const struct attachment *self)
{
	if (self->no_samples)
		pp_record_note("no samples: %s; see gprof-mt doctor", self->no_samples);
	else if (self->samples.rings && self->samples.how.no_kernel)
		pp_record_note("CPU time in the kernel has no samples: this user may not take them "
			       "(kernel.perf_event_paranoid)");
}

static void note_begin(const struct attachment *self, int64_t duration_ns)
{
	g_autofree char *name = g_strjoinv(" ", self->target.command);
	g_autofree char *age = pp_duration_text(self->target.age_ns);
	g_autofree char *duration = pp_duration_text(duration_ns);
	unsigned n = self->threads.found->len;

	pp_record_note("attached to process %d (%s), which has run for %s: %u thread%s; Ctrl-C%s%s "
		       "ends the recording",
		       self->target.pid, pp_printable(name), age, n, n == 1 ? "" : "s",
		       duration_ns ? ", or the end of " : "", duration_ns ? duration : "");
	pp_record_note(
	    "no call graph, no synchronization: the process already runs; scheduling%s%s "
	    "recorded",
	    self->run->config->level == GM_LEVEL_FULL ? ", system calls, faults" : "",
	    self->samples.rings				? " and samples are"
	    : self->run->config->level == GM_LEVEL_FULL ? " are"
							: " is");
	note_samples(self);
	pp_record_note_kernel(self->run);
}

static void add_unseen(const struct attachment *self)
{
	g_autofree char *where = g_strdup_printf("%d", self->target.pid);
	g_autofree char *what = g_strdup_printf("threads without scheduling events (%s)",
						g_strerror(-self->threads.error));
	guint n_unseen = g_hash_table_size(self->threads.unseen);

	if (!n_unseen)
		return;
	pp_run_add_loss(self->run, what, where, n_unseen);
	pp_losses_print(self->run, 0);
}

static void add_unknown(const struct attachment *self)
{
	g_autofree char *where = g_strdup_printf("%d", self->target.pid);

	if (self->folder.n_unknown)
		pp_run_add_silent_loss(
		    self->run, "loaded files that cannot be read: no names for their addresses",
		    where, self->folder.n_unknown);
}

static int open_collector(struct attachment *self, struct pp_error *err)
{
	static const struct pp_collector_lttng asked = {
	    .why = "LTTng's kernel tracer: not with --pid"};
	static const struct pp_collector_lttng not_asked;
	const struct gm_config *config = self->run->config;
	const struct gm_capture *capture = self->run->capture;

	pp_collector_open(&self->collector, config,
			  config->kernel == GM_KERNEL_LTTNG ? &asked : &not_asked, self->target.pid,
			  self->run->dir_fd, capture->clock_uuid, capture->clock_offset_ns);
	self->run->collector = &self->collector;
	if (self->collector.source != GM_KERNEL_NONE)
		return 0;
	pp_error_add(
	    err, -EPERM,
	    "cannot attach to process %d: no source of kernel events is permitted: %s; see "
	    "gprof-mt doctor",
	    self->target.pid, self->collector.why);
	pp_collector_done(&self->collector);
	return -EPERM;
}

/* Without samples, the other records are still worth something. */
static void open_samples(struct attachment *self)
{
	struct pp_error err = PP_ERROR_INIT;

	if (pp_target_samples_open(&self->samples, self->run->config, &self->target, &err)) {
		self->no_samples = pp_error_text(&err);
		pp_run_add_silent_loss(self->run, "no samples", self->no_samples, 1);
	}
	pp_error_done(&err);
}

/* Facts about the samples that the files do not tell. */
static void add_sample_losses(const struct attachment *self)
{
	g_autofree char *where = g_strdup_printf("%d", self->target.pid);

	if (self->samples.rings && self->samples.how.no_kernel)
		pp_run_add_silent_loss(self->run,
				       "no samples of CPU time in the kernel, which this user may "
				       "not take (kernel.perf_event_paranoid)",
				       where, 1);
	if (!self->samples.n_after_exec)
		return;
	pp_run_add_loss(self->run, "samples after an exec", where, self->samples.n_after_exec);
	pp_losses_print(self->run, self->run->losses->len - 1);
}

static int begin(struct attachment *self, struct pp_error *err)
{
	struct pp_run *run = self->run;
	int rc = open_collector(self, err);

	if (rc)
		return rc;
	open_samples(self);
	pp_attach_begin(run, &self->target, &self->threads, &self->samples);
	if (!self->threads.found->len || pp_target_has_ended(&self->target))
		rc = pp_error_add(err, -ESRCH, "process %d ended while gprof-mt attached to it",
				  self->target.pid);
	if (rc == 0) {
		add_unseen(self);
		rc = pp_info_begin(run, err);
	}
	if (rc == 0)
		rc = pp_target_folder_write(&self->folder, run->dir_fd, &self->target,
					    &self->threads, run->start_ns,
					    pp_target_samples_period_ns(&self->samples), err);
	if (rc == 0)
		pp_target_samples_begin(&self->samples, &self->folder, &self->threads, run->capture,
					run->start_ns);
	if (rc) {
		pp_target_folder_end(&self->folder, run->start_ns);
		pp_target_samples_done(&self->samples);
		pp_target_threads_done(&self->threads);
		pp_collector_done(&self->collector);
	}
	return rc;
}

/* On SIGUSR2. */
static void take_asked(void *snapshots)
{
	(void)pp_snapshots_ask(snapshots, "SIGUSR2");
}

static void end_snapshots(void *snapshots)
{
	pp_snapshots_end(snapshots);
}

static int run_recording(struct attachment *self, struct pp_run *run, int64_t duration_ns)
{
	struct pp_error err = PP_ERROR_INIT;

	self->run = run;
	if (begin(self, &err))
		return pp_cli_fail(&err);
	note_begin(self, duration_ns);
	self->attached.end = pp_attach_wait(&self->target, &self->collector, &self->samples,
					    run->start_ns, duration_ns, take_asked, run->data);
	run->end_ns = pp_clock_now_ns();
	run->end_us = g_get_real_time();
	pp_target_samples_end(&self->samples);
	pp_target_folder_end(&self->folder, run->end_ns);
	add_unknown(self);
	add_sample_losses(self);
	pp_record_end(run, NULL, NULL);
	pp_target_samples_done(&self->samples);
	pp_target_threads_done(&self->threads);
	pp_collector_done(&self->collector);
	return PP_EXIT_GOOD;
}

/* Only the kernel's events and samples are recorded. */
static void leave_out(struct gm_config *config)
{
	config->calls_mode = GM_CALLS_OFF;
	config->sync_mode = GM_SYNC_OFF;
	config->access_mode = GM_ACCESS_OFF;
}

static int record(struct attachment *self, int64_t duration_ns, struct gm_config *config)
{
	g_autofree struct gm_capture *capture = g_new0(struct gm_capture, 1);
	g_autofree char *shown_dir = g_strdup(config->dir);
	g_autoptr(GPtrArray) losses = pp_losses_new();
	struct pp_error err = PP_ERROR_INIT;
	struct pp_discard discard;
	struct pp_snapshots snapshots;
	struct pp_run run = {
	    .kernel_ended = end_snapshots,
	    .data = &snapshots,
	    .argv = self->target.command,
	    .config = config,
	    .capture = capture,
	    .shown_dir = shown_dir,
	    .dir_fd = -1,
	    .losses = losses,
	    .attached = &self->attached,
	};
	int status;

	pp_discard_begin(&discard, config->dir);
	if (pp_record_make_capture(config, capture, &run, &err)) {
		pp_discard_undo(&discard);
		pp_discard_end(&discard);
		return pp_cli_fail(&err);
	}
	pp_snapshots_begin(&snapshots, capture->dir, shown_dir);
	status = run_recording(self, &run, duration_ns);
	/* If it could not attach. */
	if (snapshots.pool)
		pp_snapshots_end(&snapshots);
	pp_record_end_capture(capture, &run, &discard, status == PP_EXIT_GOOD);
	return status;
}

int pp_record_attach(pid_t pid, int64_t duration_ns, struct gm_config *config)
{
	struct attachment self = {.folder = {.dir_fd = -1, .threads_fd = -1}, .samples.dir_fd = -1};
	struct pp_error err = PP_ERROR_INIT;
	int status;

	leave_out(config);
	if (pp_target_open(pid, &self.target, &err))
		return pp_cli_fail(&err);
	self.attached.cwd = self.target.cwd;
	self.attached.age_ns = self.target.age_ns;
	status = pp_attach_signals(&err) ? pp_cli_fail(&err) : record(&self, duration_ns, config);
	pp_target_done(&self.target);
	g_free(self.no_samples);
	return status;
}
