/* SPDX-License-Identifier: MIT */
/* A file that is not of this run and build is refused, and so is one that cannot be read. */
#include "capture/reversals.h"

#include <errno.h>
#include <sys/stat.h>

#include "capture/capture.h"
#include "core/text/json.h"
#include "core/text/json_writer.h"

#define SCHEMA 1

static char *path_of(const struct pp_model *model)
{
	return g_build_filename(model->dir, PP_REVERSALS_FILE, NULL);
}

static char *run_of(const struct pp_model *model)
{
	const char *uuid = pp_json_string(pp_json_object(model->info, "clock"), "uuid");

	return g_strdup_printf("%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT, uuid ?: "",
			       pp_json_int(model->info, "start_ns", -1),
			       pp_json_int(model->info, "pid", -1));
}

const char *pp_reversals_build(const struct pp_model *model)
{
	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		if (process->maps && process->maps->len)
			return g_array_index(process->maps, struct pp_load, 0).build_id ?: "";
	}
	return "";
}

/* --- reading ---------------------------------------------------------------------------------- */

static void read_pairs(struct pp_reversals *reversals, JsonArray *pairs)
{
	for (guint i = 0; pairs && i < json_array_get_length(pairs); i++) {
		JsonObject *pair = pp_json_element_object(pairs, i);
		const char *first = pp_json_string(pair, "first");
		const char *second = pp_json_string(pair, "second");
		int64_t n_samples = pp_json_int(pair, "samples", 0);
		struct pp_reversal result = {.is_benign = pp_json_int(pair, "benign", 0) == 1,
					     .n_samples = (uint64_t)MAX(n_samples, 0),
					     .n_runs =
						 (uint64_t)MAX(pp_json_int(pair, "runs", 0), 0)};

		if (first && second && n_samples > 0)
			pp_reversals_add(reversals, first, second, &result);
	}
}

/* Returns what the file is that is refused; NULL: it is not. */
static const char *read_object(const struct pp_model *model, struct pp_reversals *reversals,
			       JsonObject *object)
{
	g_autofree char *run = run_of(model);

	if (pp_json_int(object, "schema", 0) != SCHEMA)
		return "of an unknown schema";
	if (g_strcmp0(pp_json_string(object, "run"), run) != 0)
		return "of another capture";
	if (g_strcmp0(pp_json_string(object, "build_id"), pp_reversals_build(model)) != 0)
		return "of another build of the program";
	read_pairs(reversals, pp_json_array(object, "pairs"));
	return NULL;
}

void pp_reversals_read(struct pp_model *model)
{
	g_autofree char *path = path_of(model);
	g_autoptr(JsonObject) object = NULL;
	const char *why = "not a file";
	struct stat st;

	if (lstat(path, &st) != 0)
		return;
	model->reversals = pp_reversals_new();
	if (S_ISREG(st.st_mode))
		object = pp_json_read(path, &why);
	if (object)
		why = read_object(model, model->reversals, object);
	if (why)
		model->reversals->refused =
		    g_strdup_printf("%s is not used, since it is %s: write it again with replay "
				    "--engine=live --reverse",
				    path, why);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_pair(struct pp_json_writer *json, const struct pp_reversal *pair)
{
	pp_json_write_open(json, NULL, '{');
	pp_json_write_text(json, "first", pair->first);
	pp_json_write_text(json, "second", pair->second);
	pp_json_write_int(json, "benign", pair->is_benign);
	pp_json_write_count(json, "samples", pair->n_samples);
	pp_json_write_count(json, "runs", pair->n_runs);
	pp_json_write_close(json, '}');
}

int pp_reversals_write(const struct pp_model *model, const struct pp_reversals *reversals,
		       struct pp_error *err)
{
	struct pp_json_writer json = {.to = g_string_new(NULL), .indent = 2};
	g_autofree char *path = path_of(model), *run = run_of(model), *text = NULL;
	g_autoptr(GError) error = NULL;

	pp_json_write_open(&json, NULL, '{');
	pp_json_write_int(&json, "schema", SCHEMA);
	pp_json_write_text(&json, "run", run);
	pp_json_write_text(&json, "build_id", pp_reversals_build(model));
	pp_json_write_open(&json, "pairs", '[');
	for (guint i = 0; i < reversals->all->len; i++)
		write_pair(&json, reversals->all->pdata[i]);
	pp_json_write_close(&json, ']');
	pp_json_write_close(&json, '}');
	g_string_append_c(json.to, '\n');
	text = g_string_free(json.to, FALSE);
	/* Captures are private. */
	if (!g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &error))
		return pp_error_add(err, -EIO, "%s", error->message);
	return 0;
}
