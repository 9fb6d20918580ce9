/* SPDX-License-Identifier: MIT */
/* The results of a campaign in words (words.h). */
#include "cli/campaign/words.h"

#include <inttypes.h>

#include "cli/campaign/engine.h"
#include "core/text/duration.h"

/* --- the cause ------------------------------------------------------------------------------ */

/* Says if the ranking cannot name the cause; returns whether it can. */
static bool note_elsewhere(struct pp_table *table, struct pp_campaign *campaign,
			   const struct pp_tested *tested)
{
	const struct pp_facts *facts =
	    pp_campaign_facts(campaign, tested->test, &tested->kept->point);
	g_autofree char *dir = NULL;

	if (!facts || !facts->elsewhere)
		return true;
	dir = pp_campaign_capture(campaign, tested->test, tested->kept);
	pp_table_note(table, "%s: %s; `gprof-mt report -i %s blame` names who made them wait",
		      tested->test->name, facts->elsewhere, dir);
	return false;
}

static void note_cause(struct pp_table *table, struct pp_campaign *campaign,
		       const struct pp_tested *tested)
{
	bool is_cause = note_elsewhere(table, campaign, tested);
	g_autofree char *cause = NULL;

	if (!tested->ranking || pp_ranking_counted(tested->ranking) < 2)
		return;
	cause = pp_ranking_cause(tested->ranking);
	if (cause)
		pp_table_note(table, "%s: %s: %s", tested->test->name,
			      is_cause ? "cause" : "first of the critical sections", cause);
	else
		pp_table_note(table,
			      "%s: no critical section is the cause: no thread waited for one",
			      tested->test->name);
}

/* --- workloads ------------------------------------------------------------------------------ */

/* The first step with that verdict; NULL: none. */
static const struct pp_step *find_step(const struct pp_tested *tested, enum pp_verdict verdict)
{
	for (guint i = 0; i < tested->steps->len; i++) {
		const struct pp_step *step = tested->steps->pdata[i];

		if (step->verdict == verdict)
			return step;
	}
	return NULL;
}

/* No workload exposes a problem, as far as is known. */
static void note_exhausted(struct pp_table *table, const struct pp_tested *tested,
			   const struct pp_step *last)
{
	const struct pp_step *undecided = find_step(tested, PP_VERDICT_UNDECIDED);
	const struct pp_step *no_cpu = find_step(tested, PP_VERDICT_NO_CPU);

	if (undecided)
		pp_table_note(table,
			      "%s: undecided: %u runs of workload %" PRId64 " cannot show at 5 %% "
			      "that the run time rose: make 4 of each or more (--runs)",
			      tested->test->name, undecided->wall->len, undecided->point.workload);
	else
		pp_table_note(table,
			      "%s: exhausted: no workload up to %" PRId64 " exposes a "
			      "synchronization problem; %s",
			      tested->test->name, last->point.workload,
			      tested->steps->len >= PP_CAMPAIGN_STEPS
				  ? "given up after 50 steps"
				  : "to look further, raise the last one");
	if (no_cpu)
		pp_table_note(table,
			      "%s: with workload %" PRId64 ", threads were ready without a CPU "
			      "for more than ten times as long as they waited for each other: "
			      "sweep again without other load",
			      tested->test->name, no_cpu->point.workload);
}

/* States in words whether a workload of the test exposes a problem. */
static void note_result(struct pp_table *table, struct pp_campaign *campaign,
			const struct pp_tested *tested)
{
	const struct pp_step *kept = tested->kept, *last;
	guint n = tested->steps->len;
	g_autofree char *wall = NULL, *before = NULL;

	if (kept) {
		last = tested->steps->pdata[n - 2];
		wall = pp_duration_text((int64_t)(kept->wall_spread.mean * 1e9));
		before = pp_duration_text((int64_t)(last->wall_spread.mean * 1e9));
		pp_table_note(table,
			      "%s: workload %" PRId64 " exposes a synchronization problem: the "
			      "run time rose from %s to %s, and %.0f %% of the CPU time was used",
			      tested->test->name, kept->point.workload, before, wall,
			      100 * kept->use_spread.mean);
		note_cause(table, campaign, tested);
		return;
	}
	last = n ? tested->steps->pdata[n - 1] : NULL;
	if (n < 2 || last->verdict == PP_VERDICT_INCOMPLETE)
		return;
	if (last->verdict == PP_VERDICT_TOO_FEW)
		pp_table_note(table, "%s: given up at workload %" PRId64 ": its runs fail",
			      tested->test->name, last->point.workload);
	else
		note_exhausted(table, tested, last);
}

static void note_unknown_use(struct pp_table *table, const struct pp_tested *tested)
{
	for (guint i = 0; i < tested->steps->len; i++)
		if (!((const struct pp_step *)tested->steps->pdata[i])->n_threads) {
			pp_table_note(table,
				      "%s: no CPU use: the number of threads is unknown, since no "
				      "run could be recorded; give it (--threads N)",
				      tested->test->name);
			return;
		}
}

/* --- what was not exercised ----------------------------------------------------------------- */

static bool varies(const GArray *numbers)
{
	return numbers && numbers->len > 1;
}

static bool varies_threads(const struct pp_test *test)
{
	return varies(test->threads);
}

static bool varies_cpus(const struct pp_test *test)
{
	return varies(test->cpus);
}

static bool varies_workload(const struct pp_test *test)
{
	return varies(test->workload);
}

/* Adds "; WHAT (TEST, TEST)" with the tests that do not vary it; without names if none does. */
static void add_fixed(GString *text, const struct pp_campaign *campaign, const char *what,
		      bool (*does_vary)(const struct pp_test *))
{
	g_autoptr(GString) names = g_string_new(NULL);
	guint n = 0;

	for (guint i = 0; i < campaign->tests->len; i++) {
		const struct pp_test *test = campaign->tests->pdata[i];

		if (does_vary(test))
			continue;
		g_string_append_printf(names, "%s%s", n++ ? ", " : "", test->name);
	}
	if (!n)
		return;
	g_string_append_printf(text, "; %s", what);
	if (n < campaign->tests->len)
		g_string_append_printf(text, " (%s)", names->str);
}

static void note_not_exercised(struct pp_table *table, const struct pp_campaign *campaign)
{
	g_autoptr(GString) text = g_string_new("not exercised: code that no test runs");

	add_fixed(text, campaign, "other workloads", varies_workload);
	add_fixed(text, campaign, "other numbers of threads", varies_threads);
	add_fixed(text, campaign, "other numbers of CPUs", varies_cpus);
	pp_table_note(table, "%s", text->str);
}

void pp_campaign_words(struct pp_campaign *campaign, struct pp_table *table)
{
	for (guint i = 0; i < campaign->tested->len; i++) {
		note_result(table, campaign, campaign->tested->pdata[i]);
		note_unknown_use(table, campaign->tested->pdata[i]);
	}
	note_not_exercised(table, campaign);
}
