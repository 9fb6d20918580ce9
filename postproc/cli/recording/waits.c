/* SPDX-License-Identifier: MIT */
/*
 * Adds up the waits of a finished recording with the pass of `report locks`, and finds their
 * leading cause as `report summary` does.  If its speed shows
 * that reading everything would take longer than two seconds, it reads windows of the time instead,
 * so many that these two seconds suffice, and scales the sums.  Of LTTng's traces, which Babeltrace
 * reads, it reads the first part.
 */
#include "cli/recording/waits.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/thread_cells.h"
#include "capture/traces.h"
#include "cli/select.h"
#include "cli/view.h"
#include "core/progress.h"
#include "core/text/duration.h"
#include "events/events.h"
#include "pass/finding.h"
#include "pass/top.h"

#define MAX_WAITS 3
#define LIMIT_US  2000000
#define LEARN_US  200000 /* before the speed is known */
#define REST_US	  300000 /* reading all is not given up for less than this */
/* The share of the remaining time for which windows are planned; finding packets takes some, too.
 */
#define PLANNED_SHARE 0.6
/* The leading cause is left out if the error of the longest waits is more than this part of them.
 */
#define MAX_ERROR 0.5
/* Waits below this part of the time do not explain the program's speed. */
#define NOTABLE_PART 100

struct reading {
	int64_t begin_us;
	uint64_t all_bytes;
	uint64_t max_bytes; /* to read this much, however long it takes; 0: no such limit */
	bool has_windows;   /* else only a first part can be read */
};

/*
 * Without the kernel's events, a wait lasts from its begin to its end, regardless of the CPU.
 * Samples are in no wait.  Returns true if there are such events.
 */
static bool leave_out_others(struct pp_capture *capture)
{
	bool has_kernel = false;

	for (guint i = capture->traces->len; i-- > 0;) {
		const struct pp_trace *trace = capture->traces->pdata[i];

		if ((trace->process || trace->is_ust) && !trace->is_samples)
			continue;
		has_kernel |= !trace->is_samples;
		g_ptr_array_remove_index(capture->traces, i);
	}
	return has_kernel;
}

/* --- time ------------------------------------------------------------------------------------- */

static void begin_reading(struct reading *reading, const struct pp_capture *capture)
{
	const char *max = g_getenv("GPROF_MT_SUMMARY_BYTES"); /* for tests */

	*reading = (struct reading){
	    .begin_us = g_get_monotonic_time(),
	    .max_bytes = max ? g_ascii_strtoull(max, NULL, 10) : 0,
	    .has_windows = pp_events_have_windows(capture),
	};
	for (guint i = 0; i < capture->traces->len; i++) {
		const struct pp_trace *trace = capture->traces->pdata[i];

		if (!trace->is_accesses) /* they are not read */
			reading->all_bytes += pp_trace_bytes(trace);
	}
}

static double bytes_per_us(const struct reading *reading)
{
	int64_t elapsed_us = g_get_monotonic_time() - reading->begin_us;

	return (double)pp_progress_now().read_bytes / (double)MAX(elapsed_us, 1);
}

static bool may_read_all(void *data)
{
	const struct reading *reading = data;
	int64_t elapsed_us = g_get_monotonic_time() - reading->begin_us;
	double left_bytes = (double)reading->all_bytes - (double)pp_progress_now().read_bytes;

	if (reading->max_bytes && reading->has_windows)
		return reading->all_bytes <= reading->max_bytes;
	if (reading->max_bytes)
		return pp_progress_now().read_bytes <= reading->max_bytes;
	if (!reading->has_windows)
		return elapsed_us < LIMIT_US;
	return elapsed_us < LEARN_US ||
	       left_bytes / bytes_per_us(reading) < (double)MAX(LIMIT_US - elapsed_us, REST_US);
}

static bool may_read_on(void *data)
{
	const struct reading *reading = data;

	return reading->max_bytes || g_get_monotonic_time() - reading->begin_us < LIMIT_US;
}

/* The number of bytes that can be read in the remaining time. */
static uint64_t plan(const struct reading *reading)
{
	int64_t left_us = LIMIT_US - (g_get_monotonic_time() - reading->begin_us);

	if (reading->max_bytes)
		return reading->max_bytes;
	return (uint64_t)(bytes_per_us(reading) * PLANNED_SHARE * (double)MAX(left_us, 0)) + 1;
}

/* --- lines ------------------------------------------------------------------------------------ */

static struct pp_table *find_table(const struct pp_view *view, const char *key)
{
	return pp_pass_set_table(view->passes, "locks", key);
}

static const char *name_of(const struct pp_table *table, guint row)
{
	const struct pp_cell *name = pp_table_cell(table, row, "name");

	return name ? name->text : NULL;
}

static bool is_same(const struct pp_table *a, guint row_a, const struct pp_table *b, guint row_b)
{
	static const char *const keys[] = {"pid", "object", "generation"};

	for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++) {
		const struct pp_cell *x = pp_table_cell(a, row_a, keys[i]);
		const struct pp_cell *y = pp_table_cell(b, row_b, keys[i]);

		if (!x != !y || (x && x->count != y->count))
			return false;
	}
	/* Objects that no longer exist share a row, without the last two cells. */
	return g_strcmp0(name_of(a, row_a), name_of(b, row_b)) == 0;
}

static char *error_of(double sum_ns, double error_ns)
{
	g_autofree char *limit = pp_duration_text((int64_t)(sum_ns + error_ns));

	return error_ns < sum_ns ? g_strdup_printf(" (+/- %.0f %%)", ceil(100 * error_ns / sum_ns))
				 : g_strdup_printf(" (up to %s)", limit);
}

/* The windows of the time that were read; NULL: all of it was, or what a ring has. */
static struct pp_windows *windows_of(const struct pp_view *view)
{
	const struct pp_selection *selection = view->context.selection;

	return selection ? selection->windows : NULL;
}

/*
 * The object's waits, other than idle ones, and their error, if they are estimated from windows of
 * the time.  Returns false if all were read.
 */
static bool find_error(const struct pp_view *view, guint row, double *ret_sum_ns,
		       double *ret_error_ns)
{
	const struct pp_table *locks = find_table(view, "locks");
	const struct pp_table *errors = find_table(view, "lock_errors");
	const struct pp_windows *windows = windows_of(view);
	const struct pp_cell *wait = pp_table_cell(locks, row, "wait_ns");
	const struct pp_cell *spin = pp_table_cell(locks, row, "spin_ns");
	const struct pp_cell *idle = pp_table_cell(locks, row, "idle_ns");
	double sum_ns = (double)(wait ? wait->time_ns : 0) + (double)(spin ? spin->time_ns : 0) -
			(double)(idle ? idle->time_ns : 0);

	for (guint i = 0; errors && windows && i < errors->rows->len; i++)
		if (is_same(locks, row, errors, i)) {
			*ret_error_ns = (double)pp_table_cell(errors, i, "error_ns")->time_ns;
			*ret_sum_ns = sum_ns * pp_windows_factor(windows);
			return true;
		}
	return false;
}

/* The error of the object's waits: a percentage, or a limit if it is large; empty if all were read.
 */
static char *error_text(const struct pp_view *view, guint row)
{
	double sum_ns, error_ns;

	return find_error(view, row, &sum_ns, &error_ns) ? error_of(sum_ns, error_ns)
							 : g_strdup("");
}

static char *windows_text(const struct pp_model *model, const struct reading *reading,
			  const struct pp_windows *windows, bool has_waits)
{
	g_autofree char *size = g_format_size_full(reading->all_bytes, G_FORMAT_SIZE_IEC_UNITS);
	g_autofree char *length = pp_duration_text(windows->len_ns);
	g_autofree char *span = pp_duration_text(windows->span_ns);
	g_autofree char *gap = pp_duration_text(pp_windows_gap_ns(windows));
	bool is_cut = windows->span_ns < model->end_ns - pp_model_origin(model);

	return g_strdup_printf("%s %u parts of %s each, %.2g %% of the %s%s: adding up all %s of "
			       "synch-events takes longer; objects whose waits are all between "
			       "these parts, and shorter than %s each, are missing",
			       has_waits ? "estimates from" : "no waits in", windows->n, length,
			       100 / pp_windows_factor(windows), is_cut ? "first " : "time",
			       is_cut ? span : "", size, gap);
}

static char *part_text(const struct pp_model *model, int64_t end_ns, bool has_waits)
{
	g_autofree char *read = pp_duration_text(end_ns - pp_model_origin(model));
	g_autofree char *all = pp_duration_text(model->end_ns - pp_model_origin(model));

	return g_strdup_printf(
	    "%s in the first %s of %s, without any later one; there are too many "
	    "synch-events to add up all now",
	    has_waits ? "waits" : "no waits", read, all);
}

/* A time of the first row; 0: there is none. */
static int64_t time_of(const struct pp_table *table, const char *key)
{
	const struct pp_cell *cell = table->rows->len ? pp_table_cell(table, 0, key) : NULL;

	return cell ? cell->time_ns : 0;
}

static const char *choose_section(const struct pp_model *model, const struct pp_table *top,
				  const struct pp_table *io)
{
	const struct pp_cell *wait = top->rows->len ? pp_table_cell(top, 0, "wait_ns") : NULL;
	const struct pp_cell *spin = top->rows->len ? pp_table_cell(top, 0, "spin_ns") : NULL;
	int64_t sum_ns = (wait ? wait->time_ns : 0) + (spin ? spin->time_ns : 0);
	int64_t least_ns = (model->end_ns - pp_model_origin(model)) / NOTABLE_PART;
	int64_t io_ns = time_of(io, "wait_ns") - time_of(io, "idle_ns");

	if (sum_ns && sum_ns >= least_ns && sum_ns >= io_ns)
		return "locks";
	if (io_ns && io_ns >= least_ns)
		return "io";
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];

		if ((thread->arcs && thread->arcs->len) ||
		    pp_thread_n_samples(thread) >= PP_MIN_SAMPLES)
			return "flat";
	}
	return "threads";
}

static void add_line(GPtrArray *lines, const char *what, bool is_estimate, const char *text)
{
	g_ptr_array_add(lines, g_strconcat(what, is_estimate ? " about " : " ", text, NULL));
}

/* One line for idle waits and idle calls. */
static void add_idle(const struct pp_view *view, double factor, bool is_estimate, GPtrArray *lines)
{
	g_autofree char *waits = pp_top_idle_text(find_table(view, "locks"), factor);
	g_autofree char *calls =
	    pp_top_io_idle_text(pp_pass_set_table(view->passes, "io", "io"), factor);
	g_autofree char *both = waits && calls ? g_strconcat(waits, "; ", calls, NULL) : NULL;

	if (waits || calls)
		add_line(lines, "idle", is_estimate, both ? both : waits ? waits : calls);
}

/*
 * The leading cause of waits.  Shares of waits hold for the part that was read; of few windows with
 * other waits each, they would not be those of the whole.
 */
static void add_finding(const struct pp_view *view, const guint *rows, unsigned n_rows,
			GPtrArray *lines)
{
	g_autofree char *line =
	    pp_finding_line(pp_pass_set_table(view->passes, "finding", "finding"));
	bool is_estimate = windows_of(view) != NULL;
	double sum_ns, error_ns;
	bool holds = !is_estimate || (n_rows && find_error(view, rows[0], &sum_ns, &error_ns) &&
				      error_ns <= MAX_ERROR * sum_ns);

	if (line && holds)
		add_line(lines, is_estimate ? "finding, estimated:" : "finding:", false, line);
}

static void add_lines(const struct pp_view *view, struct pp_table *top, GPtrArray *lines)
{
	const struct pp_windows *windows = windows_of(view);
	double factor = windows ? pp_windows_factor(windows) : 1;
	g_autofree char *io =
	    pp_top_io_text(pp_pass_set_table(view->passes, "io", "io"), 0, factor);
	guint rows[MAX_WAITS];
	unsigned n_rows = pp_top_pick(find_table(view, "locks"), MAX_WAITS, rows);

	add_finding(view, rows, n_rows, lines);
	if (windows)
		pp_top_scale(top, factor);
	for (guint i = 0; i < top->rows->len; i++) {
		g_autofree char *error = error_text(view, rows[i]);
		g_autofree char *text = pp_top_text(top, i, error);

		g_ptr_array_add(lines,
				g_strconcat(*error ? "waited about " : "waited ", text, NULL));
	}
	if (io)
		add_line(lines, "blocked", windows != NULL, io);
	add_idle(view, factor, windows != NULL, lines);
}

/* end_ns: time up to which all events were read; PP_TIME_UNKNOWN: to the end, or in windows. */
static GStrv describe(const struct pp_view *view, const struct reading *reading, int64_t end_ns,
		      const char **ret_section)
{
	const struct pp_model *model = view->capture->model;
	const struct pp_windows *windows = windows_of(view);
	struct pp_table *top = pp_top_new(find_table(view, "locks"), MAX_WAITS);
	bool has_waits = top->rows->len > 0;
	GPtrArray *lines = g_ptr_array_new();

	if (windows)
		g_ptr_array_add(lines, windows_text(model, reading, windows, has_waits));
	else if (end_ns != PP_TIME_UNKNOWN)
		g_ptr_array_add(lines, part_text(model, end_ns, has_waits));
	add_lines(view, top, lines);
	*ret_section = choose_section(model, top, pp_pass_set_table(view->passes, "io", "io"));
	pp_table_free(top);
	g_ptr_array_add(lines, NULL);
	return (GStrv)g_ptr_array_free(lines, FALSE);
}

/* --- reading ---------------------------------------------------------------------------------- */

static const char *const passes[] = {"finding", "locks", "io"};

/* Returns -ENOTSUP if the streams cannot be read in windows. */
static int read_windows(struct pp_view *view, struct reading *reading, GStrv *ret_lines,
			const char **ret_section, struct pp_error *err)
{
	struct pp_selection *selection = pp_selection_new(), *before = view->context.selection;
	struct pp_windows windows = {0};
	int rc;

	selection->model = view->capture->model;
	view->context.selection = selection;
	rc = pp_view_run_windows(view, passes, G_N_ELEMENTS(passes), &windows, plan(reading),
				 may_read_on, reading, err);
	if (rc == 0)
		*ret_lines = describe(view, reading, PP_TIME_UNKNOWN, ret_section);
	view->context.selection = before;
	g_clear_pointer(&view->passes, pp_pass_set_free);
	pp_selection_free(selection);
	pp_windows_done(&windows);
	return rc;
}

static int read_waits(struct pp_view *view, GStrv *ret_lines, const char **ret_section,
		      struct pp_error *err)
{
	struct pp_pass_set *first_passes;
	struct reading reading;
	int64_t end_ns;
	int rc;

	begin_reading(&reading, view->capture);
	rc = pp_view_run_while(view, passes, G_N_ELEMENTS(passes), may_read_all, &reading, &end_ns,
			       err);
	if (rc < 0)
		return rc;
	if (end_ns == PP_TIME_UNKNOWN || !reading.has_windows) {
		*ret_lines = describe(view, &reading, end_ns, ret_section);
		return 0;
	}
	first_passes = g_steal_pointer(&view->passes);
	rc = read_windows(view, &reading, ret_lines, ret_section, err);
	view->passes = first_passes;
	if (rc < 0)
		*ret_lines = describe(view, &reading, end_ns, ret_section);
	return 0;
}

/* `summary` knows from scheduling events when a holder ran, and may name another cause. */
static void note_calls_alone(GStrv lines)
{
	for (; lines && *lines; lines++) {
		char *line = *lines;

		if (!g_str_has_prefix(line, "finding") || strstr(line, "nothing to blame"))
			continue;
		*lines = g_strconcat(line, " (by calls alone; scheduling: gprof-mt report summary)",
				     NULL);
		g_free(line);
	}
}

GStrv pp_waits_describe(struct pp_capture *capture, const char **ret_section)
{
	/* Names in one line: short C++ names. */
	static const struct pp_symbols_options symbols = {.demangle = PP_DEMANGLE_SIMPLE};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_view view;
	GStrv lines = NULL;
	bool has_kernel;

	has_kernel = leave_out_others(capture);
	pp_view_begin(&view, capture, NULL, &symbols);
	view.context.for_text = true;
	(void)read_waits(&view, &lines, ret_section, &err);
	if (has_kernel)
		note_calls_alone(lines);
	pp_error_done(&err);
	pp_view_done(&view);
	return lines;
}
