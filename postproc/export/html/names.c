/* SPDX-License-Identifier: MIT */
/*
 * Names that the document refers to by position: functions, operations, call sites, and the source
 * lines around the sites.  Each is resolved once.
 */
#include "export/html/html.h"

#include <string.h>

#include "core/source_file.h"

#define AROUND	       5 /* lines, on each side */
#define FILES_MAX      1000
#define LINES_MAX      20000
#define LINE_BYTES_MAX 400 /* bytes */

struct site {
	char *text, *path;
	uint32_t function, file;
	int line;
};

struct place {
	const struct pp_process *process;
	uint64_t address;
};

struct file {
	char *path;
	GArray *lines; /* of int: lines with call sites */
};

struct pp_html_names {
	GPtrArray *functions;	     /* of char *; owned by the hash table */
	GHashTable *function_of;     /* char * -> position + 1 */
	GPtrArray *sites;	     /* of struct site * */
	GHashTable *site_of_text;    /* char *, owned by the site -> position + 1 */
	GHashTable *site_of_place;   /* struct place * -> position + 1 */
	uint32_t *site_of;	     /* by number in the index: position + 1; 0: not resolved yet */
	GPtrArray *files;	     /* of struct file * */
	GHashTable *file_of;	     /* char *, owned by the file -> position + 1 */
	uint32_t op_at[ST_N_EVENTS]; /* position + 1 */
	GArray *ops;		     /* of enum st_event */
	GHashTable *object_names;    /* number in the index -> char * */
	uint64_t n_lines;
};

static void site_free(void *data)
{
	struct site *site = data;

	g_free(site->text);
	g_free(site->path);
	g_free(site);
}

static void file_free(void *data)
{
	struct file *file = data;

	g_array_unref(file->lines);
	g_free(file->path);
	g_free(file);
}

static guint place_hash(const void *data)
{
	const struct place *place = data;

	return g_direct_hash(place->process) ^ g_int64_hash(&place->address);
}

static gboolean place_equal(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->process == y->process && x->address == y->address;
}

void pp_html_names_init(struct pp_html *html)
{
	struct pp_html_names *names = g_new0(struct pp_html_names, 1);

	names->functions = g_ptr_array_new();
	names->function_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	names->sites = g_ptr_array_new_with_free_func(site_free);
	names->site_of_text = g_hash_table_new(g_str_hash, g_str_equal);
	names->site_of_place = g_hash_table_new_full(place_hash, place_equal, g_free, NULL);
	names->site_of = g_new0(uint32_t, pp_index_n(html->index, PP_SECTION_SITES) + 1);
	names->files = g_ptr_array_new_with_free_func(file_free);
	names->file_of = g_hash_table_new(g_str_hash, g_str_equal);
	names->ops = g_array_new(FALSE, FALSE, sizeof(enum st_event));
	names->object_names = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	html->names = names;
}

void pp_html_names_done(struct pp_html *html)
{
	struct pp_html_names *names = html->names;

	if (!names)
		return;
	g_hash_table_unref(names->object_names);
	g_array_unref(names->ops);
	g_hash_table_unref(names->file_of);
	g_ptr_array_unref(names->files);
	g_free(names->site_of);
	g_hash_table_unref(names->site_of_place);
	g_hash_table_unref(names->site_of_text);
	g_ptr_array_unref(names->sites);
	g_hash_table_unref(names->function_of);
	g_ptr_array_unref(names->functions);
	g_free(names);
	html->names = NULL;
}

/* --- functions, operations, objects --------------------------------------------------------- */

uint32_t pp_html_function(struct pp_html *html, const char *name)
{
	struct pp_html_names *names = html->names;
	uint32_t at = GPOINTER_TO_UINT(g_hash_table_lookup(names->function_of, name));
	char *kept;

	if (at)
		return at - 1;
	kept = g_strdup(name);
	g_ptr_array_add(names->functions, kept);
	g_hash_table_insert(names->function_of, kept, GUINT_TO_POINTER(names->functions->len));
	return names->functions->len - 1;
}

uint32_t pp_html_op(struct pp_html *html, enum st_event op)
{
	struct pp_html_names *names = html->names;

	if (!names->op_at[op]) {
		g_array_append_val(names->ops, op);
		names->op_at[op] = names->ops->len;
	}
	return names->op_at[op] - 1;
}

const char *pp_html_object_name(struct pp_html *html, uint32_t object)
{
	void *key = GUINT_TO_POINTER(object);
	char *name = g_hash_table_lookup(html->names->object_names, key);

	if (!name) {
		name = pp_index_object_name(html->index, object, html->export->context->namer);
		g_hash_table_insert(html->names->object_names, key, name);
	}
	return name;
}

/* --- sites ---------------------------------------------------------------------------------- */

static uint32_t file_at(struct pp_html_names *names, const char *path)
{
	uint32_t at = GPOINTER_TO_UINT(g_hash_table_lookup(names->file_of, path));
	struct file *file;

	if (at)
		return at - 1;
	if (names->files->len >= FILES_MAX)
		return PP_HTML_NONE;
	file = g_new0(struct file, 1);
	file->path = g_strdup(path);
	file->lines = g_array_new(FALSE, FALSE, sizeof(int));
	g_ptr_array_add(names->files, file);
	g_hash_table_insert(names->file_of, file->path, GUINT_TO_POINTER(names->files->len));
	return names->files->len - 1;
}

/* Returns the function of "function (file:line)". */
static char *function_of(const char *text, bool has_file)
{
	const char *end = has_file ? g_strrstr(text, " (") : NULL;

	return end ? g_strndup(text, (gsize)(end - text)) : g_strdup(text);
}

static struct site *site_new(struct pp_html *html, const struct place *place, char *text)
{
	const struct pp_namer *namer = html->export->context->namer;
	struct site *site = g_new0(struct site, 1);
	g_autofree char *function = NULL;

	site->text = text;
	site->file = PP_HTML_NONE;
	if (namer->source)
		site->path =
		    namer->source(namer->data, place->process, place->address, &site->line);
	function = function_of(text, site->path != NULL);
	site->function = pp_html_function(html, function);
	if (!site->path)
		return site;
	site->file = file_at(html->names, site->path);
	if (site->file != PP_HTML_NONE) {
		struct file *file = html->names->files->pdata[site->file];

		g_array_append_val(file->lines, site->line);
	}
	return site;
}

static uint32_t add_site(struct pp_html *html, const struct place *place)
{
	struct pp_html_names *names = html->names;
	const struct pp_namer *namer = html->export->context->namer;
	char *text = namer->site(namer->data, place->process, place->address);
	uint32_t at = GPOINTER_TO_UINT(g_hash_table_lookup(names->site_of_text, text));
	struct site *site;

	if (at) {
		g_free(text);
		return at - 1;
	}
	site = site_new(html, place, text);
	g_ptr_array_add(names->sites, site);
	g_hash_table_insert(names->site_of_text, site->text, GUINT_TO_POINTER(names->sites->len));
	return names->sites->len - 1;
}

uint32_t pp_html_address_site(struct pp_html *html, const struct pp_process *process,
			      uint64_t address)
{
	struct place place = {process, address};
	uint32_t at;

	if (!process || !address)
		return PP_HTML_NONE;
	at = GPOINTER_TO_UINT(g_hash_table_lookup(html->names->site_of_place, &place));
	if (!at) {
		at = add_site(html, &place) + 1;
		g_hash_table_insert(html->names->site_of_place, g_memdup2(&place, sizeof(place)),
				    GUINT_TO_POINTER(at));
	}
	return at - 1;
}

uint32_t pp_html_site(struct pp_html *html, uint32_t number)
{
	const struct pp_index_site *site = pp_index_site(html->index, number);
	uint32_t *known;

	if (!site)
		return PP_HTML_NONE;
	known = &html->names->site_of[number];
	if (!*known)
		*known = pp_html_address_site(html, pp_index_process(html->index, site->process),
					      site->address) +
			 1;
	/* Sites without an own entry are looked up again. */
	return *known ? *known - 1 : PP_HTML_NONE;
}

uint32_t pp_html_find_site(const struct pp_html *html, const char *text)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(html->names->site_of_text, text)) - 1;
}

/* --- the document --------------------------------------------------------------------------- */

static gint compare_lines(gconstpointer a, gconstpointer b)
{
	return *(const int *)a - *(const int *)b;
}

static void put_line(struct pp_html *html, int number, const char *text)
{
	g_autofree char *line = pp_source_line(text);

	if (strlen(line) > LINE_BYTES_MAX) {
		line[LINE_BYTES_MAX] = '\0';
		*(char *)(g_utf8_find_prev_char(line, line + LINE_BYTES_MAX) ?: line) = '\0';
	}
	pp_put_open(&html->put, NULL, '[');
	pp_put_number(&html->put, NULL, number);
	pp_put_text(&html->put, NULL, line);
	pp_put_close(&html->put, ']');
	html->names->n_lines++;
}

/*
 * Writes the lines around each call site, each once.  Returns false if the file lacks such a line.
 */
static bool put_lines(struct pp_html *html, const struct file *file, const char *text)
{
	g_auto(GStrv) all = g_strsplit(text, "\n", -1);
	int n = (int)g_strv_length(all), next = 1;
	bool is_whole = true;

	g_array_sort(file->lines, compare_lines);
	for (guint i = 0; i < file->lines->len; i++) {
		int wanted = g_array_index(file->lines, int, i);

		is_whole &= wanted <= n;
		next = MAX(next, wanted - AROUND);
		for (; next <= MIN(wanted, n - AROUND) + AROUND && next <= n; next++)
			if (html->names->n_lines < LINES_MAX)
				put_line(html, next, all[next - 1]);
	}
	return is_whole;
}

static void put_file(struct pp_html *html, const struct file *file)
{
	const char *why = "source lines were not requested";
	g_autofree char *text =
	    html->export->no_sources ? NULL : pp_source_file_read(file->path, true, &why);

	pp_put_open(&html->put, NULL, '{');
	pp_put_text(&html->put, "path", file->path);
	pp_put_open(&html->put, "lines", '[');
	if (text && !put_lines(html, file, text))
		why = "it is shorter than the file that was compiled";
	pp_put_close(&html->put, ']');
	if (why)
		pp_put_text(&html->put, "why", why);
	pp_put_close(&html->put, '}');
}

static void put_site(struct pp_html *html, const struct site *site)
{
	pp_put_open(&html->put, NULL, '{');
	pp_put_reference(&html->put, "function", site->function);
	pp_put_reference(&html->put, "file", site->file);
	pp_put_number(&html->put, "line", site->line);
	pp_put_text(&html->put, "text", site->text);
	pp_put_close(&html->put, '}');
}

void pp_html_put_names(struct pp_html *html)
{
	struct pp_html_names *names = html->names;

	pp_put_open(&html->put, "functions", '[');
	for (guint i = 0; i < names->functions->len; i++)
		pp_put_text(&html->put, NULL, names->functions->pdata[i]);
	pp_put_close(&html->put, ']');
	pp_put_open(&html->put, "ops", '[');
	for (guint i = 0; i < names->ops->len; i++) {
		enum st_event op = g_array_index(names->ops, enum st_event, i);

		pp_put_text(&html->put, NULL, pp_sync_function(op) ?: pp_sync_name(op));
	}
	pp_put_close(&html->put, ']');
	pp_put_open(&html->put, "sites", '[');
	for (guint i = 0; i < names->sites->len; i++)
		put_site(html, names->sites->pdata[i]);
	pp_put_close(&html->put, ']');
	pp_put_open(&html->put, "files", '[');
	for (guint i = 0; i < names->files->len; i++)
		put_file(html, names->files->pdata[i]);
	pp_put_close(&html->put, ']');
	if (names->n_lines >= LINES_MAX)
		pp_html_miss(html, "source lines", "no more than %u are in the page", LINES_MAX);
}
