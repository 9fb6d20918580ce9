/* SPDX-License-Identifier: MIT */
/* A note is one line. */
#include "cli/replay/notes.h"

#include <inttypes.h>

#include "core/text/duration.h"

static void note_recording(struct pp_table *table, const struct pp_cli_replay_source *source)
{
	g_autofree char *each = pp_duration_text(source->recording_ns);
	g_autofree char *all = pp_duration_text((int64_t)source->recording.ns);

	if (source->unknown_cost)
		pp_table_note(table, "all run times are with the cost of recording: %s",
			      source->unknown_cost);
	else if (source->recording.ns)
		pp_table_note(table,
			      "the run times are without the cost of recording, %s of each of "
			      "%" PRIu64 " operations (CPU time: %s); the fidelity is with it",
			      each, source->recording.n_steps, all);
}

static void note_cut(struct pp_table *table, const struct pp_replay_cut_sums *cut)
{
	g_autofree char *held = NULL;

	if (!cut->held)
		return;
	g_ptr_array_add(cut->held, NULL);
	held = g_strjoinv(", ", (char **)cut->held->pdata);
	g_ptr_array_remove_index(cut->held, cut->held->len - 1);
	pp_table_note(table, "steps before the selected time, which are left out: %" PRIu64,
		      cut->n_before);
	if (cut->held->len)
		pp_table_note(table, "locks that are held when it begins: %s", held);
}

void pp_cli_replay_note_fidelity(struct pp_table *table, const struct pp_replay_model *model,
				 const struct pp_cli_replay_outcome *same, const char *how)
{
	g_autofree char *recorded = pp_duration_text(model->recorded_ns);
	g_autofree char *replayed = pp_duration_text((int64_t)same->ns.mean);

	if (!model->recorded_ns || same->n_stuck)
		return;
	if (!same->ns.n) {
		pp_table_note(table,
			      "fidelity: not known, as the run was recorded on %u CPUs, and fewer "
			      "can be used here",
			      model->n_cpus);
		return;
	}
	pp_table_note(table,
		      "fidelity: recorded %s, %s on as many CPUs (%u) %s: %+.1f %%, sigma %.1f %%",
		      recorded, how, model->n_cpus, replayed,
		      100 * (same->ns.mean / (double)model->recorded_ns - 1),
		      100 * same->ns.sigma / MAX(same->ns.mean, 1));
	if (same->others > 0)
		pp_table_note(table, "other programs used %.2f of these CPUs meanwhile",
			      same->others);
}

void pp_cli_replay_note_source(struct pp_table *table, const struct pp_cli_replay_source *source,
			       const char *how)
{
	note_cut(table, &source->cut);
	pp_cli_replay_note_fidelity(table, source->model, &source->same, how);
	note_recording(table, source);
}

void pp_cli_replay_note_stuck(struct pp_table *table, uint32_t n_stuck, const char *stuck)
{
	if (n_stuck)
		pp_table_note(table, "%u %s for ever in the replay: %s", n_stuck,
			      n_stuck == 1 ? "thread waits" : "threads wait",
			      stuck ? stuck : "what ends the wait was not recorded");
}

void pp_cli_replay_note_gaps(struct pp_table *table, const struct pp_replay_gaps *gaps)
{
	g_autofree char *filled = pp_duration_text(gaps->filled_ns);

	if (gaps->late_threads)
		pp_table_note(
		    table,
		    "%" PRIu64
		    " threads have no known creator: they begin when they did in the recorded run",
		    gaps->late_threads);
	if (gaps->lost_calls)
		pp_table_note(table,
			      "%" PRIu64 " records of calls were lost: some CPU time is attributed "
			      "to the wrong function",
			      gaps->lost_calls);
	if (gaps->lone_returns)
		pp_table_note(
		    table,
		    "%" PRIu64 " returns are from functions whose calls have ended, as far "
		    "as the history tells: their CPU time is too short; compile code with "
		    "-finstrument-functions also with -fno-inline",
		    gaps->lone_returns);
	if (gaps->without_returns)
		pp_table_note(table,
			      "%" PRIu64
			      " threads have no returns recorded: none of their CPU time "
			      "is attributed to functions",
			      gaps->without_returns);
	if (gaps->unknown_waits)
		pp_table_note(table,
			      "%" PRIu64 " waits of unknown end are sleeps of the same length: %s",
			      gaps->unknown_waits, filled);
}
