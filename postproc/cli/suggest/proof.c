/* SPDX-License-Identifier: MIT */
/*
 * A suggestion counts as followed if its pattern is gone.  The prediction is that of all followed
 * suggestions together, since the real change is that of the whole program.
 */
#include "cli/suggest/proof.h"

#include <string.h>

#include "cli/captures.h"
#include "cli/replay/against.h"
#include "cli/suggest/difference.h"
#include "cli/suggest/gain.h"
#include "cli/suggest/times.h"
#include "suggest/compare.h"
#include "suggest/rank.h"

/* --- the suggestions that were followed ------------------------------------------------------- */

/* Returns the best followed suggestion of each lock, which belong to `proof->ranked`. */
static GPtrArray *followed_of(const struct pp_suggest_proof *proof, const GPtrArray *found_after)
{
	GPtrArray *followed = g_ptr_array_new();
	g_autoptr(GHashTable) locks = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < proof->ranked->len; i++) {
		const struct pp_suggestion *suggestion = proof->ranked->pdata[i];

		if (!pp_suggest_same(found_after, suggestion) &&
		    g_hash_table_add(locks, (void *)suggestion->lock))
			g_ptr_array_add(followed, (void *)suggestion);
	}
	return followed;
}

/* "lists_lock (null-shared groups), ...". */
static char *names_of(const GPtrArray *followed)
{
	GString *names = g_string_new(NULL);

	for (guint i = 0; i < followed->len; i++) {
		const struct pp_suggestion *suggestion = followed->pdata[i];

		g_string_append_printf(names, "%s%s (%s)", i ? ", " : "", suggestion->lock->name,
				       pp_suggest_patterns[suggestion->pattern]);
	}
	return g_string_free(names, FALSE);
}

/* --- the run time ----------------------------------------------------------------------------- */

static int real_of(const struct pp_suggest_proof *proof, struct pp_cli_replay_real *ret,
		   const char **ret_why, struct pp_error *err)
{
	const struct pp_suggest_run *run = pp_suggest_times_first(proof->before);
	struct pp_cli_replay_arguments how;

	*ret_why = NULL;
	if (!proof->command) {
		*ret_why = pp_suggest_times_recorded(proof->before, proof->after, ret);
		return 0;
	}
	how = run->arguments;
	how.command = proof->command;
	return pp_cli_replay_run_both(&how, &run->source, ret, err);
}

/* Load makes recorded times incomparable. */
static void note_load(struct pp_table *table, const struct pp_suggest_proof *proof)
{
	double before, after;
	bool with_accesses;

	if (pp_suggest_times_kind(proof->before, proof->after, &with_accesses))
		return;
	before = pp_suggest_times_others(proof->before, with_accesses);
	after = pp_suggest_times_others(proof->after, with_accesses);
	if (before > 0 || after > 0)
		pp_table_note(table,
			      "threads of other programs that wanted a CPU meanwhile: %.2f before, "
			      "%.2f after",
			      before, after);
}

/* Other work takes another time. */
static void note_commands(struct pp_table *table, const struct pp_suggest_proof *proof)
{
	const struct pp_suggest_run *before = proof->before->all->pdata[0];
	const struct pp_suggest_run *after = proof->after ? proof->after->all->pdata[0] : NULL;
	g_autofree char *one = pp_cli_command(&before->view);
	g_autofree char *other = after ? pp_cli_command(&after->view) : NULL;

	if (one && other && strcmp(one, other) != 0)
		pp_table_note(table,
			      "the commands differ: %s before, %s after: the comparison holds only "
			      "if both do the same work",
			      one, other);
}

static void note_prediction(struct pp_table *table, const struct pp_suggest_proof *proof,
			    const GPtrArray *followed, const struct pp_suggest_gain *gain)
{
	g_autofree char *names = names_of(followed);

	if (!proof->ranked->len)
		pp_table_note(table, "no prediction: nothing is suggested");
	else if (!followed->len)
		pp_table_note(table, "no prediction: no suggestion was followed, as their patterns "
				     "are still found");
	else if (!gain->is_known)
		pp_table_note(table, "no prediction for %s: %s", names,
			      gain->why ?: "no run can be replayed");
	else
		pp_table_note(table,
			      "the prediction is that of %s; the replay of the recorded run is "
			      "within %.1f %% of its time",
			      names, gain->fidelity_pct);
	if (followed->len && !proof->after)
		pp_table_note(table, "that this suggestion was followed is assumed: --against, "
				     "with captures of the changed program, tells");
}

/* Adds the table of the predicted and the real change. */
static int add_truth(const struct pp_suggest_proof *proof, const GPtrArray *followed,
		     GPtrArray *tables, struct pp_error *err)
{
	struct pp_suggest_gain gain = {0};
	struct pp_cli_replay_real real = {0};
	struct pp_cli_replay_effect predicted;
	struct pp_table *table;
	const char *why;
	int rc = real_of(proof, &real, &why, err);

	if (rc == 0 && followed->len)
		rc = pp_suggest_gain_together(proof->before, followed, &gain, err);
	if (rc == 0) {
		predicted = (struct pp_cli_replay_effect){gain.change_pct, gain.error_pct};
		table = pp_cli_replay_truth(gain.is_known ? &predicted : NULL, why ? NULL : &real);
		if (why)
			pp_table_note(table, "the real change is not known: %s", why);
		if (!proof->command)
			note_load(table, proof);
		note_commands(table, proof);
		note_prediction(table, proof, followed, &gain);
		g_ptr_array_add(tables, table);
	}
	g_free(gain.why);
	return rc;
}

/* ---------------------------------------------------------------------------------------------- */

int pp_suggest_proof_tables(const struct pp_suggest_proof *proof, GPtrArray *tables,
			    struct pp_error *err)
{
	g_autoptr(GPtrArray) found = NULL, ranked = NULL, followed = NULL;
	struct pp_suggest_difference difference = {proof->before, proof->after, proof->ranked,
						   NULL};
	unsigned n_idle;
	int rc;

	if (!proof->after) {
		followed = g_ptr_array_new();
		if (proof->ranked->len)
			g_ptr_array_add(followed, proof->ranked->pdata[0]);
		return add_truth(proof, followed, tables, err);
	}
	found = pp_suggest_find(&proof->after->facts);
	rc = pp_suggest_gains(proof->after, found, err);
	if (rc)
		return rc;
	ranked = pp_suggest_rank(found, &n_idle);
	/* Without accesses of the changed program, no pattern is found, which tells nothing. */
	followed = proof->after->facts.n_runs ? followed_of(proof, found) : g_ptr_array_new();
	difference.ranked_after = ranked;
	rc = add_truth(proof, followed, tables, err);
	if (rc == 0)
		pp_suggest_difference_tables(&difference, found, tables);
	return rc;
}
