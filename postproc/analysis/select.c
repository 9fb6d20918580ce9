/* SPDX-License-Identifier: MIT */
/*
 * Compares threads, times, objects and call sites with the selection.  Name matches are cached per
 * site.
 */
#include "analysis/select.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "core/text/duration.h"
#include "analysis/operation_stack.h"

struct site {
	const struct pp_process *process;
	uint64_t address;
};

static guint site_hash(const void *data)
{
	const struct site *site = data;

	return g_int64_hash(&site->address) ^ g_direct_hash(site->process);
}

static gboolean site_equal(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return x->address == y->address && x->process == y->process;
}

static void wanted_free(void *data)
{
	struct pp_wanted *wanted = data;

	g_free(wanted->text);
	g_free(wanted);
}

struct pp_selection *pp_selection_new(void)
{
	struct pp_selection *selection = g_new0(struct pp_selection, 1);
	GPtrArray **lists[] = {&selection->tids, &selection->threads, &selection->objects,
			       &selection->functions};

	for (unsigned i = 0; i < G_N_ELEMENTS(lists); i++)
		*lists[i] = g_ptr_array_new_with_free_func(wanted_free);
	selection->from_ns = INT64_MIN;
	selection->to_ns = INT64_MAX;
	selection->sites = g_hash_table_new_full(site_hash, site_equal, g_free, NULL);
	return selection;
}

void pp_selection_free(struct pp_selection *selection)
{
	if (!selection)
		return;
	g_ptr_array_unref(selection->tids);
	g_ptr_array_unref(selection->threads);
	g_ptr_array_unref(selection->objects);
	g_ptr_array_unref(selection->functions);
	g_hash_table_unref(selection->sites);
	g_free(selection);
}

char *pp_selection_names(unsigned by)
{
	/* A bit may stand for two options. */
	static const struct {
		unsigned bit;
		const char *names;
	} options[] = {
	    {PP_SELECT_THREAD, "--tid, --thread"}, {PP_SELECT_TIME, "--time"},
	    {PP_SELECT_OBJECT, "--object"},	   {PP_SELECT_FUNCTION, "--function"},
	    {PP_SELECT_MIN_WAIT, "--min-wait"},
	};
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < G_N_ELEMENTS(options); i++)
		if (by & options[i].bit)
			g_string_append_printf(text, "%s%s", text->len ? ", " : "",
					       options[i].names);
	return g_string_free(text, text->len == 0);
}

/* --- options -------------------------------------------------------------------------------- */

static struct pp_wanted *want(GPtrArray *list, const char *text)
{
	struct pp_wanted *wanted = g_new0(struct pp_wanted, 1);

	wanted->text = g_strdup(text);
	g_ptr_array_add(list, wanted);
	return wanted;
}

void pp_select_tid(struct pp_selection *selection, uint32_t tid)
{
	g_autofree char *text = g_strdup_printf("%u", tid);

	want(selection->tids, text)->number = tid;
	selection->by |= PP_SELECT_THREAD;
}

void pp_select_thread_name(struct pp_selection *selection, const char *pattern)
{
	want(selection->threads, pattern);
	selection->by |= PP_SELECT_THREAD;
}

void pp_select_function(struct pp_selection *selection, const char *pattern)
{
	want(selection->functions, pattern);
	selection->by |= PP_SELECT_FUNCTION;
}

bool pp_select_object(struct pp_selection *selection, const char *text)
{
	g_auto(GStrv) parts = NULL;
	guint64 address = 0, generation = 0;
	struct pp_wanted *wanted;

	if (g_str_has_prefix(text, "0x")) {
		parts = g_strsplit(text + 2, "/", 2);
		if (!g_ascii_string_to_unsigned(parts[0], 16, 1, UINT64_MAX, &address, NULL) ||
		    (parts[1] &&
		     !g_ascii_string_to_unsigned(parts[1], 10, 1, UINT_MAX, &generation, NULL)))
			return false;
	} else if (!*text) {
		return false;
	}
	wanted = want(selection->objects, text);
	wanted->number = address;
	wanted->generation = (unsigned)generation;
	selection->by |= PP_SELECT_OBJECT;
	return true;
}

bool pp_select_time(struct pp_selection *selection, const char *text)
{
	g_auto(GStrv) ends = g_strsplit(text, "~", -1);
	int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;

	if (g_strv_length(ends) != 2 || (!*ends[0] && !*ends[1]) ||
	    (*ends[0] && !pp_duration_read(ends[0], "s", &from_ns)) ||
	    (*ends[1] && !pp_duration_read(ends[1], "s", &to_ns)) || from_ns > to_ns)
		return false;
	selection->from_ns = from_ns;
	selection->to_ns = to_ns;
	selection->by |= PP_SELECT_TIME;
	return true;
}

void pp_select_of_ring(struct pp_selection *selection, const struct pp_model *model)
{
	selection->model = model;
	selection->from_ns = MAX(selection->from_ns, model->since_ns - pp_model_origin(model));
	selection->by_ring = ~selection->by & PP_SELECT_TIME;
	selection->by |= PP_SELECT_TIME;
}

bool pp_select_min_wait(struct pp_selection *selection, const char *text)
{
	if (!pp_duration_read(text, NULL, &selection->min_wait_ns))
		return false;
	selection->by |= PP_SELECT_MIN_WAIT;
	return true;
}

/* --- matches -------------------------------------------------------------------------------- */

bool pp_selects_by(const struct pp_pass_context *context, unsigned by)
{
	return context->selection && context->selection->by & by;
}

static bool matches(const char *name, const char *pattern)
{
	return name && fnmatch(pattern, name, 0) == 0;
}

bool pp_thread_has_name(const struct pp_thread *thread, const char *pattern)
{
	return matches(pp_thread_name(thread), pattern) || matches(thread->name, pattern);
}

bool pp_selects_thread(const struct pp_pass_context *context, const struct pp_thread *thread)
{
	const struct pp_selection *selection = context->selection;
	bool found = false;

	if (!pp_selects_by(context, PP_SELECT_THREAD))
		return true;
	for (guint i = 0; i < selection->tids->len; i++) {
		struct pp_wanted *wanted = selection->tids->pdata[i];

		if (wanted->number == thread->tid)
			found = wanted->found = true;
	}
	for (guint i = 0; i < selection->threads->len; i++) {
		struct pp_wanted *wanted = selection->threads->pdata[i];

		if (pp_thread_has_name(thread, wanted->text))
			found = wanted->found = true;
	}
	return found;
}

bool pp_selection_has_time(const struct pp_selection *selection, int64_t time_ns)
{
	int64_t since_ns = time_ns - pp_model_origin(selection->model);

	if (selection->windows)
		return pp_windows_part_ns(selection->windows, time_ns, time_ns + 1) > 0;
	return since_ns >= selection->from_ns && since_ns < selection->to_ns;
}

bool pp_selection_part(const struct pp_selection *selection, int64_t *start_ns, int64_t *end_ns)
{
	int64_t origin_ns = pp_model_origin(selection->model);

	*start_ns = MAX(*start_ns - origin_ns, selection->from_ns) + origin_ns;
	*end_ns = MIN(*end_ns - origin_ns, selection->to_ns) + origin_ns;
	return *end_ns > *start_ns;
}

int64_t pp_selection_part_ns(const struct pp_selection *selection, int64_t start_ns, int64_t end_ns)
{
	if (selection->windows)
		return pp_windows_part_ns(selection->windows, start_ns, end_ns);
	return pp_selection_part(selection, &start_ns, &end_ns) ? end_ns - start_ns : 0;
}

bool pp_selects_function(const struct pp_pass_context *context, const char *name)
{
	const struct pp_selection *selection = context->selection;
	bool found = false;

	if (!pp_selects_by(context, PP_SELECT_FUNCTION))
		return true;
	for (guint i = 0; name && i < selection->functions->len; i++) {
		struct pp_wanted *wanted = selection->functions->pdata[i];

		if (fnmatch(wanted->text, name, 0) == 0)
			found = wanted->found = true;
	}
	return found;
}

/* A few sites are looked up again and again, so the results are cached. */
static bool selects_site(const struct pp_pass_context *context, const struct pp_process *process,
			 uint64_t address)
{
	GHashTable *sites = context->selection->sites;
	const struct pp_namer *namer = context->namer;
	struct site site = {process, address};
	g_autofree char *name = NULL;
	void *known;
	bool found;

	if (!address || !namer || !namer->function)
		return false;
	if (g_hash_table_lookup_extended(sites, &site, NULL, &known))
		return known;
	name = namer->function(namer->data, process, address);
	found = pp_selects_function(context, name);
	g_hash_table_insert(sites, g_memdup2(&site, sizeof(site)), GINT_TO_POINTER(found));
	return found;
}

static bool selects_thread_and_wait(const struct pp_pass_context *context,
				    const struct pp_thread *thread, int64_t wait_ns)
{
	const struct pp_selection *selection = context->selection;

	return pp_selects_thread(context, thread) &&
	       (!(selection->by & PP_SELECT_MIN_WAIT) || wait_ns >= selection->min_wait_ns);
}

bool pp_selection_has_call(const struct pp_pass_context *context, const struct pp_thread *thread,
			   const char *name, uint64_t site, int64_t wait_ns)
{
	return selects_thread_and_wait(context, thread, wait_ns) &&
	       (!(context->selection->by & PP_SELECT_FUNCTION) ||
		pp_selects_function(context, name) || selects_site(context, thread->process, site));
}

static bool selects_name(const struct pp_pass_context *context,
			 const struct pp_operation *operation)
{
	return pp_selects_function(context, pp_sync_function(operation->op)) ||
	       pp_selects_function(context, pp_sync_name(operation->op)) ||
	       selects_site(context, operation->thread->process, operation->site);
}

bool pp_selection_has_operation(const struct pp_pass_context *context,
				const struct pp_operation *operation)
{
	return selects_thread_and_wait(context, operation->thread,
				       operation->end_ns - operation->begin_ns) &&
	       (!(context->selection->by & PP_SELECT_FUNCTION) || selects_name(context, operation));
}
