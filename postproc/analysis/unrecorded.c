/* SPDX-License-Identifier: MIT */
/*
 * The only place that decides which notes tell that not all synchronization, or not all blocking
 * calls were recorded.
 * analysis/pass_set.c adds them to each table with figures of operations.
 */
#include "analysis/unrecorded.h"

#include "core/text/duration.h"
#include "core/event.h"
#include "core/operation.h"

/* sync.mode=auto: how many threads were switched, of how many, and since when. */
struct switched {
	unsigned n, n_auto;
	unsigned n_near_limit;
	int64_t first_ns; /* relative to the start of the run */
};

static struct switched find_switched(const struct pp_model *model)
{
	struct switched switched = {.first_ns = INT64_MAX};

	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];

		switched.n_auto += thread->process->sync_auto;
		if (!thread->process->sync_auto || !thread->sync_since_ns)
			continue;
		switched.n++;
		switched.n_near_limit += thread->sync_near_limit;
		switched.first_ns = MIN(switched.first_ns, thread->sync_since_ns);
	}
	if (switched.n)
		switched.first_ns = MAX(switched.first_ns - pp_model_origin(model), 0);
	return switched;
}

static const char *reason(const struct switched *switched)
{
	return switched->n_near_limit == 0 ? "that exceeded sync.budget"
	       : switched->n_near_limit == switched->n
		   ? "the capture came near output.max"
		   : "that exceeded sync.budget or the capture came near output.max";
}

static const char *remedy(const struct switched *switched)
{
	return switched->n_near_limit ? "--set sync.mode=all with a larger output.max"
				      : "--set sync.mode=all";
}

/*
 * "; 12 operations were only counted", by threads of processes in that mode; "" if the counts are
 * unknown.  The caller frees it.
 */
static char *counted_text(const struct pp_model *model, bool is_auto)
{
	uint64_t n = 0;

	for (guint t = 0; t < model->threads->len; t++) {
		const struct pp_thread *thread = model->threads->pdata[t];

		if (!thread->sync_counts || thread->process->sync_auto != is_auto)
			continue;
		for (enum st_counted i = 0; i < ST_N_COUNTED; i++)
			n += thread->sync_counts[i];
	}
	return n ? g_strdup_printf("; %" G_GUINT64_FORMAT " operations were only counted", n)
		 : g_strdup("");
}

static bool is_contended(const struct pp_process *process)
{
	return process->only_waits && !process->sync_auto;
}

static void note_contended(struct pp_table *table, const struct pp_model *model)
{
	g_autofree char *counted = counted_text(model, false);
	bool contended = false;

	for (guint i = 0; i < model->processes->len; i++)
		contended |= is_contended(model->processes->pdata[i]);
	if (contended)
		pp_table_note(table,
			      "only waits with their holders are recorded (sync.mode = "
			      "contended)%s; --set sync.mode=all records all",
			      counted);
}

static void note_switched(struct pp_table *table, const struct pp_model *model)
{
	struct switched switched = find_switched(model);
	g_autofree char *since = switched.n ? pp_duration_text(switched.first_ns) : NULL;
	g_autofree char *counted = counted_text(model, true);

	if (switched.n)
		pp_table_note(table,
			      "%u of %u threads recorded in full until %s: from %s on, only waits "
			      "with their holders are recorded%s; %s records all",
			      switched.n, switched.n_auto, reason(&switched), since, counted,
			      remedy(&switched));
}

char *pp_unrecorded_mode(const struct pp_model *model, bool *ret_is_full)
{
	struct switched switched = find_switched(model);
	g_autofree char *since = NULL;
	bool recorded = false, contended = false;

	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		recorded |= process->has_streams;
		contended |= is_contended(process);
	}
	*ret_is_full = recorded && !contended && !switched.n;
	if (!recorded)
		return NULL;
	if (contended)
		return g_strdup("only waits, with their holders (sync.mode = contended); --set "
				"sync.mode=all records all");
	if (!switched.n)
		return g_strdup_printf("in full%s", switched.n_auto ? " (sync.mode = auto)" : "");
	since = pp_duration_text(switched.first_ns);
	return g_strdup_printf("in full until %s: from %s on, only waits with their holders in %u "
			       "of %u threads; %s records all",
			       reason(&switched), since, switched.n, switched.n_auto,
			       remedy(&switched));
}

void pp_unrecorded_note(struct pp_table *table, const struct pp_model *model)
{
	g_autofree char *text = NULL;
	unsigned off = 0;
	bool chosen = false, unsorted = false;

	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		off |= process->sync_types_off;
		chosen |= process->sync_objects_chosen;
		unsorted |= process->sync_objects_unsorted;
	}
	if (pp_model_is_attached(model))
		pp_table_note(table, "gprof-mt attached to a running process: its synchronization "
				     "and calls are not recorded");
	text = pp_sync_types_text(off);
	if (text)
		pp_table_note(table, "not recorded: %s (sync.types)", text);
	if (chosen)
		pp_table_note(table, "not recorded: objects of some modules (sync.include, "
				     "sync.exclude)");
	note_contended(table, model);
	note_switched(table, model);
	if (unsorted)
		pp_table_note(table, "too many objects for sync.include and sync.exclude: all "
				     "objects created after that are recorded");
}

void pp_unrecorded_io_note(struct pp_table *table, const struct pp_model *model, bool has_calls)
{
	unsigned n_recorded = 0, n_not = 0;
	int64_t longest_ns = 0;
	g_autofree char *threshold = NULL;

	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		if (process->io_recorded)
			longest_ns = MAX(longest_ns, process->io_threshold_ns);
		n_recorded += process->io_recorded;
		n_not += process->dir && !process->io_recorded;
	}
	threshold = pp_duration_text(longest_ns);
	if (longest_ns)
		pp_table_note(table, "calls shorter than %s are not recorded (io.threshold)",
			      threshold);
	if (n_recorded && n_not)
		pp_table_note(table, "calls of %u of %u processes are not recorded", n_not,
			      n_recorded + n_not);
	else if (!n_recorded && !has_calls)
		pp_table_note(table, "this capture has no blocking calls: they were not recorded");
}
