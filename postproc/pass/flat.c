/* SPDX-License-Identifier: MIT */
/*
 * The flat profile, as gprof shows it: how often each function was called and how much CPU time
 * samples found in it, per thread and for all threads.  Functions without -pg have samples but no
 * call counts.
 *
 * Code without a symbol has one row per function, if its unwind tables give its bounds, else one
 * per file.  The code of gprof-mt's libraries has one row, the last, and no share in the
 * percentages, which are of the program's own time.
 */
#include <inttypes.h>
#include <string.h>

#include "core/text/duration.h"
#include "analysis/graph/graph.h"
#include "analysis/select.h"
#include "analysis/thread_cells.h"

enum { NAME = PP_N_NAMED_THREAD_CELLS, CALLS, RECURSIVE, SAMPLES, PERIOD, SELF };

static const struct pp_column columns[] = {
    PP_NAMED_THREAD_COLUMNS("thread"),
    [NAME] = {"name", "function", PP_TYPE_TEXT, PP_COLUMN_KEY, "function"},
    [CALLS] = {"calls", "calls", PP_TYPE_COUNT, 0, "number of calls; none: not built with -pg"},
    [RECURSIVE] = {"recursive_calls", "recursive", PP_TYPE_COUNT, 0, "of these, recursive calls"},
    [SAMPLES] = {"samples", "samples", PP_TYPE_COUNT, 0, "number of samples in it"},
    [PERIOD] = {"sample_period_ns", "period", PP_TYPE_TIME_NS, PP_COLUMN_MAX,
		"CPU time between two samples of a thread"},
    [SELF] = {"self_s", "self", PP_TYPE_SECONDS, PP_COLUMN_RANK,
	      "CPU time in it: samples times period"},
};

struct flat {
	struct pp_listing listing;
	bool has_recursion;
};

struct function {
	char *name;
	uint64_t calls, self_calls, samples;
	bool is_counted; /* it was called through mcount */
	bool is_own;	 /* of gprof-mt's libraries */
};

/* The functions of a process in some of its threads. */
struct profile {
	const struct pp_pass_context *context;
	const struct pp_namer *namer;
	const struct pp_process *process;
	GPtrArray *functions;	 /* of struct function * */
	GHashTable *by_identity; /* "entry name" -> struct function * */
	uint64_t samples, late, missed;
	uint64_t own_samples; /* of these, in gprof-mt's libraries */
	bool has_times;
};

/* --- the functions of a profile ------------------------------------------------------------- */

static void function_free(void *data)
{
	struct function *function = data;

	g_free(function->name);
	g_free(function);
}

/* Takes ownership of the name. */
static struct function *get_function(struct profile *profile, uint64_t entry, char *name)
{
	char *identity = g_strdup_printf("%" PRIx64 " %s", entry, name);
	struct function *function = g_hash_table_lookup(profile->by_identity, identity);

	if (function) {
		g_free(identity);
		g_free(name);
		return function;
	}
	function = g_new0(struct function, 1);
	function->name = name;
	function->is_own = g_str_equal(name, PP_OWN_CODE);
	g_ptr_array_add(profile->functions, function);
	g_hash_table_insert(profile->by_identity, identity, function);
	return function;
}

static void add_calls(struct profile *profile, const struct pp_graph *graph)
{
	for (guint i = 0; i < graph->functions->len; i++) {
		const struct pp_function *called = pp_graph_function(graph, i);
		struct function *function;

		if (!called->profiled)
			continue;
		function = get_function(profile, called->entry, g_strdup(called->name));
		function->calls = called->calls + called->self_calls;
		function->self_calls = called->self_calls;
		function->is_counted = true;
	}
}

/* The function that contains the instruction, or its substitute. */
static struct function *find_function(struct profile *profile, uint64_t address)
{
	uint64_t entry;
	char *name = pp_sampled_function(profile->namer, profile->process, address, &entry);

	return get_function(profile, entry, name);
}

static void add_samples(struct profile *profile, const struct pp_thread *thread)
{
	for (guint i = 0; thread->samples && i < thread->samples->len; i++) {
		const struct pp_sample *sample =
		    &g_array_index(thread->samples, struct pp_sample, i);

		struct function *function = find_function(profile, sample->address);

		function->samples += sample->count;
		profile->samples += sample->count;
		profile->own_samples += function->is_own ? sample->count : 0;
	}
	profile->late += thread->samples_late;
	profile->missed += thread->samples_missed;
	profile->has_times |= !thread->process->why_no_samples && !thread->sample_error;
}

/* Most time first, then most calls; gprof-mt's own code last. */
static int compare_functions(const void *a, const void *b)
{
	const struct function *fa = *(const struct function *const *)a;
	const struct function *fb = *(const struct function *const *)b;

	if (fa->is_own != fb->is_own)
		return fa->is_own ? 1 : -1;
	if (fa->samples != fb->samples)
		return fa->samples > fb->samples ? -1 : 1;
	if (fa->calls != fb->calls)
		return fa->calls > fb->calls ? -1 : 1;
	return strcmp(fa->name, fb->name);
}

static void profile_init(struct profile *profile, const struct flat *self,
			 struct pp_thread *const *threads, unsigned n_threads)
{
	struct pp_graph *graph = pp_graph_new(self->listing.context->namer, threads, n_threads);

	*profile = (struct profile){
	    .context = self->listing.context,
	    .namer = self->listing.context->namer,
	    .process = threads[0]->process,
	    .functions = g_ptr_array_new_with_free_func(function_free),
	    .by_identity = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	};
	add_calls(profile, graph);
	for (unsigned i = 0; i < n_threads; i++)
		add_samples(profile, threads[i]);
	g_ptr_array_sort(profile->functions, compare_functions);
	pp_graph_free(graph);
}

static void profile_done(struct profile *profile)
{
	g_ptr_array_unref(profile->functions);
	g_hash_table_unref(profile->by_identity);
}

static double seconds(const struct profile *profile, uint64_t n_samples)
{
	return (double)n_samples * (double)profile->process->sample_period_ns / 1e9;
}

/* --- text and rows -------------------------------------------------------------------------- */

/* The number of samples in the program's own code. */
static uint64_t program_samples(const struct profile *profile)
{
	return profile->samples - profile->own_samples;
}

static void append_times(GString *text, const struct profile *profile,
			 const struct function *function, uint64_t cumulative)
{
	double self_s = seconds(profile, function->samples);
	uint64_t n = program_samples(profile);

	if (!profile->has_times) {
		g_string_append_printf(text, "%6s %10s %8s ", "-", "-", "-");
		return;
	}
	if (function->is_own)
		g_string_append_printf(text, "%6s %10s ", "", "");
	else if (n < PP_MIN_SAMPLES)
		g_string_append_printf(text, "%6s %10.2f ", "-", seconds(profile, cumulative));
	else
		g_string_append_printf(text, "%6.2f %10.2f ",
				       100.0 * (double)function->samples / (double)n,
				       seconds(profile, cumulative));
	g_string_append_printf(text, "%8.2f ", self_s);
}

/* gprof's layout; the columns are empty if calls were not counted. */
static void append_function(GString *text, const struct profile *profile,
			    const struct function *function, uint64_t cumulative)
{
	double self_s = seconds(profile, function->samples);

	append_times(text, profile, function, cumulative);
	if (!function->is_counted)
		g_string_append_printf(text, "%8s %8s %8s", "", "", "");
	else if (function->samples)
		g_string_append_printf(text, "%8" PRIu64 " %8.2f %8s", function->calls,
				       self_s * 1e6 / (double)function->calls, "-");
	else
		g_string_append_printf(text, "%8" PRIu64 " %8s %8s", function->calls, "-", "-");
	g_string_append_printf(text, "  %s\n", function->name);
}

static void append_head(GString *text, const char *title, const struct profile *profile)
{
	g_string_append_printf(text, "%s\n", title);
	if (profile->has_times) {
		g_autofree char *period =
		    pp_duration_text((int64_t)profile->process->sample_period_ns);

		g_string_append_printf(text, "%" PRIu64 " samples of %s of CPU time",
				       profile->samples, period);
		if (pp_process_has_no_calls(profile->process))
			g_string_append(text, " (calls are not counted: not built with -pg)");
		if (profile->late)
			g_string_append_printf(text, ", %" PRIu64 " of them late", profile->late);
		if (profile->missed)
			g_string_append_printf(text, ", %" PRIu64 " missed", profile->missed);
		if (profile->own_samples)
			g_string_append_printf(text,
					       ", %" PRIu64 " of them in gprof-mt's own code, left "
					       "out of the percentages",
					       profile->own_samples);
		if (program_samples(profile) < PP_MIN_SAMPLES)
			g_string_append_printf(text, "; too few for percentages (at least %d)",
					       PP_MIN_SAMPLES);
		g_string_append_c(text, '\n');
	}
	g_string_append(text, "\n  %   cumulative   self              self     total\n"
			      " time   seconds   seconds    calls  us/call  us/call  name\n");
}

static void append_text(const struct pp_listing *listing, const char *title,
			const struct profile *profile)
{
	unsigned top = profile->context->top, n = 0, n_selected = 0;
	uint64_t cumulative = 0;

	append_head(listing->text, title, profile);
	for (guint i = 0; i < profile->functions->len; i++) {
		const struct function *function = profile->functions->pdata[i];

		cumulative += function->samples;
		if (!pp_selects_function(profile->context, function->name))
			continue;
		if (!top || n_selected++ < top) {
			append_function(listing->text, profile, function, cumulative);
			n++;
		}
	}
	if (top)
		pp_listing_rest(listing, n, n_selected);
	g_string_append_c(listing->text, '\n');
}

static void add_rows(struct pp_table *table, const struct pp_thread *thread,
		     const struct profile *profile)
{
	for (guint i = 0; i < profile->functions->len; i++) {
		const struct function *function = profile->functions->pdata[i];
		struct pp_cell *row;

		if (!pp_selects_function(profile->context, function->name))
			continue;
		row = pp_named_thread_row(table, thread);
		pp_cell_set_text(&row[NAME], function->name);
		if (function->is_counted) {
			pp_cell_set_count(&row[CALLS], function->calls);
			pp_cell_set_count(&row[RECURSIVE], function->self_calls);
		}
		if (profile->has_times) {
			pp_cell_set_count(&row[SAMPLES], function->samples);
			pp_cell_set_time(&row[PERIOD], (int64_t)thread->process->sample_period_ns);
			pp_cell_set_number(&row[SELF], seconds(profile, function->samples));
		}
	}
}

static void add_thread(struct flat *self, struct pp_thread *thread)
{
	struct profile profile;

	profile_init(&profile, self, &thread, 1);
	for (guint i = 0; i < profile.functions->len; i++)
		self->has_recursion |=
		    ((struct function *)profile.functions->pdata[i])->self_calls > 0;
	add_rows(self->listing.table, thread, &profile);
	profile_done(&profile);
}

static void append_threads(struct flat *self, const char *title, const GPtrArray *threads)
{
	struct profile profile;

	profile_init(&profile, self, (struct pp_thread *const *)threads->pdata, threads->len);
	append_text(&self->listing, title, &profile);
	profile_done(&profile);
}

/* Adds a note about the number of samples, or the reason why there are none. */
static void note_samples(struct pp_table *table, const struct pp_process *process,
			 const GPtrArray *threads)
{
	g_autofree char *period = pp_duration_text((int64_t)process->sample_period_ns);
	uint64_t n = 0, late = 0, missed = process->samples_missed;
	unsigned n_without = 0;
	int error = 0;

	if (process->why_no_samples) {
		pp_table_note(table, "no times of process %s: no samples: %s", process->folder,
			      process->why_no_samples);
		return;
	}
	for (guint t = 0; t < threads->len; t++) {
		const struct pp_thread *thread = threads->pdata[t];

		late += thread->samples_late;
		missed += thread->samples_missed;
		if (thread->sample_error) {
			error = thread->sample_error;
			n_without++;
		}
		n += pp_thread_n_samples(thread);
	}
	pp_table_note(table,
		      "samples of process %s: %" PRIu64 ", one for each %s of a thread's CPU time, "
		      "%" PRIu64 " of them late and counted with the next; %" PRIu64
		      " times none could be taken",
		      process->folder, n, period, late, missed);
	if (pp_process_has_no_calls(process))
		pp_table_note(table,
			      "calls of process %s are not counted: it was not built with -pg; its "
			      "profile is from %" PRIu64 " samples",
			      process->folder, n);
	if (n_without)
		pp_table_note(table, "no times of %u threads of process %s: no timer: %s",
			      n_without, process->folder, g_strerror(error));
}

static void add_process(struct flat *self, const struct pp_process *process)
{
	g_autoptr(GPtrArray) threads = pp_threads_with_profile(self->listing.context, process);
	g_autoptr(GPtrArray) units = pp_thread_units(self->listing.context, threads);

	if (threads->len > 1) {
		g_autofree char *title = g_strdup_printf("%u threads of process %s together",
							 threads->len, process->folder);

		append_threads(self, title, threads);
	}
	for (guint i = 0; i < units->len; i++) {
		const struct pp_unit *unit = units->pdata[i];

		append_threads(self, unit->title, unit->threads);
	}
	for (guint i = 0; i < threads->len; i++)
		add_thread(self, threads->pdata[i]);
	if (threads->len)
		note_samples(self->listing.table, process, threads);
}

static void *flat_start(const struct pp_pass_context *context)
{
	struct flat *self = g_new0(struct flat, 1);

	self->listing.context = context;
	return self;
}

static void flat_finish(void *state, int64_t end_ns, GPtrArray *tables)
{
	struct flat *self = state;
	const GPtrArray *processes = self->listing.context->model->processes;
	struct pp_table *table =
	    pp_table_new("functions", "Flat profile", columns, G_N_ELEMENTS(columns));

	(void)end_ns;
	pp_listing_begin(&self->listing, table);
	for (guint i = 0; i < processes->len; i++)
		add_process(self, processes->pdata[i]);
	if (!pp_listing_end(&self->listing, tables))
		return;
	if (self->has_recursion)
		pp_table_note(table, "calls include those of functions to themselves, "
				     "which gprof leaves out of its flat profile");
}

const struct pp_pass pp_pass_flat = {
    .name = "flat",
    .summary = "calls of each function",
    .selects = PP_SELECT_THREAD | PP_SELECT_FUNCTION,
    .start = flat_start,
    .finish = flat_finish,
    .free = g_free,
};
