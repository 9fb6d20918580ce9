/* SPDX-License-Identifier: MIT */
/* A note is one line. */
#include "cli/replay/notes.h"

#include <inttypes.h>

#include "core/text/duration.h"

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
	if (gaps->unknown_waits)
		pp_table_note(table,
			      "%" PRIu64 " waits of unknown end are sleeps of the same length: %s",
			      gaps->unknown_waits, filled);
}
