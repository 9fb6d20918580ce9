/* SPDX-License-Identifier: MIT */
/*
 * Parses the selection options, and resolves names of threads, objects and functions when they are
 * known.
 */
#include "cli/select.h"

#include <errno.h>
#include <fnmatch.h>

#include "cli/commands.h"
#include "analysis/thread_cells.h"
#include "core/text/printable.h"
#include "events/events.h"

#define MAX_LISTED 8 /* threads named in a message */

static int take_tids(const char *command, struct pp_selection *selection, const char *value)
{
	g_auto(GStrv) words = g_strsplit(value, ",", -1);
	int status = words[0] ? PP_EXIT_GOOD : pp_cli_usage(command, "--tid: no thread id given");

	for (char **word = words; *word && status == PP_EXIT_GOOD; word++) {
		guint64 tid;

		if (g_ascii_string_to_unsigned(*word, 10, 1, INT32_MAX, &tid, NULL))
			pp_select_tid(selection, (uint32_t)tid);
		else
			status = pp_cli_usage(command, "--tid %s: not a thread id", *word);
	}
	return status;
}

bool pp_cli_select_take(const char *command, struct pp_selection *selection, int option,
			const char *value, int *ret_status)
{
	*ret_status = PP_EXIT_GOOD;
	switch (option) {
	case PP_CLI_SELECT_TID:
		*ret_status = take_tids(command, selection, value);
		return true;
	case PP_CLI_SELECT_THREAD:
		pp_select_thread_name(selection, value);
		return true;
	case PP_CLI_SELECT_FUNCTION:
		pp_select_function(selection, value);
		return true;
	case PP_CLI_SELECT_OBJECT:
		if (!pp_select_object(selection, value))
			*ret_status = pp_cli_usage(command, "--object %s: not an address", value);
		return true;
	case PP_CLI_SELECT_TIME:
		if (!pp_select_time(selection, value))
			*ret_status = pp_cli_usage(
			    command,
			    "invalid --time '%s' (expected A~B, A~ or ~B, as 1.5~2 or 20ms~30ms)",
			    value);
		return true;
	case PP_CLI_SELECT_MIN_WAIT:
		if (!pp_select_min_wait(selection, value))
			*ret_status = pp_cli_usage(
			    command, "--min-wait %s: not a time with its unit, as 10us", value);
		return true;
	default:
		return false;
	}
}

int pp_cli_select_refuse(const char *command, const struct pp_selection *selection, unsigned heeded)
{
	g_autofree char *names = pp_selection_names(selection->by & ~heeded);

	return names ? pp_cli_usage(command, "%s: this command does not accept it", names)
		     : PP_EXIT_GOOD;
}

void pp_view_select(struct pp_view *view, struct pp_selection *selection)
{
	selection->model = view->capture->model;
	if (view->of_ring)
		pp_select_of_ring(selection, selection->model);
	/* Without filters, passes need not check them. */
	view->context.selection = selection->by ? selection : NULL;
}

/*
 * The tids of the threads with such a name in a text, which the caller frees: "7 main, 8 worker,
 * and 3 more".  pattern: NULL for all threads.  Sets the number of tids, and the first one.
 */
static char *list_named(const struct pp_model *model, const char *pattern, unsigned *ret_n,
			uint32_t *ret_tid)
{
	g_autoptr(GHashTable) tids = g_hash_table_new(NULL, NULL);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];
		g_autofree char *name = pp_thread_label(thread);

		if (pattern && !pp_thread_has_name(thread, pattern))
			continue;
		if (!g_hash_table_size(tids))
			*ret_tid = thread->tid;
		if (!g_hash_table_add(tids, GUINT_TO_POINTER(thread->tid)) ||
		    g_hash_table_size(tids) > MAX_LISTED)
			continue;
		g_string_append_printf(text, "%s%u%s%s", text->len ? ", " : "", thread->tid,
				       *name ? " " : "", name);
	}
	*ret_n = g_hash_table_size(tids);
	if (*ret_n > MAX_LISTED)
		g_string_append_printf(text, ", and %u more", *ret_n - MAX_LISTED);
	return g_string_free(text, FALSE);
}

static int no_such_name(const struct pp_model *model, const char *pattern, struct pp_error *err)
{
	return pp_error_add(
	    err, -ENOENT,
	    "%s: no thread has a name that matches '%s'; see `gprof-mt report threads`", model->dir,
	    pattern);
}

/* The threads to choose from; NULL if the capture cannot be read. */
static char *list_threads(const char *dir)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_capture *capture;
	char *text = NULL;
	uint32_t tid;
	unsigned n;

	if (pp_capture_open(dir, &capture, &err) == 0) {
		if (pp_events_name_threads(capture, &err) == 0)
			text = list_named(capture->model, NULL, &n, &tid);
		pp_capture_free(capture);
	}
	pp_error_done(&err);
	return text;
}

int pp_cli_select_one(const char *command, const char *dir, const struct pp_selection *selection)
{
	guint n = selection->tids->len + selection->threads->len;
	g_autofree char *threads = n ? NULL : list_threads(dir);
	bool has_threads = threads && *threads;

	if (n == 1)
		return PP_EXIT_GOOD;
	return pp_cli_usage(command, "exactly one thread is required: --tid T or --thread NAME%s%s",
			    has_threads ? "; the tids are " : "", has_threads ? threads : "");
}

/* True if a thread with this tid ended without recording its last name. */
static bool is_named_late(const struct pp_model *model, uint32_t tid)
{
	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];

		if (thread->tid == tid && !thread->ended)
			return true;
	}
	return false;
}

int pp_view_select_one(struct pp_view *view, struct pp_selection *selection, uint32_t *ret_tid,
		       struct pp_error *err)
{
	const struct pp_model *model = view->capture->model;
	g_autofree char *threads = NULL;
	const char *pattern;
	unsigned n;
	int ret;

	pp_view_select(view, selection);
	if (selection->tids->len) {
		*ret_tid = (uint32_t)((struct pp_wanted *)selection->tids->pdata[0])->number;
		return is_named_late(model, *ret_tid) ? pp_events_name_threads(view->capture, err)
						      : 0;
	}
	ret = pp_events_name_threads(view->capture, err);
	if (ret < 0)
		return ret;
	pattern = ((struct pp_wanted *)selection->threads->pdata[0])->text;
	threads = list_named(model, pattern, &n, ret_tid);
	if (!n)
		return no_such_name(model, pattern, err);
	return n == 1
		   ? 0
		   : pp_error_add(err, -EINVAL,
				  "%s: %u threads have names like '%s'; choose one by its --tid: "
				  "%s",
				  model->dir, n, pattern, threads);
}

static int check_threads(const struct pp_model *model, const struct pp_selection *selection,
			 struct pp_error *err)
{
	uint32_t tid;
	unsigned n;

	for (guint i = 0; i < selection->tids->len; i++) {
		const struct pp_wanted *wanted = selection->tids->pdata[i];

		if (!pp_model_thread_at(model, (uint32_t)wanted->number, INT64_MAX))
			return pp_error_add(err, -ENOENT,
					    "%s: no thread has tid %s; "
					    "see `gprof-mt report threads`",
					    model->dir, wanted->text);
	}
	for (guint i = 0; i < selection->threads->len; i++) {
		const struct pp_wanted *wanted = selection->threads->pdata[i];

		g_free(list_named(model, wanted->text, &n, &tid));
		if (!n)
			return no_such_name(model, wanted->text, err);
	}
	return 0;
}

int pp_cli_select_check(const struct pp_view *view, unsigned heeded, struct pp_error *err)
{
	const struct pp_model *model = view->capture->model;
	const struct pp_selection *selection = view->context.selection;
	const char *also;
	int ret;

	if (!selection)
		return 0;
	ret = check_threads(model, selection, err);
	if (ret < 0)
		return ret;
	also = selection->by & (selection->by - 1) ? " in the selection" : "";
	for (guint i = 0; heeded & PP_SELECT_OBJECT && i < selection->objects->len; i++) {
		const struct pp_wanted *wanted = selection->objects->pdata[i];

		if (!wanted->found)
			return pp_error_add(err, -ENOENT,
					    "%s: no operation on an object '%s'%s; "
					    "see `gprof-mt report locks`",
					    model->dir, wanted->text, also);
	}
	for (guint i = 0; heeded & PP_SELECT_FUNCTION && i < selection->functions->len; i++) {
		const struct pp_wanted *wanted = selection->functions->pdata[i];

		if (!wanted->found)
			return pp_error_add(err, -ENOENT,
					    "%s: no call of or in a function like '%s'%s",
					    model->dir, wanted->text, also);
	}
	return 0;
}
