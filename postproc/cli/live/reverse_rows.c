/* SPDX-License-Identifier: MIT */
/* One sample that differs shows true contention; a benign pair needs samples that all agree. */
#include "cli/live/reverse_rows.h"

#include <string.h>

enum {
	LOCK,
	TYPE,
	FIRST,
	SECOND,
	CONFLICTS,
	CANDIDATES,
	SAMPLES,
	SAME,
	DIFFERENT,
	ORDERED,
	STUCK,
	UNSTABLE,
	ELSEWHERE,
	RESULT,
	REASON
};

static const struct pp_column columns[] = {
    [LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY, "as it is called in every run"},
    [TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED, PP_SYNC_TYPES},
    [FIRST] = {"first", "one section", PP_TYPE_TEXT, PP_COLUMN_KEY,
	       "the call that entered one of the sections"},
    [SECOND] = {"second", "the other", PP_TYPE_TEXT, PP_COLUMN_KEY,
		"the call that entered the other one, which may be the same"},
    [CONFLICTS] = {"conflicts", "conflicts", PP_TYPE_COUNT, 0,
		   "consecutive sections that conflict, by writes that are not redundant"},
    [CANDIDATES] = {"candidates", "candidates", PP_TYPE_COUNT, PP_COLUMN_DETAIL,
		    "... of which the order may not matter, as far as accesses tell"},
    [SAMPLES] = {"samples", "samples", PP_TYPE_COUNT, 0, "candidates that were tried"},
    [SAME] = {"same", "same", PP_TYPE_COUNT, 0, "... that leave the same values in both orders"},
    [DIFFERENT] = {"different", "different", PP_TYPE_COUNT, 0, "... that do not"},
    [ORDERED] = {"ordered", "ordered", PP_TYPE_COUNT, PP_COLUMN_DETAIL,
		 "... whose second section waits for what follows the begin of the first one"},
    [STUCK] = {"stuck", "stuck", PP_TYPE_COUNT, PP_COLUMN_DETAIL,
	       "... that a replay did not execute"},
    [UNSTABLE] = {"unstable", "unstable", PP_TYPE_COUNT, PP_COLUMN_DETAIL,
		  "... that do not leave the same values in two runs of one order"},
    [ELSEWHERE] = {"elsewhere", "elsewhere", PP_TYPE_COUNT, PP_COLUMN_DETAIL,
		   "... whose memory a replay did not find"},
    [RESULT] = {"result", "result", PP_TYPE_TEXT, PP_COLUMN_MAIN, "benign, true or undecided"},
    [REASON] = {"reason", "reason", PP_TYPE_TEXT, 0, "of the result, if it is not benign"},
};

struct pp_table *pp_cli_reversed_table(void)
{
	struct pp_table *table =
	    pp_table_new("ulcp_reversals", "Conflicting critical sections in both orders", columns,
			 G_N_ELEMENTS(columns));

	table->is_in_order = true;
	return table;
}

static const char *result_of(const struct pp_reversal_sites *sites,
			     const struct pp_cli_reversed *reversed)
{
	const uint64_t *n = reversed->n;

	if (!sites->n_candidates || n[PP_REVERSAL_DIFFERENT])
		return "true";
	return n[PP_REVERSAL_SAME] && !n[PP_REVERSAL_UNSTABLE] && !n[PP_REVERSAL_ELSEWHERE]
		   ? "benign"
		   : "undecided";
}

static const char *reason_of(const struct pp_reversal_sites *sites,
			     const struct pp_cli_reversed *reversed)
{
	const uint64_t *n = reversed->n;

	if (!sites->n_candidates)
		return "one section reads what the other one writes";
	if (n[PP_REVERSAL_DIFFERENT])
		return "the orders leave different values";
	if (n[PP_REVERSAL_UNSTABLE])
		return "the same order leaves different values";
	if (n[PP_REVERSAL_ELSEWHERE])
		return "the sections access other memory in a replay";
	if (n[PP_REVERSAL_SAME])
		return "";
	return n[PP_REVERSAL_STUCK] ? reversed->stuck
				    : "the second section waits for what follows the first one's "
				      "begin";
}

void pp_cli_reversed_add(struct pp_table *table, const struct pp_reversal_sites *sites,
			 const struct pp_cli_reversed *reversed)
{
	static const unsigned of_verdict[PP_REVERSAL_N_VERDICTS] = {
	    [PP_REVERSAL_SAME] = SAME,	       [PP_REVERSAL_DIFFERENT] = DIFFERENT,
	    [PP_REVERSAL_ORDERED] = ORDERED,   [PP_REVERSAL_STUCK] = STUCK,
	    [PP_REVERSAL_UNSTABLE] = UNSTABLE, [PP_REVERSAL_ELSEWHERE] = ELSEWHERE};
	struct pp_cell *row = pp_table_add_row(table);
	uint64_t n_samples = 0;

	pp_cell_set_text(&row[LOCK], sites->lock);
	pp_cell_set_text(&row[TYPE], pp_sync_type_name(sites->type));
	pp_cell_set_text(&row[FIRST], sites->names[0]);
	pp_cell_set_text(&row[SECOND], sites->names[1]);
	pp_cell_set_count(&row[CONFLICTS], sites->n_conflicts);
	pp_cell_set_count(&row[CANDIDATES], sites->n_candidates);
	for (unsigned i = 0; i < PP_REVERSAL_N_VERDICTS; i++) {
		pp_cell_set_count(&row[of_verdict[i]], reversed->n[i]);
		n_samples += reversed->n[i];
	}
	pp_cell_set_count(&row[SAMPLES], n_samples);
	pp_cell_set_text(&row[RESULT], result_of(sites, reversed));
	pp_cell_set_text(&row[REASON], reason_of(sites, reversed));
}

void pp_cli_reversed_keep(struct pp_reversals *reversals, const struct pp_reversal_sites *sites,
			  const struct pp_cli_reversed *reversed, unsigned n_runs)
{
	const char *result = result_of(sites, reversed);
	const struct pp_reversal kept = {
	    .is_benign = strcmp(result, "benign") == 0,
	    .n_samples = reversed->n[PP_REVERSAL_SAME] + reversed->n[PP_REVERSAL_DIFFERENT],
	    .n_runs = n_runs,
	};

	if (kept.n_samples && strcmp(result, "undecided") != 0)
		pp_reversals_add(reversals, sites->names[0], sites->names[1], &kept);
}
