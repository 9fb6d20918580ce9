/* SPDX-License-Identifier: MIT */
/*
 * Summarizes the largest costs, one sentence each: the objects that `record` prints at its end, and
 * other reasons why threads did not run.
 */
#include "export/html/html.h"

#include "core/text/duration.h"
#include "pass/top.h"

#define FINDINGS_MAX 10
/* Percentage of all threads' lifetime; smaller costs get no sentence. */
#define LEAST_PERCENT 5

/* Returns the position of the object with that name and address among those shown. */
static uint32_t find_object(struct pp_html *html, const struct pp_cell *address,
			    const struct pp_cell *name)
{
	for (guint i = 0; address && name && i < html->objects->len; i++) {
		uint32_t number = g_array_index(html->objects, uint32_t, i);

		if (pp_index_object(html->index, number)->address == address->count &&
		    g_str_equal(pp_html_object_name(html, number), name->text))
			return i;
	}
	return PP_HTML_NONE;
}

/* Returns the thread with the longest total wait for the object. */
static uint32_t find_thread(const struct pp_html *html, uint32_t object)
{
	const struct pp_sums *waits = &html->tables[PP_HTML_OF_WAITS];
	guint n_threads = html->export->context->model->threads->len;
	g_autofree uint64_t *wait_ns = g_new0(uint64_t, n_threads + 1);
	uint32_t longest = PP_HTML_NONE;

	for (guint i = 0; i < waits->rows->len; i++) {
		const struct pp_sums_row *row = pp_sums_row(waits, i);

		if (row->key[3] == object)
			wait_ns[row->key[1]] += row->figure[1];
	}
	for (uint32_t i = 0; i < n_threads; i++)
		if (wait_ns[i] && (longest == PP_HTML_NONE || wait_ns[i] > wait_ns[longest]))
			longest = i;
	return longest;
}

static void put_finding(struct pp_html *html, const struct pp_table *top, unsigned at)
{
	uint32_t object =
	    find_object(html, pp_table_cell(top, at, "object"), pp_table_cell(top, at, "name"));
	const struct pp_cell *site = pp_table_cell(top, at, "site");
	g_autofree char *wait = pp_top_text(top, at, "");
	g_autofree char *text = g_strconcat("Threads waited ", wait, NULL);

	pp_put_open(&html->put, NULL, '{');
	pp_put_text(&html->put, "text", text);
	pp_put_reference(&html->put, "object", object);
	pp_put_reference(&html->put, "thread",
			 object == PP_HTML_NONE ? PP_HTML_NONE : find_thread(html, object));
	pp_put_reference(&html->put, "site",
			 site ? pp_html_find_site(html, site->text) : PP_HTML_NONE);
	pp_put_close(&html->put, '}');
}

/* --- threads -------------------------------------------------------------------------------- */

/* One figure of sums.threads. */
struct kept {
	unsigned figure;
	const char *what;
	uint64_t all_ns, most_ns;
	uint32_t thread; /* the thread with the largest share */
	bool is_shown;
};

/* Costs that are too small are marked as shown. */
static void add_up(const struct pp_html *html, struct kept *kept)
{
	const struct pp_sums *sums = &html->tables[PP_HTML_OF_THREADS];
	guint n_threads = html->export->context->model->threads->len;
	g_autofree uint64_t *of = g_new0(uint64_t, n_threads + 1);
	uint64_t lives_ns = 0;

	for (guint i = 0; i < sums->rows->len; i++) {
		const struct pp_sums_row *row = pp_sums_row(sums, i);

		for (unsigned f = 0; f < PP_SUMS_FIGURES; f++)
			lives_ns += row->figure[f] == PP_SUMS_NOT_KNOWN ? 0 : row->figure[f];
		if (row->figure[kept->figure] != PP_SUMS_NOT_KNOWN)
			of[row->key[1]] += row->figure[kept->figure];
	}
	for (uint32_t i = 0; i < n_threads; i++) {
		kept->all_ns += of[i];
		if (of[i] <= kept->most_ns)
			continue;
		kept->most_ns = of[i];
		kept->thread = i;
	}
	kept->is_shown = !kept->all_ns || kept->all_ns / LEAST_PERCENT < lives_ns / 100;
}

static void put_kept(struct pp_html *html, const struct kept *kept)
{
	const char *name = pp_index_thread_name(html->index, kept->thread);
	g_autofree char *all = pp_duration_text((int64_t)kept->all_ns);
	g_autofree char *most = pp_duration_text((int64_t)kept->most_ns);
	g_autofree char *text =
	    g_strdup_printf("Threads %s for %s in all, longest %s (tid %u): %s", kept->what, all,
			    name, pp_index_thread(html->index, kept->thread)->tid, most);

	pp_put_open(&html->put, NULL, '{');
	pp_put_text(&html->put, "text", text);
	pp_put_reference(&html->put, "object", PP_HTML_NONE);
	pp_put_reference(&html->put, "thread", kept->thread);
	pp_put_reference(&html->put, "site", PP_HTML_NONE);
	pp_put_close(&html->put, '}');
}

/* Adds those that cost more than least_ns and are not shown yet. */
static void put_kept_above(struct pp_html *html, struct kept *kept, unsigned n, uint64_t least_ns)
{
	for (unsigned i = 0; i < n; i++) {
		if (kept[i].is_shown || kept[i].all_ns <= least_ns)
			continue;
		put_kept(html, &kept[i]);
		kept[i].is_shown = true;
	}
}

/* The last finding: idle waits. */
static void put_idle(struct pp_html *html, const struct pp_table *locks)
{
	g_autofree char *idle = pp_top_idle_text(locks, 1);
	g_autofree char *text = idle ? g_strconcat("Threads were idle: ", idle, NULL) : NULL;

	if (!text)
		return;
	pp_put_open(&html->put, NULL, '{');
	pp_put_text(&html->put, "text", text);
	pp_put_reference(&html->put, "object", PP_HTML_NONE);
	pp_put_reference(&html->put, "thread", PP_HTML_NONE);
	pp_put_reference(&html->put, "site", PP_HTML_NONE);
	pp_put_close(&html->put, '}');
}

void pp_html_put_findings(struct pp_html *html)
{
	struct kept kept[] = {{.figure = 1, .what = "were runnable without a CPU"},
			      {.figure = 3, .what = "were blocked in I/O"}};
	unsigned n_tables = 0;
	struct pp_table **tables = pp_pass_set_tables(html->export->passes, "locks", &n_tables);
	const struct pp_table *locks = n_tables ? tables[0] : NULL;
	struct pp_table *top = pp_top_new(locks, FINDINGS_MAX);

	for (unsigned i = 0; i < G_N_ELEMENTS(kept); i++)
		add_up(html, &kept[i]);
	pp_put_open(&html->put, "findings", '[');
	for (unsigned i = 0; i < top->rows->len; i++) {
		const struct pp_cell *wait = pp_table_cell(top, i, "wait_ns");

		put_kept_above(html, kept, G_N_ELEMENTS(kept), wait ? (uint64_t)wait->time_ns : 0);
		put_finding(html, top, i);
	}
	put_kept_above(html, kept, G_N_ELEMENTS(kept), 0);
	put_idle(html, locks);
	pp_put_close(&html->put, ']');
	pp_table_free(top);
}
