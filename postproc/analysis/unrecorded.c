/* SPDX-License-Identifier: MIT */
/* Notes for tables about threads for which only contended operations were recorded. */
#include "analysis/unrecorded.h"

#include "core/duration.h"
#include "core/event.h"

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
		switched.first_ns = MAX(switched.first_ns - model->start_ns, 0);
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

static void note_switched(struct pp_table *table, const struct pp_model *model)
{
	struct switched switched = find_switched(model);
	g_autofree char *since = switched.n ? pp_duration_text(switched.first_ns) : NULL;

	if (switched.n)
		pp_table_note(table,
			      "%u of %u threads recorded in full until %s: from %s on, only waits "
			      "with their holders are recorded; %s records all",
			      switched.n, switched.n_auto, reason(&switched), since,
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
		contended |= process->only_waits && !process->sync_auto;
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
	text = pp_sync_types_text(off);
	if (text)
		pp_table_note(table, "not recorded: %s (sync.types)", text);
	if (chosen)
		pp_table_note(table, "not recorded: objects of some modules (sync.include, "
				     "sync.exclude)");
	note_switched(table, model);
	if (unsorted)
		pp_table_note(table, "too many objects for sync.include and sync.exclude: all "
				     "objects created after that are recorded");
}
