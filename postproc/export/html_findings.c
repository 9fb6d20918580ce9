/* SPDX-License-Identifier: MIT */
/* In a sentence each, what cost most: what `record` says at its end, and what it is about. */
#include "export/html.h"

#include "pass/top.h"

#define FINDINGS_MAX 10

/* Position of the object of that name and address in those shown. */
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

/* Who waited longest for it in all. */
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
	g_autofree char *wait = pp_top_text(top, at);
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

void pp_html_put_findings(struct pp_html *html)
{
	unsigned n_tables = 0;
	struct pp_table **tables = pp_pass_set_tables(html->export->passes, "locks", &n_tables);
	struct pp_table *top = pp_top_new(n_tables ? tables[0] : NULL, FINDINGS_MAX);

	pp_put_open(&html->put, "findings", '[');
	for (unsigned i = 0; i < top->rows->len; i++)
		put_finding(html, top, i);
	pp_put_close(&html->put, ']');
	pp_table_free(top);
}
