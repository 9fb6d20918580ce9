/* SPDX-License-Identifier: MIT */
/*
 * Exports gmon files for gprof like those that `record` writes: one for the executable with all
 * chosen threads, or one for each thread and object, as in the capture.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/exporter.h"
#include "export/gmon/gmon.h"
#include "analysis/select.h"

static void *gmon_start(const struct pp_export *export)
{
	return (void *)export;
}

static void gmon_free(void *state)
{
	(void)state;
}

static int no_calls(const struct pp_export *export, struct pp_error *err)
{
	return pp_error_add(err, -ENODATA,
			    "%s: no calls by these threads; see `gprof-mt report quality`",
			    export->context->model->dir);
}

static int merged_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	const struct pp_export *export = state;
	const struct pp_model *model = export->context->model;
	const struct pp_process *only = NULL;
	g_autoptr(GByteArray) file = g_byte_array_new();
	uint64_t elsewhere;
	int ret;

	(void)end_ns;
	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		if (!pp_gmon_has_calls(process, export->context))
			continue;
		if (only)
			return pp_error_add(err, -EINVAL,
					    "%s: a gmon file holds one process, but %s and %s have "
					    "calls; choose threads, or use --what threads",
					    model->dir, only->folder, process->folder);
		only = process;
	}
	if (!only)
		return no_calls(export, err);
	ret = pp_gmon_merge(only, export->context, file, &elsewhere, err);
	if (ret < 0)
		return ret;
	g_string_append_len(export->out->text, (const char *)file->data, file->len);
	if (elsewhere)
		pp_export_note(export,
			       "left out: %" PRIu64
			       " calls of functions in libraries; use --what threads to write "
			       "files for these",
			       elsewhere);
	return 0;
}

/* Each process gets a folder there, with a file for each thread and object that has calls. */
static int make_folders(const struct pp_export *export, int dir_fd, struct pp_error *err)
{
	const struct pp_model *model = export->context->model;
	unsigned n = 0;

	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		if (!process->dir || !pp_gmon_has_calls(process, export->context))
			continue;
		if (mkdirat(dir_fd, process->folder, 0777) && errno != EEXIST)
			return pp_error_add(err, -errno, "%s/%s: %s", export->output,
					    process->folder, g_strerror(errno));
		n++;
	}
	return n ? 0 : no_calls(export, err);
}

static int write_files(const struct pp_export *export, int dir_fd, struct pp_error *err)
{
	struct pp_gmon gmon;
	int ret = 0;

	pp_gmon_write(export->context->model, export->context, UINT64_MAX, dir_fd, false, &gmon);
	for (guint i = 0; i < gmon.gaps->len; i++) {
		const struct pp_gmon_gap *gap = &g_array_index(gmon.gaps, struct pp_gmon_gap, i);

		pp_export_note(export, "left out: %u files of %s: %s", gap->n_files, gap->path,
			       gap->why);
	}
	if (gmon.n_failed)
		ret = pp_error_add(err, gmon.error, "%s/%s: %s", export->output, gmon.failed,
				   g_strerror(-gmon.error));
	pp_gmon_done(&gmon);
	return ret;
}

static int threads_finish(void *state, int64_t end_ns, struct pp_error *err)
{
	const struct pp_export *export = state;
	int dir_fd, ret;

	(void)end_ns;
	/* Existing files would be kept, and mistaken for this capture's. */
	if (mkdir(export->output, 0777))
		return pp_error_add(err, -errno, "%s: %s", export->output, g_strerror(errno));
	dir_fd = open(export->output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return pp_error_add(err, -errno, "%s: %s", export->output, g_strerror(errno));
	ret = make_folders(export, dir_fd, err);
	if (ret == 0)
		ret = write_files(export, dir_fd, err);
	else
		rmdir(export->output);
	close(dir_fd);
	return ret;
}

const struct pp_exporter pp_exporter_gmon_merged = {
    .format = "gmon",
    .what = "merged",
    .summary = "for gprof",
    .file_name = "gmon.out.gprof-mt",
    .selects = PP_SELECT_THREAD,
    .start = gmon_start,
    .finish = merged_finish,
    .free = gmon_free,
};

const struct pp_exporter pp_exporter_gmon_threads = {
    .format = "gmon",
    .what = "threads",
    .file_name = "gprof-mt.gmon",
    .selects = PP_SELECT_THREAD,
    .is_directory = true,
    .start = gmon_start,
    .finish = threads_finish,
    .free = gmon_free,
};
