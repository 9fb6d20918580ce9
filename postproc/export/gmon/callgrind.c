/* SPDX-License-Identifier: MIT */
/*
 * Callgrind's profile format, version 1, for callgrind_annotate and KCachegrind: call counts, and
 * CPU time where samples were taken, by function and source line.  A call is listed at the line of
 * its call site, a call count at the first line of the function.
 *
 * The inclusive cost of a call was not measured and is not estimated: a call line has the number of
 * calls as its cost, and no time.  Functions with the same name, file and object are one.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/text/printable.h"
#include "core/text/command.h"
#include "export/exporter.h"
#include "capture/capture.h"
#include "analysis/caller.h"
#include "analysis/select.h"
#include "analysis/thread_cells.h"

#define UNKNOWN "???"

static const char *const needs[] = {"flat", NULL};

/* Written in full at its first use; afterwards its number stands for it. */
struct name {
	char *text;
	unsigned number;
	bool is_written;
};

struct function {
	struct name name;
	struct name *object, *file;
	int line;	   /* its first line; 0: unknown */
	GHashTable *costs; /* a set of struct cost * */
};

/* The cost of a line: of its own code, or of its calls of one function. */
struct cost {
	struct name *file;
	int line;
	struct function *callee; /* NULL: own code */
	uint64_t calls, ns;
};

/* The role of an address: each is resolved to a name in its own way. */
enum role { CALLER, CALLEE, SAMPLED, N_ROLES };

struct place {
	struct function *function; /* NULL: a caller without a name */
	struct name *file;
	int line;
};

struct profile {
	const struct pp_export *export;
	const struct pp_process *process; /* the process whose threads are being added */
	GHashTable *objects, *files;	  /* text -> struct name * */
	GHashTable *by_identity;	  /* "object file name" -> struct function * */
	GPtrArray *functions;		  /* in order of first use */
	GHashTable *places[N_ROLES];	  /* for the current process: address -> struct place * */
	bool has_times;
	uint64_t calls, self_ns;
};

/* --- names and functions -------------------------------------------------------------------- */

static void name_free(void *data)
{
	struct name *name = data;

	g_free(name->text);
	g_free(name);
}

static void function_free(void *data)
{
	struct function *function = data;

	g_free(function->name.text);
	g_hash_table_unref(function->costs);
	g_free(function);
}

static guint cost_hash(const void *data)
{
	const struct cost *cost = data;

	return g_direct_hash(cost->file) ^ g_direct_hash(cost->callee) * 31 ^ (guint)cost->line * 7;
}

static gboolean cost_equal(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	return x->file == y->file && x->line == y->line && x->callee == y->callee;
}

static struct cost *get_cost(struct function *function, struct name *file, int line,
			     struct function *callee)
{
	struct cost key = {.file = file, .line = line, .callee = callee};
	struct cost *cost = g_hash_table_lookup(function->costs, &key);

	if (!cost) {
		cost = g_memdup2(&key, sizeof(key));
		g_hash_table_add(function->costs, cost);
	}
	return cost;
}

/* `text` may be NULL: unknown. */
static struct name *get_name(GHashTable *names, const char *text)
{
	struct name *name = g_hash_table_lookup(names, text ?: UNKNOWN);

	if (name)
		return name;
	name = g_new0(struct name, 1);
	name->text = g_strdup(text ?: UNKNOWN);
	name->number = g_hash_table_size(names) + 1;
	g_hash_table_insert(names, name->text, name);
	return name;
}

/* Returns the function that begins at the entry (0: unknown) and contains the address. */
static struct function *get_function(struct profile *profile, const char *text, uint64_t entry,
				     uint64_t address)
{
	const struct pp_namer *namer = profile->export->context->namer;
	const struct pp_load *load = pp_maps_find(profile->process, address);
	struct name *object = get_name(profile->objects, load ? load->path : NULL);
	int line = 0;
	g_autofree char *path = entry && namer->holder
				    ? namer->holder(namer->data, profile->process, entry + 1, &line)
				    : NULL;
	struct name *file = get_name(profile->files, path);
	g_autofree char *identity = g_strdup_printf("%u %u %s", object->number, file->number, text);
	struct function *function = g_hash_table_lookup(profile->by_identity, identity);

	if (function)
		return function;
	function = g_new0(struct function, 1);
	function->name.text = g_strdup(text);
	function->object = object;
	function->file = file;
	function->line = path ? line : 0;
	function->costs = g_hash_table_new_full(cost_hash, cost_equal, g_free, NULL);
	(void)get_cost(function, file, function->line, NULL);
	g_ptr_array_add(profile->functions, function);
	function->name.number = profile->functions->len;
	g_hash_table_insert(profile->by_identity, g_steal_pointer(&identity), function);
	return function;
}

/* --- places --------------------------------------------------------------------------------- */

static void find_function(struct profile *profile, uint64_t return_address, enum role role,
			  struct place *place)
{
	const struct pp_namer *namer = profile->export->context->namer;
	uint64_t address = return_address - 1, entry = 0;
	g_autofree char *name = NULL;

	if (role == SAMPLED) {
		name = pp_sampled_function(namer, profile->process, address, &entry);
	} else {
		name = namer->function(namer->data, profile->process, return_address);
		if (namer->entry)
			entry = namer->entry(namer->data, profile->process, return_address);
	}
	if (role == CALLER && g_str_has_prefix(name, "0x"))
		return;
	place->function = get_function(profile, name, entry, address);
}

static struct place *get_place(struct profile *profile, uint64_t return_address, enum role role)
{
	const struct pp_namer *namer = profile->export->context->namer;
	struct place *place = g_hash_table_lookup(profile->places[role], &return_address);
	g_autofree char *path = NULL;
	int line = 0;

	if (place)
		return place;
	place = g_new0(struct place, 1);
	g_hash_table_insert(profile->places[role],
			    g_memdup2(&return_address, sizeof(return_address)), place);
	find_function(profile, return_address, role, place);
	if (!place->function)
		return place;
	if (namer->call_line)
		path = namer->call_line(namer->data, profile->process, return_address, &line);
	place->file = path ? get_name(profile->files, path) : place->function->file;
	place->line = path ? line : 0;
	return place;
}

static void add_calls(struct profile *profile, const struct pp_thread *thread)
{
	for (guint i = 0; thread->arcs && i < thread->arcs->len; i++) {
		const struct pp_arc *arc = &g_array_index(thread->arcs, struct pp_arc, i);
		struct function *callee = get_place(profile, arc->self, CALLEE)->function;
		uint64_t from =
		    pp_arc_caller(profile->export->context->namer, thread->process, arc);
		const struct place *caller = from ? get_place(profile, from, CALLER) : NULL;

		get_cost(callee, callee->file, callee->line, NULL)->calls += arc->count;
		profile->calls += arc->count;
		if (!caller || !caller->function)
			continue;
		get_cost(caller->function, caller->file, caller->line, callee)->calls += arc->count;
		/* Readers show a line only if it has a cost of its own, even zero. */
		(void)get_cost(caller->function, caller->file, caller->line, NULL);
	}
}

static void add_samples(struct profile *profile, const struct pp_thread *thread)
{
	for (guint i = 0; thread->samples && i < thread->samples->len; i++) {
		const struct pp_sample *sample =
		    &g_array_index(thread->samples, struct pp_sample, i);
		const struct place *place = get_place(profile, sample->address + 1, SAMPLED);
		uint64_t ns = sample->count * thread->process->sample_period_ns;

		get_cost(place->function, place->file, place->line, NULL)->ns += ns;
		profile->self_ns += ns;
	}
	profile->has_times |= !thread->process->why_no_samples && !thread->sample_error;
}

static void add_process(struct profile *profile, const struct pp_process *process)
{
	g_autoptr(GPtrArray) callers = pp_threads_with_calls(profile->export->context, process);
	g_autoptr(GPtrArray) threads = pp_threads_with_profile(profile->export->context, process);

	if (!callers->len)
		return;
	profile->process = process;
	for (guint i = 0; i < threads->len; i++) {
		add_calls(profile, threads->pdata[i]);
		add_samples(profile, threads->pdata[i]);
	}
	for (unsigned role = 0; role < N_ROLES; role++)
		g_hash_table_remove_all(profile->places[role]);
}

/* --- text ----------------------------------------------------------------------------------- */

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
	g_string_append(text, "\n\n");
}

/* Some readers report an error if a name is defined twice, even identically. */
static void write_name(GString *text, const char *key, struct name *name)
{
	g_autofree char *line = oneline(name->text);

	g_string_append_printf(text, "%s=(%u)%s%s\n", key, name->number,
			       name->is_written ? "" : " ", name->is_written ? "" : line);
	name->is_written = true;
}

/* Sorts lines of the function's own file before those inlined from other files. */
static gint compare_costs(gconstpointer a, gconstpointer b, gpointer own_file)
{
	const struct cost *x = *(const struct cost *const *)a;
	const struct cost *y = *(const struct cost *const *)b;

	if (x->file != y->file) {
		if (x->file == own_file || y->file == own_file)
			return x->file == own_file ? -1 : 1;
		return x->file->number < y->file->number ? -1 : 1;
	}
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (!x->callee || !y->callee)
		return x->callee ? 1 : y->callee ? -1 : 0;
	return x->callee->name.number < y->callee->name.number ? -1 : 1;
}

/* Omits the callee's file only where all readers assume the same default. */
static void write_cost(const struct profile *profile, const struct function *function,
		       const struct cost *cost)
{
	GString *text = profile->export->out->text;
	struct function *callee = cost->callee;

	if (callee) {
		write_name(text, "cob", callee->object);
		if (callee->file != function->file || cost->file != function->file)
			write_name(text, "cfi", callee->file);
		write_name(text, "cfn", &callee->name);
		g_string_append_printf(text, "calls=%" PRIu64 " %d\n", cost->calls, callee->line);
	}
	g_string_append_printf(text, "%d %" PRIu64, cost->line, cost->calls);
	if (profile->has_times && !callee)
		g_string_append_printf(text, " %" PRIu64, cost->ns);
	g_string_append_c(text, '\n');
}

static void write_function(const struct profile *profile, struct function *function)
{
	GString *text = profile->export->out->text;
	const struct name *file = function->file;
	guint n;
	g_autofree gpointer *costs = g_hash_table_get_keys_as_array(function->costs, &n);

	g_qsort_with_data(costs, (gint)n, sizeof(*costs), compare_costs, function->file);
	write_name(text, "ob", function->object);
	write_name(text, "fl", function->file);
	write_name(text, "fn", &function->name);
	for (guint i = 0; i < n; i++) {
		const struct cost *cost = costs[i];

		if (cost->file != file)
			write_name(text, "fi", cost->file);
		file = cost->file;
		write_cost(profile, function, cost);
	}
	pp_out_flush(profile->export->out);
}

/* --- the exporter --------------------------------------------------------------------------- */

static void *callgrind_start(const struct pp_export *export)
{
	struct profile *profile = g_new0(struct profile, 1);

	profile->export = export;
	profile->objects = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, name_free);
	profile->files = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, name_free);
	profile->by_identity = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	profile->functions = g_ptr_array_new_with_free_func(function_free);
	for (unsigned role = 0; role < N_ROLES; role++)
		profile->places[role] =
		    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	return profile;
}

static int callgrind_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	struct profile *profile = state;
	const struct pp_export *export = profile->export;
	const GPtrArray *processes = export->context->model->processes;
	unsigned n_tables;
	const struct pp_table *flat = pp_pass_set_tables(export->passes, "flat", &n_tables)[0];

	(void)end_ns;
	for (guint i = 0; i < processes->len; i++)
		add_process(profile, processes->pdata[i]);
	if (!profile->functions->len)
		return pp_error_add(err, -ENODATA,
				    "%s: no calls by these threads; see `gprof-mt "
				    "report quality`",
				    export->context->model->dir);
	write_head(profile);
	for (guint i = 0; i < profile->functions->len; i++)
		write_function(profile, profile->functions->pdata[i]);
	for (guint i = 0; i < flat->notes->len; i++)
		pp_export_note(export, "%s", (const char *)flat->notes->pdata[i]);
	return 0;
}

static void callgrind_free(void *state)
{
	struct profile *profile = state;

	for (unsigned role = 0; role < N_ROLES; role++)
		g_hash_table_unref(profile->places[role]);
	g_hash_table_unref(profile->by_identity);
	g_ptr_array_unref(profile->functions);
	g_hash_table_unref(profile->objects);
	g_hash_table_unref(profile->files);
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
