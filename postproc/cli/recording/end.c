/* SPDX-License-Identifier: MIT */
/*
 * Reads the capture that has just been recorded, completes its files, and prints what was recorded,
 * what was lost, and where threads waited most.
 */
#include "cli/recording/end.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/recording/losses.h"
#include "cli/recording/notes.h"
#include "cli/recording/summary.h"
#include "cli/recording/waits.h"
#include "cli/view.h"
#include "core/text/printable.h"
#include "record/manifest.h"
#include "export/gmon/gmon.h"
#include "capture/capture.h"
#include "capture/live.h"
#include "analysis/unrecorded.h"

/*
 * Writes the gmon files that the program did not write itself; see [calls] gmon.  Returns the
 * number of threads that got none of their own because there are too many.
 */
static guint write_gmon_files(struct pp_run *run, const struct pp_capture *capture)
{
	const GPtrArray *processes = capture->model->processes;
	struct pp_gmon gmon;

	pp_gmon_write(capture->model, NULL, run->config->gmon_threads, run->dir_fd, true, &gmon);
	for (guint i = 0; i < gmon.gaps->len; i++) {
		const struct pp_gmon_gap *gap = &g_array_index(gmon.gaps, struct pp_gmon_gap, i);
		g_autofree char *what = g_strdup_printf("gmon files (%s)", gap->why);

		pp_run_add_loss(run, what, gap->path, gap->n_files);
	}
	if (gmon.n_failed) {
		g_autofree char *what = g_strdup_printf(
		    "gmon files from %s on (%s); make room, or choose another directory (-o)",
		    gmon.failed, g_strerror(-gmon.error));

		pp_run_add_loss(run, what, run->shown_dir, gmon.n_failed);
	}
	for (guint i = 0; i < processes->len; i++) {
		const struct pp_process *process = processes->pdata[i];

		if (process->is_live)
			pp_run_add_loss(run,
					"later calls not in its gmon files: the process still runs",
					process->folder, 1);
	}
	pp_gmon_done(&gmon);
	return gmon.n_without;
}

/* Counts the processes that reported that they could not write into the capture. */
static void note_unrecorded(struct pp_run *run, const struct pp_capture *capture)
{
	const GArray *reports = run->mailbox->unrecorded;

	for (guint i = 0; i < reports->len; i++) {
		const struct pp_unrecorded *report =
		    &g_array_index(reports, struct pp_unrecorded, i);
		g_autofree char *pid = g_strdup_printf("%d", report->pid);
		g_autofree char *what = pp_capture_unwritten_text(report->code);

		pp_capture_add_unwritten(capture->model, pid, report->code);
		pp_run_add_silent_loss(run, what, pid, 1);
	}
	if (run->mailbox->n_refused)
		pp_run_add_silent_loss(
		    run, "requests to record from processes outside this recording, refused",
		    run->shown_dir, run->mailbox->n_refused);
}

/*
 * Reads the runtime libraries' files.  Returns the line to print; NULL, and no capture, if nothing
 * is readable.  *ret_n_without is set to the result of write_gmon_files().
 */
static char *end_calls(struct pp_run *run, struct pp_capture **ret_capture, guint *ret_n_without)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_capture *capture;
	char *summary;

	pp_live_is_recorder();
	if (pp_capture_open(run->capture->dir, &capture, &err)) {
		pp_cli_fail(&err);
		return NULL;
	}
	pp_capture_end(capture, run->end_ns);
	if (run->mailbox)
		note_unrecorded(run, capture);
	summary = pp_summary_make(run, capture);
	if (run->config->calls_mode != GM_CALLS_OFF)
		*ret_n_without = write_gmon_files(run, capture);
	*ret_capture = capture;
	return summary;
}

/* Prints which part of the synchronization is recorded, if not all of it. */
static void note_mode(const struct pp_model *model)
{
	bool is_full;
	g_autofree char *mode = pp_unrecorded_mode(model, &is_full);

	if (mode && !is_full)
		pp_record_note("synchronization is recorded %s", mode);
}

static void note_ring(const struct pp_model *model)
{
	g_autofree char *text = pp_model_ring_text(model);

	if (text)
		pp_record_note("%s", text);
}

/* A mistyped name would be ignored silently. */
static void note_wrappers(struct pp_model *model)
{
	static const struct pp_symbols_options options = {.demangle = PP_DEMANGLE_SIMPLE};
	struct pp_symbols *symbols = pp_symbols_new(model, &options);
	g_auto(GStrv) names = pp_symbols_unknown_wrappers(symbols);

	for (char **name = names; name && *name; name++) {
		g_autofree char *text = pp_printable(g_strdup(*name));

		pp_record_note(
		    "names.wrappers: no function of the program or its libraries has the name "
		    "'%s'",
		    text);
	}
	pp_symbols_free(symbols);
}

/* Returns the section of the report that shows more; NULL: not known. */
static const char *note_waits(struct pp_capture *capture)
{
	const char *section = NULL;
	g_auto(GStrv) waits = pp_waits_describe(capture, &section);

	for (char **line = waits; line && *line; line++)
		pp_record_note("%s", *line);
	return section;
}

static void note_next(const char *dir, const char *section)
{
	bool is_default = g_str_equal(dir, PP_DEFAULT_CAPTURE);
	g_autofree char *quoted = g_shell_quote(dir);

	pp_record_note("next: gprof-mt report%s%s%s%s", is_default ? "" : " -i ",
		       is_default ? "" : quoted, section ? " " : "", section ? section : "");
}

void pp_record_end(struct pp_run *run, struct pp_lttng *lttng, const struct pp_gmon_out *gmon_out)
{
	struct pp_error err = PP_ERROR_INIT;
	int rc = pp_collector_end(run->collector);
	g_autofree char *summary = NULL;
	const char *section;
	struct pp_capture *capture = NULL;
	guint kernel_losses, n_without = 0;

	if (run->kernel_ended)
		run->kernel_ended(run->data);
	pp_losses_kernel(run, rc);
	if (lttng)
		pp_losses_lttng(run, lttng);
	kernel_losses = run->losses->len;
	summary = end_calls(run, &capture, &n_without);
	pp_losses_print(run, kernel_losses);
	if (pp_info_end(run, &err))
		pp_cli_fail(&err);
	/* Without it, readers do not notice files that are lost later. */
	if (capture)
		(void)pp_manifest_write(run->dir_fd, capture->model);
	if (capture && !pp_cli_is_quiet()) {
		pp_record_note("%s: %s%s", run->shown_dir, summary,
			       run->losses->len ? "" : "; complete");
		note_ring(capture->model);
		note_mode(capture->model);
		note_wrappers(capture->model);
		section = note_waits(g_steal_pointer(&capture));
		if (gmon_out && pp_gmon_out_written(gmon_out))
			pp_record_note("%s: the calls of all threads together, for gprof",
				       gmon_out->path);
		if (n_without)
			pp_record_note("%u threads have no gmon files of their own "
				       "(calls.gmon_threads=%" G_GUINT64_FORMAT
				       "); export --format gmon --what threads writes them",
				       n_without, run->config->gmon_threads);
		note_next(run->shown_dir, section);
	}
	pp_capture_free(capture);
}
