/* SPDX-License-Identifier: MIT */
/* See page.h.  The document is that of --format json, with a head and links. */
#include "cli/campaign/page.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/html/write.h"
#include "render/render.h"

struct document {
	const struct pp_campaign_page *page;
	struct pp_put put;
	char *dir; /* of the file, without symlinks; NULL: not known */
};

/* --- links ---------------------------------------------------------------------------------- */

/* The path from the directory `from` to `to`; both are absolute.  The caller frees it. */
static char *relative(const char *from, const char *to)
{
	g_auto(GStrv) a = g_strsplit(from, "/", -1), b = g_strsplit(to, "/", -1);
	g_autoptr(GString) path = g_string_new(NULL);
	guint common = 0;

	while (a[common] && b[common] && g_str_equal(a[common], b[common]))
		common++;
	for (guint i = common; a[i]; i++)
		if (*a[i])
			g_string_append(path, "../");
	for (guint i = common; b[i]; i++)
		g_string_append_printf(path, "%s%s", b[i], b[i + 1] ? "/" : "");
	return g_string_free(g_steal_pointer(&path), FALSE);
}

/* file: NULL: none.  Writes null if there is no such file. */
static void put_link(struct document *document, const char *key, const char *file)
{
	char *real = document->dir && file ? realpath(file, NULL) : NULL;
	g_autofree char *link = real ? relative(document->dir, real) : NULL;

	/* A link with characters that are replaced for display would lead nowhere else. */
	pp_put_text(&document->put, key, link);
	free(real);
}

char *pp_campaign_run_page(const char *dir)
{
	return g_strconcat(dir, ".html", NULL);
}

static void put_links(struct document *document, const struct pp_table *runs)
{
	pp_put_open(&document->put, "links", '[');
	for (guint i = 0; runs && i < runs->rows->len; i++) {
		const struct pp_cell *dir = pp_table_cell(runs, i, "dir");
		g_autofree char *page = dir ? pp_campaign_run_page(dir->text) : NULL;

		pp_put_open(&document->put, NULL, '{');
		put_link(document, "capture", dir ? dir->text : NULL);
		put_link(document, "page", page);
		pp_put_close(&document->put, '}');
	}
	pp_put_close(&document->put, ']');
}

/* --- document ------------------------------------------------------------------------------- */

static const struct pp_table *find(const struct pp_campaign_page *page, const char *key)
{
	for (unsigned i = 0; i < page->n_tables; i++)
		if (g_str_equal(page->tables[i]->key, key))
			return page->tables[i];
	return NULL;
}

static void put_document(void *data)
{
	struct document *document = data;
	const struct pp_campaign_page *page = document->page;
	struct pp_put *put = &document->put;

	pp_put_open(put, NULL, '{');
	pp_put_number(put, "schema", 1);
	pp_put_text(put, "kind", "campaign");
	pp_put_text(put, "program", page->program ?: "");
	pp_put_text(put, "command", page->command ?: "");
	pp_put_text(put, "host", (page->origin ? page->origin->host : NULL) ?: "");
	pp_put_text(put, "date", (page->origin ? page->origin->date : NULL) ?: "");
	pp_put_text(put, "version", GM_VERSION);
	pp_put_text(put, "metric", pp_bottleneck_metrics[page->metric]);
	pp_put_text(put, "unit", page->is_counted ? "conditionals" : "ns");
	put_links(document, find(page, "runs"));
	pp_render_json_member(pp_put_writer(put), "report", page->tables, page->n_tables);
	pp_put_close(put, '}');
}

/* The directory of the file, or the working directory. */
static char *dir_of(const char *path)
{
	g_autofree char *dir =
	    g_str_equal(path, PP_OUT_STDOUT) ? g_strdup(".") : g_path_get_dirname(path);

	return realpath(dir, NULL);
}

int pp_campaign_page_write(const struct pp_campaign_page *page, struct pp_error *err)
{
	struct document document = {.page = page, .dir = dir_of(page->path)};
	struct pp_out out = {0};
	int rc = pp_out_open(&out, page->path, err);

	if (rc == 0)
		rc = pp_html_write(&out, &document.put, put_document, &document, err);
	if (rc == 0)
		rc = pp_out_finish(&out, err);
	pp_put_done(&document.put);
	pp_out_done(&out);
	free(document.dir);
	return rc;
}
