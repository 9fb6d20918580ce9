/* SPDX-License-Identifier: MIT */
/*
 * A capture becomes a model.  It is opened a second time for names and code, and stays so until the
 * facts of all runs are known.
 */
#include "cli/suggest/runs.h"

#include <errno.h>

#include "cli/commands.h"
#include "cli/suggest/addresses.h"
#include "cli/view.h"
#include "pass/accesses/places.h"
#include "replay/ulcp/sections.h"

/* --- names ------------------------------------------------------------------------------------ */

const struct pp_process *pp_suggest_run_process(const struct pp_suggest_run *run)
{
	const GPtrArray *processes = run->view.capture->model->processes;

	for (guint i = 0; i < processes->len; i++) {
		const struct pp_process *process = processes->pdata[i];

		if (process->dir)
			return process;
	}
	return NULL;
}

static char *name_code(void *data, uint64_t address)
{
	const struct pp_suggest_run *run = data;

	return run->view.namer.site(run->view.namer.data, pp_suggest_run_process(run), address);
}

/* Blocks of the heap are not known without events, so only variables have names. */
static char *name_memory(void *data, uint64_t address)
{
	const struct pp_suggest_run *run = data;
	const struct pp_memory_place place = {.process = pp_suggest_run_process(run),
					      .address = address};
	char *name = pp_place_group(&run->view.context, &place);

	if (g_str_has_prefix(name, "0x"))
		g_clear_pointer(&name, g_free);
	return name;
}

/* --- code ------------------------------------------------------------------------------------- */

static void codes_free(void *data)
{
	struct pp_suggest_codes *codes = data;

	g_hash_table_unref(codes->staying);
	g_hash_table_unref(codes->seen);
	g_free(codes);
}

static void take_access(void *data, const struct pp_suggest_lock *lock,
			const struct pp_suggest_site *site, uint64_t code, bool conflicts)
{
	struct pp_suggest_run *run = data;
	struct pp_suggest_codes *codes = g_hash_table_lookup(run->codes, site);

	(void)lock;
	if (!codes) {
		codes = g_new0(struct pp_suggest_codes, 1);
		codes->staying = pp_suggest_addresses_new();
		codes->seen = pp_suggest_addresses_new();
		g_hash_table_insert(run->codes, (void *)site, codes);
	}
	codes->frees |= !code;
	if (!code)
		return;
	pp_suggest_addresses_add(codes->seen, code);
	if (conflicts)
		pp_suggest_addresses_add(codes->staying, code);
}

/* --- source files ----------------------------------------------------------------------------- */

struct finding {
	struct pp_suggest_runs *runs;
	const struct pp_view *view;
	GHashTable *seen; /* set of addresses */
};

static void take_site(void *data, const struct pp_event *event)
{
	struct finding *finding = data;
	const struct pp_namer *namer = &finding->view->namer;
	uint64_t site = event->sync.site;
	char *name, *path;
	int line;

	if (!site || g_hash_table_contains(finding->seen, &site))
		return;
	g_hash_table_add(finding->seen, g_memdup2(&site, sizeof(site)));
	path = namer->source(namer->data, event->thread->process, site, &line);
	name = namer->site(namer->data, event->thread->process, site);
	if (path)
		g_hash_table_insert(finding->runs->sources, name, path);
	else
		g_free(name);
}

/* The model has the names of call sites alone, so the events are read once more. */
static int find_sources(struct pp_suggest_runs *runs, struct pp_view *view, struct pp_error *err)
{
	g_autoptr(GHashTable) seen =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	struct finding finding = {runs, view, seen};

	return pp_view_read(view, PP_EVENT_MASK(PP_EVENT_SYNC), take_site, &finding, err);
}

/* --- captures --------------------------------------------------------------------------------- */

static int add_facts(struct pp_suggest_runs *runs, struct pp_suggest_run *run, bool wants_aparts,
		     struct pp_error *err)
{
	const struct pp_suggest_namer namer = {run, take_access, name_code, name_memory,
					       run->view.capture->model->reversals};
	g_autoptr(GArray) sections = pp_ulcp_find_sections(run->source.model, err);

	if (!sections)
		return pp_error_add(err, -ENODATA, "%s", run->dir);
	pp_suggest_facts_add(&runs->facts, run->source.model, sections, run->source.sets, &namer);
	if (wants_aparts)
		pp_suggest_aparts_add(runs->aparts, run->source.model, sections, run->source.sets,
				      &namer);
	/* The sets need much memory, and are not needed any more. */
	g_clear_pointer(&run->source.sets, g_array_unref);
	return 0;
}

/* Without the program that was recorded, call sites and data have no names. */
static int check_names(const struct pp_suggest_run *run, struct pp_error *err)
{
	const struct pp_model *model = run->view.capture->model;
	const struct pp_process *process = pp_suggest_run_process(run);
	const struct pp_load *executable = process && process->maps && process->maps->len
					       ? &g_array_index(process->maps, struct pp_load, 0)
					       : NULL;

	for (guint i = 0; executable && i < model->problems->len; i++) {
		const struct pp_problem *problem = model->problems->pdata[i];

		if (g_str_has_prefix(problem->what, "no names for addresses") &&
		    g_strcmp0(problem->where, executable->path) == 0)
			return pp_error_add(err, -ENOEXEC,
					    "%s: %s: %s; suggestions need the program that was "
					    "recorded: keep a copy of it when it is built again",
					    run->dir, executable->path, problem->what);
	}
	return 0;
}

static int check_run(const struct pp_view *view, struct pp_error *err)
{
	g_autofree char *failure = pp_cli_run_failure(view);

	return failure ? pp_error_add(err, -EINVAL, "%s: %s: name runs that succeeded",
				      view->capture->model->dir, failure)
		       : 0;
}

/*
 * Builds may differ, since accesses and times are often those of two; so only the programs' names
 * are compared.
 */
static int check_program(struct pp_cli_program_runs *program, const struct pp_view *view,
			 struct pp_error *err)
{
	g_clear_pointer(&program->build_id, g_free);
	return pp_cli_program_runs_check(program, view, err);
}

static int read_run(struct pp_suggest_runs *runs, struct pp_suggest_run *run,
		    const struct pp_suggest_reading *how, struct pp_cli_program_runs *program,
		    struct pp_error *err)
{
	struct pp_view *view = &run->view;
	int rc = pp_view_open(view, run->dir, NULL, err);

	if (rc == 0)
		rc = check_run(view, err);
	if (rc == 0)
		rc = check_program(program, view, err);
	if (rc == 0) {
		run->has_accesses = pp_view_has_accesses(view);
		run->arguments.sets = run->has_accesses;
		rc = pp_cli_replay_source_read(&run->source, &run->arguments, err);
		runs->status = MAX(runs->status, run->source.status);
	}
	if (rc == 0 && run->has_accesses)
		rc = find_sources(runs, view, err);
	if (rc == 0 && run->has_accesses)
		rc = check_names(run, err);
	if (rc == 0 && run->has_accesses)
		rc = add_facts(runs, run, how->wants_waits, err);
	if (rc == 0 && how->wants_waits)
		rc = pp_suggest_waits_read(&run->waits, view, err);
	return rc;
}

static void run_free(void *data)
{
	struct pp_suggest_run *run = data;

	pp_cli_replay_source_done(&run->source);
	pp_suggest_waits_done(&run->waits);
	g_hash_table_unref(run->codes);
	g_clear_pointer(&run->plain_files, g_ptr_array_unref);
	pp_view_done(&run->view);
	pp_cli_replay_arguments_done(&run->arguments);
	g_free(run);
}

static struct pp_suggest_run *run_new(const char *dir, const struct pp_suggest_reading *how)
{
	struct pp_suggest_run *run = g_new0(struct pp_suggest_run, 1);

	run->dir = dir;
	run->codes = g_hash_table_new_full(NULL, NULL, NULL, codes_free);
	run->arguments.path = dir;
	run->arguments.n_runs = how->n_replays;
	run->arguments.allow_gaps = how->allow_gaps;
	run->arguments.changes = g_ptr_array_new_with_free_func((GDestroyNotify)pp_change_free);
	return run;
}

int pp_suggest_runs_read(struct pp_suggest_runs *runs, char *const *dirs, guint n_dirs,
			 const struct pp_suggest_reading *how, struct pp_cli_program_runs *program,
			 struct pp_error *err)
{
	int rc = 0;

	*runs = (struct pp_suggest_runs){.all = g_ptr_array_new_with_free_func(run_free)};
	pp_suggest_facts_init(&runs->facts);
	runs->aparts = pp_suggest_aparts_new();
	runs->sources = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	for (guint i = 0; i < n_dirs && rc == 0; i++) {
		g_ptr_array_add(runs->all, run_new(dirs[i], how));
		rc = read_run(runs, runs->all->pdata[i], how, program, err);
	}
	if (rc == 0 && !runs->facts.n_runs && !how->may_lack_accesses)
		rc = pp_error_add(
		    err, -ENODATA,
		    "%s has no memory accesses of critical sections, which suggestions "
		    "rest on: record with --accesses=compiled or sampled",
		    dirs[0]);
	return rc;
}

void pp_suggest_runs_done(struct pp_suggest_runs *runs)
{
	if (!runs->all)
		return;
	g_ptr_array_unref(runs->all);
	pp_suggest_facts_done(&runs->facts);
	g_hash_table_unref(runs->aparts);
	g_hash_table_unref(runs->sources);
}
