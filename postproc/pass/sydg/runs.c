/* SPDX-License-Identifier: MIT */
/* See runs.h.  Keeps the metrics of each section in each run, a few numbers, until the end. */
#include "pass/sydg/runs.h"

#include <math.h>
#include <string.h>

#include "pass/sydg/costs.h"
#include "statistics/spread.h"

/* The standard deviation of a conclusive metric is below this share of its mean. */
#define CONCLUSIVE 0.01

/* Text shows only the first rows, since there may be thousands. */
#define TEXT_ROWS 30

enum {
	LOCK,
	TYPE,
	ENTRY,
	EXIT,
	MEAN,
	SIGMA,
	SIGMA_PCT,
	LEAST,
	MOST,
	RUNS,
	APWT,
	CPWT,
	APLT,
	PATH,
	N_COLUMNS
};

static const struct pp_column columns[N_COLUMNS] = {
    [LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY,
	      "the object for which most of the waits were, in the first run with the section"},
    [TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_REPEATED,
	      "the type of the object"},
    [ENTRY] = {"entry", "entered at", PP_TYPE_TEXT, PP_COLUMN_KEY,
	       "the call site that obtained the lock"},
    [EXIT] = {"exit", "left at", PP_TYPE_TEXT, PP_COLUMN_KEY, "the call site that released it"},
    [MEAN] = {"mean_ns", "mean", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "mean of the metric"},
    [SIGMA] = {"sigma_ns", "sigma", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM | PP_COLUMN_STAYS,
	       "its standard deviation"},
    [SIGMA_PCT] = {"sigma_pct", "of mean", PP_TYPE_PERCENT, 0, "that as a share of the mean"},
    [LEAST] = {"least_ns", "least", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM | PP_COLUMN_MORE,
	       "the smallest value"},
    [MOST] = {"most_ns", "most", PP_TYPE_TIME_NS, PP_COLUMN_MAX | PP_COLUMN_MORE,
	      "the largest value"},
    [RUNS] = {"runs", "runs", PP_TYPE_COUNT, PP_COLUMN_NO_SUM,
	      "the number of runs in which it was not 0"},
    [APWT] = {"apwt_ns", "APWT", PP_TYPE_TIME_NS, PP_COLUMN_DETAIL, "mean of the APWT"},
    [CPWT] = {"cpwt_ns", "CPWT", PP_TYPE_TIME_NS, PP_COLUMN_DETAIL, "mean of the CPWT"},
    [APLT] = {"aplt_ns", "APLT", PP_TYPE_TIME_NS, PP_COLUMN_DETAIL | PP_COLUMN_NO_SUM,
	      "mean of the APLT"},
    [PATH] = {"path", "called by", PP_TYPE_TEXT, PP_COLUMN_KEY | PP_COLUMN_PATH,
	      "the functions of the path to the entry, innermost first"},
};

/* The same of numbers of conditionals. */
static struct pp_column counted_columns[N_COLUMNS];

enum { OF, OF_MEAN, OF_SIGMA, OF_SIGMA_PCT, OF_LEAST, OF_MOST, OF_RUNS, OF_CONCLUSIVE, N_OF };

static const struct pp_column metric_columns[N_OF] = {
    [OF] = {"metric", "metric", PP_TYPE_TEXT, PP_COLUMN_KEY, "apwt, cpwt, aplt or mean"},
    [OF_MEAN] = {"mean_ns", "mean", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "mean of the metric"},
    [OF_SIGMA] = {"sigma_ns", "sigma", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM, "its standard deviation"},
    [OF_SIGMA_PCT] = {"sigma_pct", "of mean", PP_TYPE_PERCENT, 0, "that as a share of the mean"},
    [OF_LEAST] = {"least_ns", "least", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM, "the smallest value"},
    [OF_MOST] = {"most_ns", "most", PP_TYPE_TIME_NS, PP_COLUMN_MAX, "the largest value"},
    [OF_RUNS] = {"runs", "runs", PP_TYPE_COUNT, PP_COLUMN_NO_SUM,
		 "the number of runs in which it was not 0"},
    [OF_CONCLUSIVE] = {"conclusive", "conclusive", PP_TYPE_BOOL, 0,
		       "the standard deviation is below 1 % of the mean"},
};

enum { IN_RUN, IN_APWT, IN_CPWT, IN_APLT, IN_MEAN, N_IN };

static const struct pp_column run_columns[N_IN] = {
    [IN_RUN] = {"dir", "capture", PP_TYPE_TEXT, PP_COLUMN_KEY, "the run's capture"},
    [IN_APWT] = {"apwt_ns", "APWT", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "the APWT in this run"},
    [IN_CPWT] = {"cpwt_ns", "CPWT", PP_TYPE_TIME_NS, 0, "the CPWT"},
    [IN_APLT] = {"aplt_ns", "APLT", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM, "the APLT"},
    [IN_MEAN] = {"mean_ns", "mean", PP_TYPE_TIME_NS, 0, "the mean of APWT and CPWT"},
};

static struct pp_column counted_metric_columns[N_OF], counted_run_columns[N_IN];

enum { S_LOCK, S_TYPE, S_ENTRY, S_EXIT, S_PATH, S_METRICS, S_BY_RUN, N_SECTION_COLUMNS };

#define SECTION_COLUMNS(metrics, by_run)                                                           \
	[S_LOCK] = {"lock", "lock", PP_TYPE_TEXT, PP_COLUMN_KEY, "as in bottlenecks"},             \
	[S_TYPE] = {"type", "type", PP_TYPE_TEXT, PP_COLUMN_KEY, "the same"},                      \
	[S_ENTRY] = {"entry", "entered at", PP_TYPE_TEXT, PP_COLUMN_KEY, "the same"},              \
	[S_EXIT] = {"exit", "left at", PP_TYPE_TEXT, PP_COLUMN_KEY, "the same"},                   \
	[S_PATH] = {"path", "called by", PP_TYPE_TEXT, PP_COLUMN_KEY, "the same"},                 \
	[S_METRICS] = {"metrics", "metrics", PP_TYPE_TABLE, 0, "those above 0", metrics, N_OF},    \
	[S_BY_RUN] = {"by_run", "runs", PP_TYPE_TABLE, 0, "the values in each run", by_run, N_IN}

static const struct pp_column section_columns[] = {SECTION_COLUMNS(metric_columns, run_columns)};
static const struct pp_column counted_section_columns[] = {
    SECTION_COLUMNS(counted_metric_columns, counted_run_columns)};

const char *const pp_bottleneck_metrics[PP_N_BOTTLENECK_METRICS] = {
    [PP_BY_APWT] = "apwt", [PP_BY_CPWT] = "cpwt", [PP_BY_APLT] = "aplt", [PP_BY_MEAN] = "mean"};

/* A row of a run. */
struct found {
	guint run;
	char *texts[N_COLUMNS]; /* LOCK, TYPE, ENTRY, EXIT, PATH; NULL: not known */
	double ns[PP_N_BOTTLENECK_METRICS];
};

struct pp_bottleneck_runs {
	guint n;
	GPtrArray *dirs;      /* of char *: the captures of the runs */
	bool is_counted;      /* metrics are numbers of conditionals */
	GPtrArray *found;     /* of struct found * */
	GHashTable *pathless; /* a set of texts: sections that are one row for all paths in a run */
};

static const unsigned text_columns[] = {LOCK, TYPE, ENTRY, EXIT, PATH};

static void found_free(void *data)
{
	struct found *found = data;

	for (unsigned i = 0; i < N_COLUMNS; i++)
		g_free(found->texts[i]);
	g_free(found);
}

struct pp_bottleneck_runs *pp_bottleneck_runs_new(bool is_counted)
{
	struct pp_bottleneck_runs *runs = g_new0(struct pp_bottleneck_runs, 1);

	runs->found = g_ptr_array_new_with_free_func(found_free);
	runs->pathless = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	runs->dirs = g_ptr_array_new_with_free_func(g_free);
	runs->is_counted = is_counted;
	pp_cost_counted(counted_columns, columns, N_COLUMNS);
	pp_cost_counted(counted_metric_columns, metric_columns, N_OF);
	pp_cost_counted(counted_run_columns, run_columns, N_IN);
	return runs;
}

void pp_bottleneck_runs_free(struct pp_bottleneck_runs *runs)
{
	g_ptr_array_unref(runs->found);
	g_ptr_array_unref(runs->dirs);
	g_hash_table_unref(runs->pathless);
	g_free(runs);
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

/* The code without its callers.  Which of its locks has most waits may differ between runs. */
static char *code_of(const struct found *found)
{
	return g_strdup_printf("%s\n%s\n%s", text_or_empty(found->texts[TYPE]),
			       text_or_empty(found->texts[ENTRY]),
			       text_or_empty(found->texts[EXIT]));
}

static double metric_at(const struct pp_bottleneck_runs *runs, const struct pp_table *table,
			guint row, const char *metric)
{
	g_autofree char *key =
	    g_strconcat(metric, runs->is_counted ? "_conditionals" : "_ns", NULL);
	const struct pp_cell *cell = pp_table_cell(table, row, key);

	if (!cell || cell->missing)
		return 0;
	return runs->is_counted ? (double)cell->count : (double)cell->time_ns;
}

void pp_bottleneck_runs_add(struct pp_bottleneck_runs *runs, const char *dir,
			    const struct pp_table *table)
{
	for (guint row = 0; row < table->rows->len; row++) {
		const struct pp_cell *all_paths = pp_table_cell(table, row, "all_paths");
		struct found *found = g_new0(struct found, 1);

		found->run = runs->n;
		for (unsigned i = 0; i < G_N_ELEMENTS(text_columns); i++) {
			const struct pp_cell *cell =
			    pp_table_cell(table, row, columns[text_columns[i]].key);

			found->texts[text_columns[i]] = cell ? g_strdup(cell->text) : NULL;
		}
		for (unsigned i = 0; i < PP_N_BOTTLENECK_METRICS; i++)
			found->ns[i] = metric_at(runs, table, row, pp_bottleneck_metrics[i]);
		if (all_paths && all_paths->truth)
			g_hash_table_add(runs->pathless, code_of(found));
		g_ptr_array_add(runs->found, found);
	}
	g_ptr_array_add(runs->dirs, g_strdup(dir));
	runs->n++;
}

/* --- sections ------------------------------------------------------------------------------- */

/* A section of all runs. */
struct section {
	const struct found *first; /* for its texts */
	guint order;
	double *ns[PP_N_BOTTLENECK_METRICS]; /* by run */
};

static void section_free(void *data)
{
	struct section *section = data;

	for (unsigned i = 0; i < PP_N_BOTTLENECK_METRICS; i++)
		g_free(section->ns[i]);
	g_free(section);
}

static struct section *section_of(const struct pp_bottleneck_runs *runs, GHashTable *sections,
				  const struct found *found)
{
	char *key = code_of(found);
	struct section *section;

	if (!g_hash_table_contains(runs->pathless, key)) {
		g_autofree char *code = key;

		key = g_strdup_printf("%s\n%s", code, text_or_empty(found->texts[PATH]));
	}
	section = g_hash_table_lookup(sections, key);
	if (section) {
		g_free(key);
		return section;
	}
	section = g_new0(struct section, 1);
	section->first = found;
	section->order = g_hash_table_size(sections);
	for (unsigned i = 0; i < PP_N_BOTTLENECK_METRICS; i++)
		section->ns[i] = g_new0(double, runs->n);
	g_hash_table_insert(sections, key, section);
	return section;
}

static GHashTable *sections_new(const struct pp_bottleneck_runs *runs)
{
	GHashTable *sections = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, section_free);

	for (guint i = 0; i < runs->found->len; i++) {
		const struct found *found = runs->found->pdata[i];
		struct section *section = section_of(runs, sections, found);

		for (unsigned j = 0; j < PP_N_BOTTLENECK_METRICS; j++) {
			double *ns = &section->ns[j][found->run];

			/* Rows of one lock have the same APLT. */
			*ns = j == PP_BY_APLT ? fmax(*ns, found->ns[j]) : *ns + found->ns[j];
		}
	}
	return sections;
}

/* --- statistics ----------------------------------------------------------------------------- */

static bool is_conclusive(const struct pp_bottleneck_runs *runs, const struct pp_spread *spread)
{
	return runs->n > 1 && spread->sigma < CONCLUSIVE * spread->mean;
}

bool pp_bottleneck_runs_are_conclusive(const struct pp_bottleneck_runs *runs,
				       enum pp_bottleneck_metric metric)
{
	g_autoptr(GHashTable) sections = sections_new(runs);
	GHashTableIter iter;
	void *section;

	g_hash_table_iter_init(&iter, sections);
	while (g_hash_table_iter_next(&iter, NULL, &section)) {
		struct pp_spread spread =
		    pp_spread_of(((const struct section *)section)->ns[metric], runs->n);

		if (spread.mean > 0 && !is_conclusive(runs, &spread))
			return false;
	}
	return runs->n > 1;
}

/* --- tables --------------------------------------------------------------------------------- */

struct ranked {
	const struct section *section;
	struct pp_spread spread;
};

static gint by_mean(gconstpointer a, gconstpointer b)
{
	const struct ranked *x = a, *y = b;

	if (x->spread.mean != y->spread.mean)
		return x->spread.mean > y->spread.mean ? -1 : 1;
	return x->section->order < y->section->order ? -1 : x->section->order > y->section->order;
}

/* Those with a mean above 0, in order.  The caller unrefs the array. */
static GArray *rank(const struct pp_bottleneck_runs *runs, GHashTable *sections,
		    enum pp_bottleneck_metric metric)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct ranked));
	GHashTableIter iter;
	void *section;

	g_hash_table_iter_init(&iter, sections);
	while (g_hash_table_iter_next(&iter, NULL, &section)) {
		const struct section *of = section;
		const struct ranked ranked = {of, pp_spread_of(of->ns[metric], runs->n)};

		if (ranked.spread.mean > 0)
			g_array_append_val(all, ranked);
	}
	g_array_sort(all, by_mean);
	return all;
}

static void set_cost(struct pp_cell *cell, const struct pp_bottleneck_runs *runs, double cost)
{
	pp_cost_set(cell, runs->is_counted, (int64_t)llround(cost));
}

static void put_row(struct pp_table *table, const struct pp_bottleneck_runs *runs,
		    const struct ranked *ranked)
{
	static const unsigned means[][2] = {
	    {PP_BY_APWT, APWT}, {PP_BY_CPWT, CPWT}, {PP_BY_APLT, APLT}};
	const struct section *section = ranked->section;
	const struct pp_spread *spread = &ranked->spread;
	struct pp_cell *cells = pp_table_add_row(table);

	for (unsigned i = 0; i < G_N_ELEMENTS(text_columns); i++)
		pp_cell_set_text(&cells[text_columns[i]], section->first->texts[text_columns[i]]);
	set_cost(&cells[MEAN], runs, spread->mean);
	if (runs->n > 1) {
		set_cost(&cells[SIGMA], runs, spread->sigma);
		pp_cell_set_number(&cells[SIGMA_PCT], 100 * spread->sigma / spread->mean);
	}
	set_cost(&cells[LEAST], runs, spread->least);
	set_cost(&cells[MOST], runs, spread->most);
	pp_cell_set_count(&cells[RUNS], spread->n_nonzero);
	for (unsigned i = 0; i < G_N_ELEMENTS(means); i++)
		set_cost(&cells[means[i][1]], runs,
			 pp_spread_of(section->ns[means[i][0]], runs->n).mean);
}

void pp_bottleneck_runs_tables(const struct pp_bottleneck_runs *runs,
			       enum pp_bottleneck_metric metric, GPtrArray *tables)
{
	const struct pp_column *used = runs->is_counted ? counted_columns : columns;
	struct pp_table *conclusive =
	    pp_table_new("bottlenecks", "Critical sections of all runs", used, N_COLUMNS);
	struct pp_table *others = pp_table_new(
	    "inconclusive", "Inconclusive: sigma is 1 % of the mean or more", used, N_COLUMNS);
	g_autoptr(GHashTable) sections = sections_new(runs);
	g_autoptr(GArray) all = rank(runs, sections, metric);

	for (guint i = 0; i < all->len; i++) {
		const struct ranked *ranked = &g_array_index(all, struct ranked, i);

		put_row(is_conclusive(runs, &ranked->spread) ? conclusive : others, runs, ranked);
	}
	conclusive->text_rows = others->text_rows = TEXT_ROWS;
	g_ptr_array_add(tables, conclusive);
	g_ptr_array_add(tables, others);
}

/* --- all metrics of the sections ------------------------------------------------------------- */

static struct pp_table *make_metrics(const struct pp_bottleneck_runs *runs,
				     const struct section *section)
{
	const struct pp_column *used = runs->is_counted ? counted_section_columns : section_columns;
	struct pp_table *table = pp_table_new_nested(&used[S_METRICS]);

	for (unsigned metric = 0; metric < PP_N_BOTTLENECK_METRICS; metric++) {
		struct pp_spread spread = pp_spread_of(section->ns[metric], runs->n);
		struct pp_cell *cells;

		if (spread.mean <= 0)
			continue;
		cells = pp_table_add_row(table);
		pp_cell_set_text(&cells[OF], pp_bottleneck_metrics[metric]);
		set_cost(&cells[OF_MEAN], runs, spread.mean);
		set_cost(&cells[OF_LEAST], runs, spread.least);
		set_cost(&cells[OF_MOST], runs, spread.most);
		pp_cell_set_count(&cells[OF_RUNS], spread.n_nonzero);
		pp_cell_set_bool(&cells[OF_CONCLUSIVE], is_conclusive(runs, &spread));
		if (runs->n < 2)
			continue;
		set_cost(&cells[OF_SIGMA], runs, spread.sigma);
		pp_cell_set_number(&cells[OF_SIGMA_PCT], 100 * spread.sigma / spread.mean);
	}
	return table;
}

static struct pp_table *make_by_run(const struct pp_bottleneck_runs *runs,
				    const struct section *section)
{
	static const unsigned at[PP_N_BOTTLENECK_METRICS] = {[PP_BY_APWT] = IN_APWT,
							     [PP_BY_CPWT] = IN_CPWT,
							     [PP_BY_APLT] = IN_APLT,
							     [PP_BY_MEAN] = IN_MEAN};
	const struct pp_column *used = runs->is_counted ? counted_section_columns : section_columns;
	struct pp_table *table = pp_table_new_nested(&used[S_BY_RUN]);

	for (guint run = 0; run < runs->n; run++) {
		struct pp_cell *cells = pp_table_add_row(table);

		pp_cell_set_text(&cells[IN_RUN], runs->dirs->pdata[run]);
		for (unsigned metric = 0; metric < PP_N_BOTTLENECK_METRICS; metric++)
			set_cost(&cells[at[metric]], runs, section->ns[metric][run]);
	}
	return table;
}

static void put_section(struct pp_table *table, const struct pp_bottleneck_runs *runs,
			const struct section *section)
{
	static const unsigned from[] = {
	    [S_LOCK] = LOCK, [S_TYPE] = TYPE, [S_ENTRY] = ENTRY, [S_EXIT] = EXIT, [S_PATH] = PATH};
	struct pp_cell *cells = pp_table_add_row(table);

	for (unsigned i = 0; i < G_N_ELEMENTS(from); i++)
		pp_cell_set_text(&cells[i], section->first->texts[from[i]]);
	pp_cell_set_table(&cells[S_METRICS], make_metrics(runs, section));
	pp_cell_set_table(&cells[S_BY_RUN], make_by_run(runs, section));
}

struct pp_table *pp_bottleneck_runs_sections(const struct pp_bottleneck_runs *runs,
					     enum pp_bottleneck_metric first)
{
	struct pp_table *table = pp_table_new(
	    "sections", "All metrics of the sections",
	    runs->is_counted ? counted_section_columns : section_columns, N_SECTION_COLUMNS);
	g_autoptr(GHashTable) sections = sections_new(runs);
	g_autoptr(GHashTable) done = g_hash_table_new(NULL, NULL);

	table->is_for_programs = true;
	for (unsigned i = 0; i < PP_N_BOTTLENECK_METRICS; i++) {
		g_autoptr(GArray) all = rank(runs, sections, (first + i) % PP_N_BOTTLENECK_METRICS);

		for (guint at = 0; at < all->len; at++) {
			const struct section *section =
			    g_array_index(all, struct ranked, at).section;

			if (g_hash_table_add(done, (void *)section))
				put_section(table, runs, section);
		}
	}
	return table;
}
