/* SPDX-License-Identifier: MIT */
/* Opens the capture anew, and reads one window of its events. */
#include "cli/monitor/snapshot.h"

#include <errno.h>

#include "analysis/select.h"
#include "capture/live.h"
#include "capture/traces.h"
#include "cli/options.h"
#include "events/events.h"

static const char *const of_top[] = {"locks", "waiting", "io"};

/* Keeps the synchronization events only. */
static void leave_out_others(struct pp_snapshot *snapshot)
{
	GPtrArray *traces = snapshot->view.capture->traces;

	for (guint i = traces->len; i-- > 0;) {
		const struct pp_trace *trace = traces->pdata[i];

		if (!trace->process || trace->is_samples || trace->is_accesses)
			g_ptr_array_remove_index(traces, i);
		else
			snapshot->bytes += pp_trace_bytes(trace);
	}
}

static int read_window(struct pp_snapshot *snapshot, const struct pp_snapshot_part *part,
		       struct pp_error *err)
{
	struct pp_view *view = &snapshot->view;
	const struct pp_model *model = view->capture->model;

	snapshot->until_ns = snapshot->is_live ? model->until_ns : model->end_ns + 1;
	snapshot->from_ns = CLAMP(part->from_ns, pp_model_origin(model), snapshot->until_ns - 1);
	pp_windows_init(&snapshot->windows, 1, snapshot->from_ns, snapshot->until_ns,
			snapshot->until_ns - snapshot->from_ns);
	snapshot->selection = pp_selection_new();
	snapshot->selection->model = model;
	snapshot->selection->min_wait_ns = part->min_wait_ns;
	view->context.selection = snapshot->selection;
	return pp_view_run_windows(view, part->passes, part->n_passes, &snapshot->windows,
				   UINT64_MAX, NULL, NULL, err);
}

int pp_snapshot_read(struct pp_snapshot *snapshot, const char *dir,
		     const struct pp_snapshot_part *part, struct pp_error *err)
{
	struct pp_capture *capture;
	int ret;

	*snapshot = (struct pp_snapshot){.is_live = false};
	pp_live_is_without_kernel();
	ret = pp_capture_open(dir, &capture, err);
	if (ret < 0)
		return ret;
	snapshot->view.capture = capture;
	snapshot->is_live = pp_model_is_live(capture->model);
	if (!snapshot->is_live && !part->may_be_over)
		return 0;
	if (!pp_events_have_windows(capture))
		return pp_error_add(
		    err, -ENOTSUP,
		    "%s: LTTng-UST's events cannot be read while they are recorded; "
		    "record without --backend lttng",
		    dir);
	leave_out_others(snapshot);
	pp_view_begin(&snapshot->view, capture, part->options, pp_cli_symbols());
	return read_window(snapshot, part, err);
}

int pp_snapshot_take(struct pp_snapshot *snapshot, const char *dir, int64_t from_ns,
		     struct pp_error *err)
{
	const struct pp_snapshot_part part = {
	    .passes = of_top,
	    .n_passes = G_N_ELEMENTS(of_top),
	    .from_ns = from_ns,
	};

	return pp_snapshot_read(snapshot, dir, &part, err);
}

void pp_snapshot_done(struct pp_snapshot *snapshot)
{
	pp_view_done(&snapshot->view);
	pp_selection_free(snapshot->selection);
	pp_windows_done(&snapshot->windows);
	*snapshot = (struct pp_snapshot){.is_live = false};
}
