/* SPDX-License-Identifier: MIT */
/* A program is known by its file's name and build-id, and a run by its clock, start and process. */
#include "cli/program_runs.h"

#include <errno.h>
#include <inttypes.h>

#include "cli/captures.h"
#include "core/text/json.h"

char *pp_cli_run_failure(const struct pp_view *view)
{
	void *info = view->capture->model->info;
	int64_t signal = pp_json_int(info, "signal", -1);
	int64_t exit_status = pp_json_int(info, "exit_status", -1);

	if (signal >= 0)
		return g_strdup_printf("ended by signal %" PRId64, signal);
	if (exit_status > 0)
		return g_strdup_printf("exit status %" PRId64, exit_status);
	if (pp_model_is_attached(view->capture->model))
		return g_strdup("gprof-mt attached to a running process: its begin and its exit "
				"status are not known");
	if (pp_json_string(info, "recorder") && exit_status < 0)
		return g_strdup("cut short: record was killed, or has not ended");
	return NULL;
}

/* A run that counts twice would make the spread smaller than it is. */
static int check_repeated(struct pp_cli_program_runs *runs, const struct pp_view *view,
			  struct pp_error *err)
{
	void *info = view->capture->model->info;
	const char *dir = view->capture->model->dir, *uuid, *first;
	g_autofree char *run = NULL;

	/* If a capture lacks these, only its directory tells it from others. */
	uuid = pp_json_string(pp_json_object(info, "clock"), "uuid");
	run = uuid
		  ? g_strdup_printf("%s %" PRId64 " %" PRId64, uuid,
				    pp_json_int(info, "start_ns", -1), pp_json_int(info, "pid", -1))
		  : g_canonicalize_filename(dir, NULL);
	if (!runs->seen)
		runs->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	first = g_hash_table_lookup(runs->seen, run);
	if (first)
		return pp_error_add(err, -EEXIST,
				    "%s: the same run as %s, or a copy: name each run once", dir,
				    first);
	g_hash_table_insert(runs->seen, g_steal_pointer(&run), g_strdup(dir));
	return 0;
}

/* Checks that the capture is one of the same program and build as the first one. */
static int check_program(struct pp_cli_program_runs *runs, const struct pp_view *view,
			 struct pp_error *err)
{
	const struct pp_load *load = pp_cli_program(view);
	const char *dir = view->capture->model->dir;

	if (!runs->dir) {
		runs->dir = g_strdup(dir);
		runs->path = load ? g_path_get_basename(load->path) : NULL;
		runs->build_id = load ? g_strdup(load->build_id) : NULL;
		return 0;
	}
	if (load && runs->path) {
		g_autofree char *path = g_path_get_basename(load->path);

		if (!g_str_equal(path, runs->path))
			return pp_error_add(err, -EINVAL,
					    "%s: a run of %s, but %s is one of %s: name the runs "
					    "of one program",
					    dir, path, runs->dir, runs->path);
	}
	if (load && load->build_id && runs->build_id &&
	    !g_str_equal(load->build_id, runs->build_id))
		return pp_error_add(err, -EINVAL,
				    "%s: another build of %s than in %s (build-ids %s and %s): "
				    "compare builds with `gprof-mt diff`",
				    dir, runs->path, runs->dir, load->build_id, runs->build_id);
	return 0;
}

int pp_cli_program_runs_check(struct pp_cli_program_runs *runs, const struct pp_view *view,
			      struct pp_error *err)
{
	int rc = check_program(runs, view, err);

	return rc ? rc : check_repeated(runs, view, err);
}

void pp_cli_program_runs_next(struct pp_cli_program_runs *runs)
{
	g_clear_pointer(&runs->dir, g_free);
	g_clear_pointer(&runs->path, g_free);
	g_clear_pointer(&runs->build_id, g_free);
}

void pp_cli_program_runs_done(struct pp_cli_program_runs *runs)
{
	pp_cli_program_runs_next(runs);
	if (runs->seen)
		g_hash_table_unref(runs->seen);
	*runs = (struct pp_cli_program_runs){0};
}
