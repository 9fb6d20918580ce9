/* SPDX-License-Identifier: MIT */
/*
 * Sums by time bin.  When the tables have grown too long, pairs of bins are joined.  When a single
 * bin is left, new rows are only counted.
 *
 * Bin i begins at floor(length * i / bins) for any number of bins, so each joined bin begins where
 * one of the old ones did.
 */
#include "export/html/html.h"
#include "pass/locks.h"
#include "analysis/select.h"

/* Limit on all rows in packed form. */
#define BYTES_MAX 4500000

static const struct pp_sums_kind kinds[PP_HTML_N_TABLES] = {
    [PP_HTML_OF_THREADS] = {"threads",
			    {"bin", "thread"},
			    {"running", "runnable", "sync", "io", "other", "unknown"},
			    0},
    [PP_HTML_OF_OBJECTS] = {"objects",
			    {"bin", "object"},
			    {"acquired", "contended", "wait", "hold", "max_wait", "max_hold"},
			    1u << 4 | 1u << 5},
    [PP_HTML_OF_OPERATIONS] = {"operations",
			       {"bin", "thread", "site", "op", "object"},
			       {"count", "blocked", "wait"},
			       0},
    [PP_HTML_OF_WAITS] = {"waits",
			  {"bin", "thread", "blocker", "object", "site", "blocker_site"},
			  {"count", "ns"},
			  0},
    [PP_HTML_OF_SWITCHES] = {"switches", {"bin", "from", "to"}, {"count"}, 0},
    [PP_HTML_OF_DISTRIBUTION] = {"distribution", {"bin", "object", "bucket"}, {"count"}, 0},
    [PP_HTML_CALLS... PP_HTML_OFF_CPU] = {NULL, {"bin", "thread", "stack"}, {"value"}, 0},
};

void pp_html_sums_init(struct pp_html *html)
{
	for (unsigned i = 0; i < PP_HTML_N_TABLES; i++)
		pp_sums_init(&html->tables[i], &kinds[i]);
	if (html->to_ns - html->from_ns < PP_HTML_BINS)
		html->halved = PP_HTML_HALVES;
}

bool pp_html_has_thread(const struct pp_html *html, uint32_t number)
{
	const GPtrArray *threads = html->export->context->model->threads;

	return number < threads->len &&
	       pp_selects_thread(html->export->context, threads->pdata[number]);
}

void pp_html_sums_done(struct pp_html *html)
{
	for (unsigned i = 0; i < PP_HTML_N_TABLES; i++)
		pp_sums_done(&html->tables[i]);
	for (unsigned i = 0; i < PP_HTML_N_TABLES; i++)
		pp_html_choice_done(&html->choices[i]);
	pp_html_choice_done(&html->pairs);
}

bool pp_html_has_time(const struct pp_html *html, int64_t time_ns)
{
	return pp_selects_time(html->export->context, time_ns);
}

static int64_t edge_of(const struct pp_html *html, unsigned bin)
{
	__int128 span_ns = html->to_ns - html->from_ns;

	return html->from_ns + (int64_t)(span_ns * bin / PP_HTML_BINS);
}

/* At the finest resolution: the last bin that begins at or before that time. */
uint32_t pp_html_bin(const struct pp_html *html, int64_t time_ns)
{
	int64_t span_ns = html->to_ns - html->from_ns;
	int64_t at_ns = CLAMP(time_ns, html->from_ns, html->to_ns) - html->from_ns;

	if (at_ns >= span_ns)
		return PP_HTML_BINS - 1;
	if (span_ns < INT64_MAX / PP_HTML_BINS)
		return (uint32_t)(((at_ns + 1) * PP_HTML_BINS - 1) / span_ns);
	return (uint32_t)((((__int128)at_ns + 1) * PP_HTML_BINS - 1) / span_ns);
}

int64_t pp_html_bin_end(const struct pp_html *html, int64_t time_ns)
{
	return edge_of(html, pp_html_bin(html, time_ns) + 1);
}

/* Approximate size of a row in each table. */
static const unsigned row_bytes[PP_HTML_N_TABLES] = {
    [PP_HTML_OF_THREADS] = 12,
    [PP_HTML_OF_OBJECTS] = 16,
    [PP_HTML_OF_OPERATIONS] = 4,
    [PP_HTML_OF_WAITS] = 8,
    [PP_HTML_OF_SWITCHES] = 2,
    [PP_HTML_OF_DISTRIBUTION] = 2,
    [PP_HTML_CALLS... PP_HTML_OFF_CPU] = 5,
};

static void make_room(struct pp_html *html)
{
	while (html->halved < PP_HTML_HALVES && html->n_bytes >= BYTES_MAX) {
		html->halved++;
		html->n_bytes = 0;
		for (unsigned i = 0; i < PP_HTML_N_TABLES; i++) {
			pp_sums_halve(&html->tables[i]);
			html->n_bytes += (uint64_t)html->tables[i].rows->len * row_bytes[i];
		}
	}
}

static uint64_t *at_bin(struct pp_html *html, enum pp_html_table table, uint32_t *key, uint32_t bin)
{
	struct pp_sums *sums = &html->tables[table];
	uint64_t *figures;
	guint n;

	if (html->n_bytes >= BYTES_MAX)
		make_room(html);
	key[0] = bin == PP_SUMS_NONE ? bin : bin >> html->halved;
	if (html->n_bytes < BYTES_MAX) {
		n = sums->rows->len;
		figures = pp_sums_at(sums, key);
		html->n_bytes += (sums->rows->len - n) * row_bytes[table];
		return figures;
	}
	figures = pp_sums_find(sums, key);
	html->left_out += !figures;
	return figures ?: html->dump;
}

uint64_t *pp_html_at(struct pp_html *html, enum pp_html_table table, uint32_t *key, int64_t time_ns)
{
	return at_bin(html, table, key, pp_html_bin(html, time_ns));
}

uint64_t *pp_html_at_no_time(struct pp_html *html, enum pp_html_table table, uint32_t *key)
{
	return at_bin(html, table, key, PP_SUMS_NONE);
}

void pp_html_add_time(struct pp_html *html, enum pp_html_table table, uint32_t *key,
		      unsigned figure, int64_t from_ns, int64_t to_ns)
{
	from_ns = MAX(from_ns, html->from_ns);
	to_ns = MIN(to_ns, html->to_ns);
	for (uint32_t bin = pp_html_bin(html, from_ns); from_ns < to_ns; bin++) {
		int64_t end_ns =
		    bin + 1 < PP_HTML_BINS ? MIN(edge_of(html, bin + 1), to_ns) : to_ns;

		if (end_ns > from_ns)
			at_bin(html, table, key, bin)[figure] += (uint64_t)(end_ns - from_ns);
		from_ns = end_ns;
	}
}

/* --- threads and switches ------------------------------------------------------------------- */

/* Same rule as in `report threads`. */
static bool is_known(const struct pp_pass_context *context, enum pp_mode mode, bool scheduled,
		     bool io_recorded)
{
	bool is_other = mode == PP_MODE_BLOCKED_IO || mode == PP_MODE_BLOCKED_OTHER;

	if (mode == PP_MODE_BLOCKED_SYNC || (is_other && io_recorded))
		return scheduled || !context->has_kernel;
	return scheduled && (mode != PP_MODE_BLOCKED_IO || context->has_switch_pairs);
}

static void sum_thread(struct pp_html *html, uint32_t number)
{
	static const enum pp_mode modes[] = {PP_MODE_RUNNING,	    PP_MODE_RUNNABLE,
					     PP_MODE_BLOCKED_SYNC,  PP_MODE_BLOCKED_IO,
					     PP_MODE_BLOCKED_OTHER, PP_MODE_UNKNOWN};
	const struct pp_pass_context *context = html->export->context;
	const struct pp_index_thread *thread = pp_index_thread(html->index, number);
	const struct pp_process *process = pp_index_process(html->index, thread->process);
	bool scheduled = context->has_kernel && thread->flags & PP_INDEX_SCHEDULED;
	struct pp_index_sum sums[PP_HTML_BINS];

	pp_index_cells(html->index, number, html->from_ns, html->to_ns, PP_HTML_BINS, sums);
	for (unsigned bin = 0; bin < PP_HTML_BINS; bin++) {
		uint32_t key[PP_SUMS_KEYS] = {0, number};
		uint64_t *figures, all = 0;

		for (unsigned i = 0; i < G_N_ELEMENTS(modes); i++)
			all += sums[bin].ns[modes[i]];
		if (!all)
			continue;
		figures = at_bin(html, PP_HTML_OF_THREADS, key, bin);
		for (unsigned i = 0; i < G_N_ELEMENTS(modes); i++)
			figures[i] =
			    is_known(context, modes[i], scheduled, process && process->io_recorded)
				? figures[i] + sums[bin].ns[modes[i]]
				: PP_SUMS_NOT_KNOWN;
	}
}

void pp_html_sum_threads(struct pp_html *html)
{
	for (uint32_t i = 0; i < pp_index_n(html->index, PP_SECTION_THREADS); i++)
		if (pp_html_has_thread(html, i))
			sum_thread(html, i);
}

void pp_html_sum_switches(struct pp_html *html)
{
	for (uint64_t i = 0; i < html->switches.n; i++) {
		const struct pp_html_switch *at = pp_mapped_array_at(&html->switches, i);
		uint32_t key[PP_SUMS_KEYS] = {0, at->from, at->to};

		if (pp_html_has_time(html, (int64_t)at->time_ns))
			pp_html_at(html, PP_HTML_OF_SWITCHES, key, (int64_t)at->time_ns)[0]++;
	}
}

/* Same rule as in `report locks`: acquired; hold and max_hold. */
static void forget_object(struct pp_html *html, struct pp_sums_row *row)
{
	uint32_t number = g_array_index(html->objects, uint32_t, row->key[1]);
	const struct pp_index_object *found = pp_index_object(html->index, number);
	struct pp_object object = {.process = pp_index_process(html->index, found->process),
				   .type = found->type};

	if (pp_lock_is_counted(&object))
		row->figure[0] = PP_SUMS_NOT_KNOWN;
	if (!pp_lock_has_holds(&object))
		row->figure[3] = row->figure[5] = PP_SUMS_NOT_KNOWN;
}

/* Marks figures as unknown that have a value without a source for it. */
static void forget_what_is_not_known(struct pp_html *html)
{
	const GPtrArray *threads = html->export->context->model->threads;
	const struct pp_sums *objects = &html->tables[PP_HTML_OF_OBJECTS];
	const struct pp_sums *operations = &html->tables[PP_HTML_OF_OPERATIONS];
	bool only_waits = false;

	for (guint i = 0; i < objects->rows->len; i++)
		forget_object(html, &g_array_index(objects->rows, struct pp_sums_row, i));
	for (guint i = 0; i < operations->rows->len; i++) {
		struct pp_sums_row *row = &g_array_index(operations->rows, struct pp_sums_row, i);
		const struct pp_thread *thread = threads->pdata[row->key[1]];

		if (!thread->process->only_waits)
			continue;
		row->figure[0] = PP_SUMS_NOT_KNOWN;
		only_waits = true;
	}
	if (only_waits)
		pp_html_miss(html, "calls that did not wait",
			     "they were only counted (sync.mode); see `gprof-mt report sync`");
}

void pp_html_put_sums(struct pp_html *html)
{
	forget_what_is_not_known(html);
	pp_put_open(&html->put, "sums", '{');
	for (unsigned i = 0; i < PP_HTML_FLAMES; i++)
		pp_sums_put(&html->tables[i], &html->put);
	pp_put_close(&html->put, '}');
}
