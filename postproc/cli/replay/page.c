/* SPDX-License-Identifier: MIT */
/* Figures come from the tables, so that the page shows what the other formats do. */
#include "cli/replay/page.h"

#include <string.h>

#include "cli/replay/source.h"
#include "cli/view.h"
#include "export/out.h"
#include "render/curve.h"
#include "render/page.h"

static const struct pp_table *find(const GPtrArray *tables, const char *key)
{
	for (guint i = 0; i < tables->len; i++)
		if (strcmp(((const struct pp_table *)tables->pdata[i])->key, key) == 0)
			return tables->pdata[i];
	return NULL;
}

/* The rows' run times by CPUs, in ms; rows without one are left out. */
static GArray *points_of(const struct pp_table *replays, const char *key)
{
	GArray *points = g_array_new(FALSE, FALSE, sizeof(struct pp_curve_point));

	for (guint i = 0; i < replays->rows->len; i++) {
		const struct pp_cell *cpus = pp_table_cell(replays, i, "cpus");
		const struct pp_cell *time = pp_table_cell(replays, i, key);
		struct pp_curve_point point;

		if (!cpus || !time)
			continue;
		point = (struct pp_curve_point){(double)cpus->count, (double)time->time_ns / 1e6};
		g_array_append_val(points, point);
	}
	return points;
}

/* Returns the drawing; NULL: there is one number of CPUs. */
static GString *draw(const GPtrArray *tables)
{
	const struct pp_table *replays = find(tables, "replays");
	g_autoptr(GArray) before = NULL, after = NULL;
	struct pp_curve_line lines[2] = {{.name = "as recorded"}, {.name = "changed"}};
	struct pp_curve curve = {"CPUs", "run time (ms)", lines, G_N_ELEMENTS(lines)};
	GString *text;

	if (!replays || replays->rows->len < 2)
		return NULL;
	before = points_of(replays, "run_ns");
	after = points_of(replays, "changed_ns");
	lines[0].points = (const struct pp_curve_point *)before->data;
	lines[0].n = before->len;
	lines[1].points = (const struct pp_curve_point *)after->data;
	lines[1].n = after->len;
	text = g_string_new(NULL);
	pp_render_curve(text, &curve);
	return text;
}

/* The first change of the ranking, or the change that was given; NULL: none. */
static char *words_of(const struct pp_cli_replay_arguments *arguments, const GPtrArray *tables)
{
	const struct pp_table *rank = find(tables, "rank"), *replays = find(tables, "replays");
	const struct pp_cell *change = rank ? pp_table_cell(rank, 0, "change") : NULL;
	const struct pp_cell *pct = NULL;

	if (rank && rank->rows->len)
		pct = pp_table_cell(rank, 0, "change_pct");
	if (pct && change)
		return g_strdup_printf("The change that would bring most, of those tried: %s, "
				       "predicted to change the run time by %+.1f %%.",
				       change->text, pct->number);
	if (replays && replays->rows->len && arguments->changes->len)
		pct = pp_table_cell(replays, 0, "change_pct");
	return pct ? g_strdup_printf("CPUs: %" G_GUINT64_FORMAT
				     ". The run time is predicted to change by %+.1f %%.",
				     pp_table_cell(replays, 0, "cpus")->count, pct->number)
		   : NULL;
}

static int write_page(const struct pp_cli_replay_arguments *arguments, const GPtrArray *tables,
		      const GPtrArray *shown, struct pp_error *err)
{
	g_autofree char *words = words_of(arguments, tables);
	GString *figure = draw(tables);
	const struct pp_page page = {
	    .title = "Replay", .words = words, .figure = figure ? figure->str : NULL};
	struct pp_out out = {0};
	int rc = pp_out_open(&out, arguments->page, err);

	if (rc == 0) {
		pp_render_page(out.text, &page, (struct pp_table *const *)shown->pdata, shown->len);
		rc = pp_out_finish(&out, err);
	}
	pp_out_done(&out);
	if (figure)
		g_string_free(figure, TRUE);
	return rc;
}

/* Adds the first table of each of these passes over the capture, which the view owns. */
static int add_recorded(struct pp_view *view, const char *dir, GPtrArray *shown,
			struct pp_error *err)
{
	static const char *const passes[] = {"blame", "bottlenecks"};
	int rc = pp_view_open(view, dir, NULL, err);

	if (rc == 0)
		rc = pp_view_run(view, passes, G_N_ELEMENTS(passes), err);
	for (unsigned i = 0; rc == 0 && i < G_N_ELEMENTS(passes); i++) {
		unsigned n = 0;
		struct pp_table *const *tables = pp_pass_set_tables(view->passes, passes[i], &n);

		if (n)
			g_ptr_array_add(shown, tables[0]);
	}
	return rc;
}

int pp_cli_replay_page(const struct pp_cli_replay_arguments *arguments, const GPtrArray *tables,
		       struct pp_error *err)
{
	g_autoptr(GPtrArray) shown = g_ptr_array_new();
	bool has_view = arguments->rank && !pp_cli_replay_is_model(arguments->path);
	struct pp_view view = {0};
	int rc = 0;

	for (guint i = 0; i < tables->len; i++)
		g_ptr_array_add(shown, tables->pdata[i]);
	if (has_view)
		rc = add_recorded(&view, arguments->path, shown, err);
	if (rc == 0)
		rc = write_page(arguments, tables, shown, err);
	if (has_view)
		pp_view_done(&view);
	return rc;
}
