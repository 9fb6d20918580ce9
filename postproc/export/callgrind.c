/* SPDX-License-Identifier: MIT */
/*
 * Callgrind's profile format, version 1, for callgrind_annotate and KCachegrind: calls counted, and
 * CPU time where samples were taken, by function.
 *
 * What a call cost with all that it called in turn was not measured and is not made up: a line of a
 * call has the number of calls as its cost, and no time.  Functions of one name are one.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/printable.h"
#include "core/command.h"
#include "export/exporter.h"
#include "pass/select.h"

static const char *const needs[] = {"flat", "calls", NULL};

struct function {
	char *name;
	unsigned number;
	uint64_t calls, self_ns;
	GPtrArray *lines; /* of struct pp_cell *: rows of edges, that it is the caller of */
	bool is_named;	  /* in the file, where its number stands for it from then on */
};

struct profile {
	const struct pp_export *export;
	const struct pp_table *flat, *nodes, *edges;
	GHashTable *by_name;
	GPtrArray *functions; /* the same, in order of appearance */
	GPtrArray *of_node;   /* of struct function *: by id of the node */
	bool has_times;
	uint64_t calls, self_ns;
};

static void function_free(void *data)
{
	struct function *function = data;

	g_free(function->name);
	g_ptr_array_unref(function->lines);
	g_free(function);
}

static struct function *get_function(struct profile *profile, const char *name)
{
	struct function *function = g_hash_table_lookup(profile->by_name, name);

	if (function)
		return function;
	function = g_new0(struct function, 1);
	function->name = g_strdup(name);
	function->lines = g_ptr_array_new();
	g_ptr_array_add(profile->functions, function);
	function->number = profile->functions->len;
	g_hash_table_insert(profile->by_name, function->name, function);
	return function;
}

static void add_costs(struct profile *profile)
{
	for (guint i = 0; i < profile->flat->rows->len; i++) {
		struct function *function =
		    get_function(profile, pp_table_cell(profile->flat, i, "name")->text);
		const struct pp_cell *calls = pp_table_cell(profile->flat, i, "calls");
		const struct pp_cell *samples = pp_table_cell(profile->flat, i, "samples");
		const struct pp_cell *period = pp_table_cell(profile->flat, i, "sample_period_ns");
		uint64_t ns = samples && period ? samples->count * (uint64_t)period->time_ns : 0;

		function->calls += calls ? calls->count : 0;
		function->self_ns += ns;
		profile->calls += calls ? calls->count : 0;
		profile->self_ns += ns;
		profile->has_times |= samples && period;
	}
}

static void add_calls(struct profile *profile)
{
	int from = pp_table_column(profile->edges, "from");

	for (guint i = 0; i < profile->nodes->rows->len; i++)
		g_ptr_array_add(
		    profile->of_node,
		    get_function(profile, pp_table_cell(profile->nodes, i, "name")->text));
	for (guint i = 0; i < profile->edges->rows->len; i++) {
		struct pp_cell *row = profile->edges->rows->pdata[i];
		struct function *caller = profile->of_node->pdata[row[from].count];

		g_ptr_array_add(caller->lines, row);
	}
}

static char *oneline(const char *text)
{
	return pp_printable(g_strdup(text));
}

static void write_head(const struct profile *profile)
{
	GString *text = profile->export->out->text;
	const struct pp_model *model = profile->export->context->model;
	g_autofree char *command = pp_command_text(model->info);
	g_autofree char *line = oneline(command ?: model->dir);

	g_string_append_printf(
	    text,
	    "# callgrind format\nversion: 1\ncreator: gprof-mt " GM_VERSION "\ncmd: %s\n"
	    "desc: Calls: how often the function was called; all chosen threads together\n",
	    line);
	if (profile->has_times)
		g_string_append(
		    text, "desc: CpuNs: CPU time in the function, ns: samples times period\n");
	g_string_append_printf(text,
			       "desc: Inclusive costs were not measured: a call costs 1 call%s, "
			       "without what it called\n"
			       "positions: line\nevents: Calls%s\n",
			       profile->has_times ? " and no time" : "",
			       profile->has_times ? " CpuNs" : "");
	g_string_append_printf(text, "summary: %" PRIu64, profile->calls);
	if (profile->has_times)
		g_string_append_printf(text, " %" PRIu64, profile->self_ns);
	g_string_append(text, "\n\nfl=???\n");
}

/* Some readers take a second name of a number for an error, were it the same. */
static void write_name(GString *text, const char *key, struct function *function)
{
	g_autofree char *name = oneline(function->name);

	g_string_append_printf(text, "%s=(%u)%s%s\n", key, function->number,
			       function->is_named ? "" : " ", function->is_named ? "" : name);
	function->is_named = true;
}

static void write_function(const struct profile *profile, struct function *function)
{
	GString *text = profile->export->out->text;
	int to = pp_table_column(profile->edges, "to");
	int count = pp_table_column(profile->edges, "count");

	write_name(text, "fn", function);
	g_string_append_printf(text, "0 %" PRIu64, function->calls);
	if (profile->has_times)
		g_string_append_printf(text, " %" PRIu64, function->self_ns);
	g_string_append_c(text, '\n');
	for (guint i = 0; i < function->lines->len; i++) {
		const struct pp_cell *row = function->lines->pdata[i];

		write_name(text, "cfn", profile->of_node->pdata[row[to].count]);
		g_string_append_printf(text, "calls=%" PRIu64 " 0\n0 %" PRIu64 "\n",
				       row[count].count, row[count].count);
	}
	pp_out_flush(profile->export->out);
}

static void *callgrind_start(const struct pp_export *export)
{
	struct profile *profile = g_new0(struct profile, 1);

	profile->export = export;
	profile->by_name = g_hash_table_new(g_str_hash, g_str_equal);
	profile->functions = g_ptr_array_new_with_free_func(function_free);
	profile->of_node = g_ptr_array_new();
	return profile;
}

static int callgrind_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	struct profile *profile = state;
	const struct pp_export *export = profile->export;
	unsigned n_tables;
	struct pp_table **calls = pp_pass_set_tables(export->passes, "calls", &n_tables);

	(void)end_ns;
	profile->flat = pp_pass_set_tables(export->passes, "flat", &n_tables)[0];
	profile->nodes = calls[0];
	profile->edges = calls[1];
	add_costs(profile);
	add_calls(profile);
	if (!profile->functions->len)
		return pp_error_add(err, -ENODATA,
				    "%s: no calls by these threads; see `gprof-mt "
				    "report quality`",
				    export->context->model->dir);
	write_head(profile);
	for (guint i = 0; i < profile->functions->len; i++)
		write_function(profile, profile->functions->pdata[i]);
	for (guint i = 0; i < profile->flat->notes->len; i++)
		pp_export_note(export, "%s", (const char *)profile->flat->notes->pdata[i]);
	return 0;
}

static void callgrind_free(void *state)
{
	struct profile *profile = state;

	g_hash_table_unref(profile->by_name);
	g_ptr_array_unref(profile->functions);
	g_ptr_array_unref(profile->of_node);
	g_free(profile);
}

const struct pp_exporter pp_exporter_callgrind = {
    .format = "callgrind",
    .summary = "calls and CPU time, for callgrind_annotate and KCachegrind",
    .file_name = "callgrind.out.gprof-mt",
    .selects = PP_SELECT_THREAD,
    .needs = needs,
    .start = callgrind_start,
    .finish = callgrind_finish,
    .free = callgrind_free,
};
