/* SPDX-License-Identifier: MIT */
/* Rows are in the order of their gain, so each has the sum of those up to it. */
#include "cli/ulcp/regions.h"

#include "core/text/duration.h"
#include "replay/ulcp/regions.h"

#define TEXT_ROWS 20

enum { FIRST, SECOND, LOCK, PAIRS, GAIN, SHARE, SUM, SUM_SHARE };

static const struct pp_column columns[] = {
    [FIRST] = {"first", "region", PP_TYPE_TEXT, PP_COLUMN_KEY, "of one section of the pairs"},
    [SECOND] = {"second", "and", PP_TYPE_TEXT, PP_COLUMN_KEY, "of the other section"},
    [LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED, "of both"},
    [PAIRS] = {"pairs", "pairs", PP_TYPE_COUNT, 0, "of sections, without need"},
    [GAIN] = {"gain_ns", "gain", PP_TYPE_TIME_NS, PP_COLUMN_MAIN,
	      "the time that the pairs lose by unnecessary contention"},
    [SHARE] = {"p_pct", "P%", PP_TYPE_PERCENT, PP_COLUMN_SHARE, "of the gains of all pairs"},
    [SUM] = {"sum_ns", "sum", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM,
	     "of the gains, if this row and those above are mended"},
    [SUM_SHARE] = {"sum_pct", "sum%", PP_TYPE_PERCENT, 0, "of the gains of all pairs"},
};

static double total_of(const GArray *fused)
{
	double ns = 0;

	for (guint i = 0; i < fused->len; i++)
		ns += g_array_index(fused, struct pp_ulcp_fused, i).gain_ns;
	return ns;
}

static void set_names(struct pp_cell *row, const struct pp_replay_model *model,
		      const struct pp_ulcp_fused *fused)
{
	g_autofree char *first = pp_ulcp_region_text(&fused->regions[0]);
	g_autofree char *second = pp_ulcp_region_text(&fused->regions[1]);
	const struct pp_replay_object *lock =
	    fused->object == PP_ULCP_SEVERAL ? NULL : model->objects->pdata[fused->object];

	pp_cell_set_text(&row[FIRST], first);
	pp_cell_set_text(&row[SECOND], second);
	pp_cell_set_text(&row[LOCK], lock ? lock->name : "several");
	pp_cell_set_count(&row[PAIRS], fused->n);
}

/* Rows that lose time, though the run as a whole may gain. */
static void note_losses(struct pp_table *table, const GArray *fused)
{
	double lost_ns = 0;
	unsigned n = 0;

	for (guint i = 0; i < fused->len; i++) {
		double gain_ns = g_array_index(fused, struct pp_ulcp_fused, i).gain_ns;

		n += gain_ns < 0;
		lost_ns += gain_ns < 0 ? -gain_ns : 0;
	}
	if (n) {
		g_autofree char *lost = pp_duration_text((int64_t)lost_ns);

		pp_table_note(table,
			      "rows whose gain is below 0: %u, together -%s: without the "
			      "unnecessary contention, their two threads are farther apart, since "
			      "one has more to do before its section, or waits for a CPU or for a "
			      "lock that is still needed; the sums contain these losses",
			      n, lost);
	}
}

struct pp_table *pp_cli_ulcp_regions(const struct pp_cli_ulcp_models *models, bool has_gains)
{
	const struct pp_replay_model *model = models->source.model;
	bool is_all;
	g_autoptr(GArray) fused = pp_ulcp_fuse(model, models->sections, models->pairs, &is_all);
	struct pp_table *table =
	    pp_table_new("ulcp_regions", "Pairs of code regions", columns, G_N_ELEMENTS(columns));
	double total_ns = total_of(fused), sum_ns = 0;

	for (guint i = 0; i < fused->len; i++) {
		const struct pp_ulcp_fused *of = &g_array_index(fused, struct pp_ulcp_fused, i);
		struct pp_cell *row = pp_table_add_row(table);

		set_names(row, model, of);
		sum_ns += of->gain_ns;
		if (!has_gains)
			continue;
		pp_cell_set_time(&row[GAIN], (int64_t)of->gain_ns);
		pp_cell_set_time(&row[SUM], (int64_t)sum_ns);
		if (total_ns <= 0)
			continue;
		pp_cell_set_number(&row[SHARE], 100 * of->gain_ns / total_ns);
		pp_cell_set_number(&row[SUM_SHARE], 100 * sum_ns / total_ns);
	}
	table->text_rows = TEXT_ROWS;
	if (!has_gains)
		pp_table_note(table, "gains are missing: threads wait for ever in a simulation");
	else if (fused->len && total_ns <= 0)
		pp_table_note(table, "shares are missing: the pairs gain nothing in sum");
	if (has_gains)
		note_losses(table, fused);
	if (!is_all)
		pp_table_note(table, "there are so many pairs of call sites that some which "
				     "overlap are not fused");
	return table;
}
