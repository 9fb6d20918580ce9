/* SPDX-License-Identifier: MIT */
/* The table of a test's scalability, and that of the laws fitted to it. */
#include "cli/campaign/scaling.h"

#include <inttypes.h>
#include <math.h>

#include "cli/campaign/cells.h"
#include "cli/campaign/engine.h"
#include "statistics/scaling.h"

/* As a share of the run, the time for which threads wait for a CPU without other load. */
#define OTHER_LOAD 0.1

static const char *const varied[PP_N_SERIES] = {
    [PP_SERIES_THREADS] = "threads", [PP_SERIES_CPUS] = "cpus"};

static int64_t number_of(const struct pp_step *step, enum pp_series kind)
{
	return kind == PP_SERIES_THREADS ? step->point.threads : step->point.cpus;
}

/* --- scalability ---------------------------------------------------------------------------- */

enum {
	TEST,
	VARIES,
	NUMBER,
	WORKLOAD,
	RUNS,
	FAILED,
	WALL,
	SIGMA,
	SPEEDUP,
	EFFICIENCY,
	USE,
	SHARES,
	BY_RUN = SHARES + PP_N_TIME_CELLS,
	N_COLUMNS
};

enum { OF_WALL, OF_SPEEDUP, N_OF_RUN };

static const struct pp_column by_run_columns[N_OF_RUN] = {
    [OF_WALL] = {"wall_ns", "run time", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "without recording"},
    [OF_SPEEDUP] = {"speedup", "speedup", PP_TYPE_RATIO, 0,
		    "mean run time of the first number / run time"},
};

static const struct pp_column columns[N_COLUMNS] = {
    [TEST] = {"test", "test", PP_TYPE_TEXT, PP_COLUMN_KEY, "its name"},
    [VARIES] = {"varies", "varies", PP_TYPE_TEXT, PP_COLUMN_KEY, "threads, or cpus"},
    [NUMBER] = {"number", "number", PP_TYPE_COUNT, PP_COLUMN_KEY | PP_COLUMN_NO_SUM,
		"of threads, or CPUs; of the other, the most"},
    [WORKLOAD] = {"workload", "workload", PP_TYPE_COUNT, PP_COLUMN_NO_SUM, "the number for {w}"},
    [RUNS] = {"runs", "runs", PP_TYPE_COUNT, PP_COLUMN_MORE, "runs that count"},
    [FAILED] = {"failed", "failed", PP_TYPE_COUNT, PP_COLUMN_MORE, "runs that failed"},
    [WALL] = {"wall_ns", "run time", PP_TYPE_TIME_NS, PP_COLUMN_MAIN, "mean, without recording"},
    [SIGMA] = {"wall_sigma_ns", "sigma", PP_TYPE_TIME_NS, PP_COLUMN_NO_SUM,
	       "standard deviation of the run time"},
    [SPEEDUP] = {"speedup", "speedup", PP_TYPE_RATIO, PP_COLUMN_STAYS,
		 "run time of the first number / run time"},
    [EFFICIENCY] = {"efficiency_pct", "efficiency", PP_TYPE_PERCENT, 0,
		    "speedup / (number / first number)"},
    [USE] = {"cpu_use_pct", "CPU use", PP_TYPE_PERCENT, 0,
	     "mean of CPU time / (run time * the lesser of threads and CPUs)"},
    PP_CAMPAIGN_TIME_COLUMNS(SHARES),
    [BY_RUN] = {"by_run", "runs", PP_TYPE_TABLE, 0, "the runs that count", by_run_columns,
		N_OF_RUN},
};

static struct pp_table *make_by_run(const struct pp_step *step, const struct pp_step *first)
{
	struct pp_table *table = pp_table_new_nested(&columns[BY_RUN]);

	for (guint i = 0; i < step->wall->len; i++) {
		struct pp_cell *cells = pp_table_add_row(table);
		double wall = g_array_index(step->wall, double, i);

		pp_cell_set_time(&cells[OF_WALL], (int64_t)(wall * 1e9));
		if (first->wall->len)
			pp_cell_set_number(&cells[OF_SPEEDUP], first->wall_spread.mean / wall);
	}
	return table;
}

static void set_figures(struct pp_cell *row, const struct pp_step *step,
			const struct pp_step *first, enum pp_series kind)
{
	double ratio = (double)number_of(step, kind) / (double)number_of(first, kind);

	pp_campaign_set_value(&row[NUMBER], number_of(step, kind));
	pp_campaign_set_value(&row[WORKLOAD], step->point.workload);
	pp_cell_set_count(&row[RUNS], step->wall->len);
	pp_cell_set_count(&row[FAILED], step->n_failed);
	pp_cell_set_table(&row[BY_RUN], make_by_run(step, first));
	if (!step->wall->len)
		return;
	pp_cell_set_time(&row[WALL], (int64_t)(step->wall_spread.mean * 1e9));
	if (step->wall->len > 1)
		pp_cell_set_time(&row[SIGMA], (int64_t)(step->wall_spread.sigma * 1e9));
	if (step->use->len)
		pp_cell_set_number(&row[USE], 100 * step->use_spread.mean);
	if (first->wall->len) {
		double speedup = first->wall_spread.mean / step->wall_spread.mean;

		pp_cell_set_number(&row[SPEEDUP], speedup);
		pp_cell_set_number(&row[EFFICIENCY], 100 * speedup / ratio);
	}
}

/* Threads that could have a CPU each were ready without one for a tenth of the run or longer. */
static bool has_other_load(struct pp_campaign *campaign, const struct pp_test *test,
			   const struct pp_step *step)
{
	const struct pp_facts *facts = pp_campaign_facts(campaign, test, &step->point);
	int64_t n_cpus = pp_point_cpus(&step->point);

	return facts && !facts->error && step->n_threads && step->n_threads <= n_cpus &&
	       facts->time.wall_ns > 0 &&
	       facts->time.runnable_ns >=
		   OTHER_LOAD * facts->time.wall_ns * (double)step->n_threads;
}

static void note_other_load(struct pp_table *table, struct pp_campaign *campaign,
			    const struct pp_tested *tested, enum pp_series kind)
{
	g_autoptr(GString) numbers = g_string_new(NULL);

	for (guint i = 0; i < tested->series[kind]->len; i++) {
		const struct pp_step *step = tested->series[kind]->pdata[i];

		if (has_other_load(campaign, tested->test, step))
			g_string_append_printf(numbers, "%s%" PRId64, numbers->len ? ", " : "",
					       number_of(step, kind));
	}
	if (numbers->len)
		pp_table_note(
		    table,
		    "%s, %s %s: threads were ready without a CPU, though they are no more "
		    "than the CPUs: other load, which makes run times longer",
		    tested->test->name, varied[kind], numbers->str);
}

struct pp_table *pp_campaign_table_scalability(struct pp_campaign *campaign)
{
	struct pp_table *table = pp_table_new("scalability", "Scalability", columns, N_COLUMNS);

	table->is_in_order = true;
	for (guint t = 0; t < campaign->tested->len; t++) {
		const struct pp_tested *tested = campaign->tested->pdata[t];

		for (unsigned kind = 0; kind < PP_N_SERIES; kind++) {
			for (guint i = 0; i < tested->series[kind]->len; i++) {
				const struct pp_step *step = tested->series[kind]->pdata[i];
				struct pp_cell *row = pp_table_add_row(table);

				pp_cell_set_text(&row[TEST], tested->test->name);
				pp_cell_set_text(&row[VARIES], varied[kind]);
				set_figures(row, step, tested->series[kind]->pdata[0], kind);
				pp_campaign_set_time(campaign, tested->test, step, table,
						     &row[SHARES]);
			}
			note_other_load(table, campaign, tested, kind);
		}
	}
	return table;
}

/* --- laws ----------------------------------------------------------------------------------- */

enum {
	L_TEST,
	L_VARIES,
	L_LAW,
	L_SERIAL,
	L_SERIAL_LOW,
	L_SERIAL_HIGH,
	L_COHERENCY,
	L_COHERENCY_LOW,
	L_COHERENCY_HIGH,
	L_MOST,
	L_PEAK,
	L_ERROR,
	N_LAW_COLUMNS
};

static const struct pp_column law_columns[N_LAW_COLUMNS] = {
    [L_TEST] = {"test", "test", PP_TYPE_TEXT, PP_COLUMN_KEY, "its name"},
    [L_VARIES] = {"varies", "varies", PP_TYPE_TEXT, PP_COLUMN_KEY, "threads, or cpus"},
    [L_LAW] = {"law", "law", PP_TYPE_TEXT, PP_COLUMN_KEY, "Amdahl, or universal"},
    [L_SERIAL] = {"serial_pct", "serial", PP_TYPE_PERCENT, PP_COLUMN_STAYS,
		  "serial share; universal: contention"},
    [L_SERIAL_LOW] = {"serial_low_pct", "from", PP_TYPE_PERCENT, 0, "its 95 % interval"},
    [L_SERIAL_HIGH] = {"serial_high_pct", "to", PP_TYPE_PERCENT, 0, "its 95 % interval"},
    [L_COHERENCY] = {"coherency_pct", "coherency", PP_TYPE_PERCENT, PP_COLUMN_STAYS,
		     "cost of each pair"},
    [L_COHERENCY_LOW] = {"coherency_low_pct", "from", PP_TYPE_PERCENT, 0, "its 95 % interval"},
    [L_COHERENCY_HIGH] = {"coherency_high_pct", "to", PP_TYPE_PERCENT, 0, "its 95 % interval"},
    [L_MOST] = {"most_speedup", "most", PP_TYPE_RATIO, 0,
		"the greatest speedup by the law, with any number"},
    [L_PEAK] = {"peak", "at", PP_TYPE_RATIO, 0, "the number with the greatest speedup"},
    [L_ERROR] = {"error_pct", "error", PP_TYPE_PERCENT, 0,
		 "root mean square of the differences to the measured means"},
};

static const char *const laws[PP_N_SCALING_LAWS] = {
    [PP_AMDAHL] = "Amdahl", [PP_UNIVERSAL] = "universal"};

/* The greatest speedup; missing if it is infinite. */
static void set_most(struct pp_cell *row, enum pp_scaling_law law, const struct pp_scaling_fit *fit)
{
	double peak = pp_scaling_peak(fit);

	if (law == PP_UNIVERSAL && isfinite(peak)) {
		peak = fmax(peak, 1);
		pp_cell_set_number(&row[L_PEAK], peak);
		pp_cell_set_number(&row[L_MOST], fit->t1.value / pp_scaling_time(fit, peak));
	} else if (fit->serial.value > 0) {
		pp_cell_set_number(&row[L_MOST], fmax(1 / fit->serial.value, 1));
	}
}

static void set_law(struct pp_cell *row, enum pp_scaling_law law, const struct pp_scaling_fit *fit)
{
	pp_cell_set_text(&row[L_LAW], laws[law]);
	pp_cell_set_number(&row[L_SERIAL], 100 * fit->serial.value);
	pp_cell_set_number(&row[L_SERIAL_LOW], 100 * fit->serial.low);
	pp_cell_set_number(&row[L_SERIAL_HIGH], 100 * fit->serial.high);
	pp_cell_set_number(&row[L_ERROR], 100 * fit->error);
	set_most(row, law, fit);
	if (law == PP_AMDAHL)
		return;
	pp_cell_set_number(&row[L_COHERENCY], 100 * fit->coherency.value);
	pp_cell_set_number(&row[L_COHERENCY_LOW], 100 * fit->coherency.low);
	pp_cell_set_number(&row[L_COHERENCY_HIGH], 100 * fit->coherency.high);
}

/* All runs of a series that count. */
static GArray *runs_of(const GPtrArray *series, enum pp_series kind)
{
	GArray *runs = g_array_new(FALSE, FALSE, sizeof(struct pp_scaling_run));

	for (guint i = 0; i < series->len; i++) {
		const struct pp_step *step = series->pdata[i];

		for (guint j = 0; j < step->wall->len; j++) {
			struct pp_scaling_run run = {(double)number_of(step, kind),
						     g_array_index(step->wall, double, j)};

			g_array_append_val(runs, run);
		}
	}
	return runs;
}

/* A serial share above 100 %: Amdahl's law has none. */
static void note_slower(struct pp_table *table, const struct pp_test *test, enum pp_series kind,
			const struct pp_scaling_fit *fit)
{
	if (fit->serial.value <= 1)
		return;
	if (kind == PP_SERIES_THREADS && !pp_test_shares_work(test))
		pp_table_note(
		    table,
		    "%s: more threads take longer, as if each did all of the work: if {w} "
		    "is the work of one thread, {w/t} keeps the sum constant",
		    test->name);
	else
		pp_table_note(table,
			      "%s, %s: more of them take longer: Amdahl's law, by which the serial "
			      "share is 100 %% at most, does not hold",
			      test->name, varied[kind]);
}

static void add_laws(struct pp_table *table, const struct pp_tested *tested, enum pp_series kind)
{
	g_autoptr(GArray) runs = runs_of(tested->series[kind], kind);

	for (unsigned law = 0; law < PP_N_SCALING_LAWS; law++) {
		struct pp_scaling_fit fit;
		struct pp_cell *row;

		if (!pp_scaling_fit(law, (const void *)runs->data, runs->len, &fit))
			continue;
		row = pp_table_add_row(table);
		pp_cell_set_text(&row[L_TEST], tested->test->name);
		pp_cell_set_text(&row[L_VARIES], varied[kind]);
		set_law(row, law, &fit);
		if (law == PP_AMDAHL)
			note_slower(table, tested->test, kind, &fit);
		if (fit.n_steps == (law == PP_AMDAHL ? 2 : 3))
			pp_table_note(
			    table,
			    "%s, %s: %zu numbers cannot check the %s law, which has as many "
			    "parameters",
			    tested->test->name, varied[kind], fit.n_steps, laws[law]);
	}
}

struct pp_table *pp_campaign_table_laws(struct pp_campaign *campaign)
{
	struct pp_table *table =
	    pp_table_new("laws", "Laws of scalability", law_columns, N_LAW_COLUMNS);

	table->is_in_order = true;
	for (guint t = 0; t < campaign->tested->len; t++)
		for (unsigned kind = 0; kind < PP_N_SERIES; kind++)
			add_laws(table, campaign->tested->pdata[t], kind);
	return table;
}

/* --- curves --------------------------------------------------------------------------------- */

/* The most points of a curve, beside the measured ones. */
#define POINTS 64

enum { C_TEST, C_VARIES, C_LAW, C_NUMBER, C_SPEEDUP, C_LOW, C_HIGH, N_CURVE_COLUMNS };

static const struct pp_column curve_columns[N_CURVE_COLUMNS] = {
    [C_TEST] = {"test", "test", PP_TYPE_TEXT, PP_COLUMN_KEY, "its name"},
    [C_VARIES] = {"varies", "varies", PP_TYPE_TEXT, PP_COLUMN_KEY, "threads, or cpus"},
    [C_LAW] = {"law", "law", PP_TYPE_TEXT, PP_COLUMN_KEY, "Amdahl, or universal"},
    [C_NUMBER] = {"number", "number", PP_TYPE_RATIO, PP_COLUMN_KEY, "of threads, or CPUs"},
    [C_SPEEDUP] = {"speedup", "speedup", PP_TYPE_RATIO, PP_COLUMN_MAIN,
		   "mean run time of the first number / run time by the law"},
    [C_LOW] = {"speedup_low", "from", PP_TYPE_RATIO, 0, "its 95 % interval"},
    [C_HIGH] = {"speedup_high", "to", PP_TYPE_RATIO, 0, "its 95 % interval"},
};

static int by_number(gconstpointer a, gconstpointer b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The measured numbers, and others between them.  The caller unrefs the array. */
static GArray *numbers_of(const GPtrArray *series, enum pp_series kind)
{
	GArray *numbers = g_array_new(FALSE, FALSE, sizeof(double));
	double first = (double)number_of(series->pdata[0], kind);
	double last = (double)number_of(series->pdata[series->len - 1], kind);
	double step = (last - first) / POINTS;

	for (guint i = 0; i < series->len; i++) {
		double number = (double)number_of(series->pdata[i], kind);

		g_array_append_val(numbers, number);
	}
	for (unsigned i = 1; i < POINTS; i++) {
		double number = first + i * step;
		bool is_measured = false;

		for (guint j = 0; j < series->len; j++)
			is_measured |= (double)number_of(series->pdata[j], kind) == number;
		if (!is_measured)
			g_array_append_val(numbers, number);
	}
	g_array_sort(numbers, by_number);
	return numbers;
}

static void add_curve(struct pp_table *table, const struct pp_tested *tested, enum pp_series kind,
		      enum pp_scaling_law law)
{
	const GPtrArray *series = tested->series[kind];
	const struct pp_step *first = series->pdata[0];
	g_autoptr(GArray) runs = runs_of(series, kind), numbers = numbers_of(series, kind);
	g_autofree struct pp_estimate *times = g_new(struct pp_estimate, numbers->len);

	if (!first->wall->len ||
	    !pp_scaling_curve(law, (const void *)runs->data, runs->len, (const void *)numbers->data,
			      numbers->len, times))
		return;
	for (guint i = 0; i < numbers->len; i++) {
		struct pp_cell *row = pp_table_add_row(table);

		pp_cell_set_text(&row[C_TEST], tested->test->name);
		pp_cell_set_text(&row[C_VARIES], varied[kind]);
		pp_cell_set_text(&row[C_LAW], laws[law]);
		pp_cell_set_number(&row[C_NUMBER], g_array_index(numbers, double, i));
		pp_cell_set_number(&row[C_SPEEDUP], first->wall_spread.mean / times[i].value);
		pp_cell_set_number(&row[C_LOW], first->wall_spread.mean / times[i].high);
		pp_cell_set_number(&row[C_HIGH], first->wall_spread.mean / times[i].low);
	}
}

struct pp_table *pp_campaign_table_curves(struct pp_campaign *campaign)
{
	struct pp_table *table =
	    pp_table_new("curves", "Curves of the laws", curve_columns, N_CURVE_COLUMNS);

	table->is_in_order = true;
	table->is_for_programs = true;
	for (guint t = 0; t < campaign->tested->len; t++) {
		const struct pp_tested *tested = campaign->tested->pdata[t];

		for (unsigned kind = 0; kind < PP_N_SERIES; kind++)
			for (unsigned law = 0; tested->series[kind]->len && law < PP_N_SCALING_LAWS;
			     law++)
				add_curve(table, tested, kind, law);
	}
	return table;
}
