/* SPDX-License-Identifier: MIT */
/* export --format html: writes the page with the document in place of its marker. */
#include "export/html/html.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/text/command.h"
#include "core/text/host.h"
#include "core/text/temporary_file.h"
#include "analysis/blame/blame.h"
#include "index/build.h"
#include "export/html/write.h"
#include "analysis/select.h"

static const char *const needs[] = {"threads",	     "sync", "locks",	"flat", "quality",
				    "critical-path", "io",   "finding", NULL};

static void *html_start(const struct pp_export *export)
{
	struct pp_html *html = g_new0(struct pp_html, 1);
	int fds[PP_INDEX_FILES];

	/* Without a file, a section is in memory. */
	for (unsigned i = 0; i < PP_INDEX_FILES; i++)
		fds[i] = pp_temporary_file();
	html->export = export;
	html->builder = pp_index_builder_new(export->context, export->capture->model, fds);
	html->blame = pp_blame_new(export->context);
	html->missing = g_ptr_array_new_with_free_func(g_free);
	pp_mapped_array_init(&html->switches, sizeof(struct pp_html_switch), -1);
	return html;
}

/* Same rule as in `graph --kind switch`. */
static void note_switch(struct pp_html *html, const struct pp_event *event)
{
	const struct pp_pass_context *context = html->export->context;
	const struct pp_thread *from = event->sched_switch.prev, *to = event->sched_switch.next;
	struct pp_html_switch *at;

	if (!from || !to || from == to || !context->has_switch_pairs ||
	    !(pp_selects_thread(context, from) || pp_selects_thread(context, to)))
		return;
	at = pp_mapped_array_add(&html->switches, 1);
	*at = (struct pp_html_switch){(uint64_t)MAX(event->time_ns, 0), from->serial, to->serial};
}

static void html_event(void *state, const struct pp_event *event)
{
	struct pp_html *html = state;

	if (event->kind == PP_EVENT_SWITCH)
		note_switch(html, event);
	if (PP_EVENT_MASK(event->kind) & PP_THREAD_STATE_KINDS)
		pp_blame_event(html->blame, event);
	pp_index_builder_event(html->builder, event);
}

/* --- contents ------------------------------------------------------------------------------- */

/* Sets the chosen part of the capture. */
static void set_time(struct pp_html *html)
{
	const struct pp_index *index = html->index;
	const struct pp_selection *selection = html->export->context->selection;

	html->from_ns = index->start_ns;
	html->to_ns = index->end_ns;
	if (!selection || !(selection->by & PP_SELECT_TIME))
		return;
	if (selection->from_ns > 0)
		html->from_ns += MIN(selection->from_ns, index->end_ns - index->start_ns);
	if (selection->to_ns < index->end_ns - index->start_ns)
		html->to_ns = index->start_ns + MAX(selection->to_ns, 0);
	html->to_ns = MAX(html->to_ns, html->from_ns);
}

static void put_head(struct pp_html *html)
{
	JsonObject *info = html->export->context->model->info;
	JsonArray *words = pp_json_array(info, "command");
	const char *program = words ? pp_json_element_string(words, 0) : NULL;
	g_autofree char *name = program ? g_path_get_basename(program) : NULL;
	g_autofree char *command = pp_command_text(info), *host = pp_host_text(info);

	pp_put_number(&html->put, "schema", 1);
	pp_put_text(&html->put, "program", name ?: html->export->context->model->dir);
	pp_put_text(&html->put, "command", command ?: "");
	pp_put_text(&html->put, "host", host ?: "");
	pp_put_text(&html->put, "date", pp_json_string(info, "start_time") ?: "");
	pp_put_text(&html->put, "version", pp_json_string(info, "version") ?: "");
	pp_put_number(&html->put, "from_ns", html->from_ns - html->index->start_ns);
	pp_put_number(&html->put, "end_ns", html->to_ns - html->from_ns);
	pp_put_number(&html->put, "bins", pp_html_bins(html));
}

static void put_time(struct pp_html *html, const char *key, int64_t time_ns, bool is_known)
{
	if (is_known)
		pp_put_number(&html->put, key,
			      CLAMP(time_ns, html->from_ns, html->to_ns) - html->from_ns);
	else
		pp_put_null(&html->put, key);
}

static void put_thread(struct pp_html *html, uint32_t number)
{
	const struct pp_index_thread *thread = pp_index_thread(html->index, number);
	const char *name = pp_index_thread_name(html->index, number);
	g_autofree char *tid = g_strdup_printf("tid %u", thread->tid);
	bool seen = thread->flags & PP_INDEX_SEEN;

	pp_put_open(&html->put, NULL, '{');
	pp_put_text(&html->put, "name", *name ? name : tid);
	pp_put_number(&html->put, "tid", thread->tid);
	pp_put_reference(&html->put, "process", thread->process);
	put_time(html, "start_ns", thread->start_ns, seen);
	put_time(html, "end_ns", thread->end_ns, seen);
	pp_put_close(&html->put, '}');
}

static void put_process(struct pp_html *html, const struct pp_process *process)
{
	const GArray *maps = process->maps;
	const char *path = maps && maps->len ? g_array_index(maps, struct pp_load, 0).path : NULL;
	g_autofree char *name = path ? g_path_get_basename(path) : g_strdup("?");

	pp_put_open(&html->put, NULL, '{');
	pp_put_number(&html->put, "pid", process->pid);
	pp_put_text(&html->put, "program", name);
	pp_put_close(&html->put, '}');
}

static void put_object(struct pp_html *html, uint32_t number)
{
	const struct pp_index_object *object = pp_index_object(html->index, number);
	g_autofree char *address = g_strdup_printf("0x%" PRIx64, object->address);

	pp_put_open(&html->put, NULL, '{');
	pp_put_text(&html->put, "name", pp_html_object_name(html, number));
	pp_put_text(&html->put, "type", pp_index_type(object));
	pp_put_reference(
	    &html->put, "site",
	    pp_html_address_site(html, pp_index_process(html->index, object->process),
				 object->init_site ? object->init_site : object->first_site));
	pp_put_reference(&html->put, "process", object->process);
	pp_put_text(&html->put, "address", address);
	pp_put_number(&html->put, "generation", object->generation);
	pp_put_close(&html->put, '}');
}

static void put_lists(struct pp_html *html)
{
	const GPtrArray *processes = html->export->context->model->processes;

	pp_put_open(&html->put, "threads", '[');
	for (uint32_t i = 0; i < pp_index_n(html->index, PP_SECTION_THREADS); i++)
		put_thread(html, i);
	pp_put_close(&html->put, ']');
	pp_put_open(&html->put, "processes", '[');
	for (guint i = 0; i < processes->len; i++)
		put_process(html, processes->pdata[i]);
	pp_put_close(&html->put, ']');
	pp_put_open(&html->put, "objects", '[');
	for (guint i = 0; i < html->objects->len; i++)
		put_object(html, g_array_index(html->objects, uint32_t, i));
	pp_put_close(&html->put, ']');
}

/* --- omissions ------------------------------------------------------------------------------ */

static void miss_notes(struct pp_html *html, const char *pass)
{
	unsigned n_tables = 0;
	struct pp_table **tables = pp_pass_set_tables(html->export->passes, pass, &n_tables);

	for (unsigned t = 0; t < n_tables; t++)
		for (guint i = 0; i < tables[t]->notes->len; i++)
			pp_html_miss(html, pass, "%s", (const char *)tables[t]->notes->pdata[i]);
}

static void miss_losses(struct pp_html *html)
{
	const GPtrArray *problems = html->export->context->model->problems;
	const GPtrArray *damage = html->export->capture->damage;

	for (guint i = 0; i < damage->len; i++)
		pp_html_miss(html, "damage", "%s", (const char *)damage->pdata[i]);
	for (guint i = 0; i < problems->len; i++) {
		const struct pp_problem *problem = problems->pdata[i];

		if (problem->count)
			pp_html_miss(html, problem->what, "%s: %" PRIu64, problem->where,
				     problem->count);
		else
			pp_html_miss(html, problem->what, "%s", problem->where);
	}
	if (!pp_index_n(html->index, PP_SECTION_OPERATIONS))
		pp_html_miss(html, "synchronization", "no operation was recorded");
	if (!html->switches.n)
		pp_html_miss(html, "switches",
			     html->export->context->has_switch_pairs
				 ? "no thread ran next after another"
				 : "no scheduling events record which thread ran next");
}

static void miss_what_is_left_out(struct pp_html *html)
{
	unsigned bins = pp_html_bins(html);

	if (html->to_ns - html->from_ns >= PP_HTML_BINS && bins < PP_HTML_BINS)
		pp_html_miss(html, "time",
			     "because of the amount of data, it is divided into only %u parts",
			     bins);
	if (html->left_out)
		pp_html_miss(html, "sums", "%" PRIu64 " figures exceed the page's size limit",
			     html->left_out);
	if (html->index->n_left_out)
		pp_html_miss(html, "operations", "%" PRIu64 " exceed the limit of operations",
			     html->index->n_left_out);
	for (guint i = 0; i < html->export->notes->len; i++)
		pp_html_miss(html, "calls", "%s", (const char *)html->export->notes->pdata[i]);
}

static void put_missing(struct pp_html *html)
{
	miss_losses(html);
	miss_notes(html, "threads");
	miss_notes(html, "sync");
	miss_notes(html, "locks");
	/* Give the reason why there are none. */
	if (!html->tables[PP_HTML_SAMPLES].rows->len)
		miss_notes(html, "flat");
	miss_what_is_left_out(html);
	pp_put_open(&html->put, "missing", '[');
	for (guint i = 0; i + 1 < html->missing->len; i += 2) {
		pp_put_open(&html->put, NULL, '{');
		pp_put_text(&html->put, "what", html->missing->pdata[i]);
		pp_put_text(&html->put, "reason", html->missing->pdata[i + 1]);
		pp_put_close(&html->put, '}');
	}
	pp_put_close(&html->put, ']');
}

/* --- the whole document --------------------------------------------------------------------- */

static int sum_up(struct pp_html *html, struct pp_error *err)
{
	pp_html_sums_init(html);
	pp_html_sum_operations(html);
	pp_html_sum_threads(html);
	pp_html_sum_switches(html);
	return pp_html_sum_stacks(html, err);
}

/*
 * Data that others refer to comes last.  Findings come before sums, because sums cannot be queried
 * after they are written.
 */
static void put_document(void *data)
{
	struct pp_html *html = data;

	pp_put_open(&html->put, NULL, '{');
	put_head(html);
	put_lists(html);
	pp_html_put_findings(html);
	pp_html_put_idle(html);
	pp_html_put_lanes(html);
	pp_html_put_waits(html);
	pp_html_put_sums(html);
	pp_html_put_stacks(html);
	pp_html_put_blame(html);
	pp_html_put_path(html);
	pp_html_put_io(html);
	pp_html_put_names(html);
	put_missing(html);
	pp_put_close(&html->put, '}');
}

static int html_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	struct pp_html *html = state;
	int ret;

	pp_blame_finish(html->blame, end_ns);
	html->index = pp_index_builder_finish(html->builder, NULL);
	g_clear_pointer(&html->builder, pp_index_builder_free);
	pp_html_names_init(html);
	set_time(html);
	if (pp_selects_by(html->export->context, PP_SELECT_TIME) && html->from_ns == html->to_ns)
		return pp_error_add(err, -ENOENT, "%s: the selection is empty",
				    html->export->context->model->dir);
	ret = sum_up(html, err);
	if (ret < 0)
		return ret;
	return pp_html_write(html->export->out, &html->put, put_document, html, err);
}

static void html_free(void *state)
{
	struct pp_html *html = state;

	pp_put_done(&html->put);
	pp_html_sums_done(html);
	pp_html_names_done(html);
	pp_stacks_free(html->stacks);
	g_clear_pointer(&html->objects, g_array_unref);
	g_clear_pointer(&html->waits, g_array_unref);
	g_clear_pointer(&html->object_at, g_hash_table_unref);
	g_ptr_array_unref(html->missing);
	pp_mapped_array_done(&html->switches);
	pp_blame_free(html->blame);
	pp_index_builder_free(html->builder);
	pp_index_free(html->index);
	g_free(html);
}

const struct pp_exporter pp_exporter_html = {
    .format = "html",
    .summary = "one page with all of it, for a browser",
    .file_name = "gprof-mt.html",
    .kinds = PP_INDEX_KINDS,
    .selects = PP_SELECT_THREAD | PP_SELECT_TIME,
    .needs = needs,
    .may_use_history = true,
    .has_sources = true,
    .start = html_start,
    .event = html_event,
    .finish = html_finish,
    .free = html_free,
};
