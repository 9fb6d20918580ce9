/* SPDX-License-Identifier: MIT */
/* A prediction is the difference of two replays by the same engine. */
#include "cli/replay/what_if.h"

#include <errno.h>

#include "cli/replay/against.h"
#include "cli/replay/path_rows.h"
#include "cli/replay/rows.h"

/* Makes the changes that are about functions, or the others. Returns 0 or -errno. */
static int apply(const struct pp_cli_replay_arguments *arguments, struct pp_replay_model *model,
		 bool of_functions, GPtrArray *notes, struct pp_error *err)
{
	int rc = 0;

	for (guint i = 0; i < arguments->changes->len && rc == 0; i++) {
		const struct pp_change *change = arguments->changes->pdata[i];

		if ((change->kind == PP_CHANGE_FASTER) == of_functions)
			rc = pp_change_apply(change, model, notes, err);
	}
	return rc;
}

/*
 * Returns the model with all changes; NULL after an error. Those of functions are first: their CPU
 * time is known for the sections that the recorded program had.
 */
static struct pp_replay_model *change_model(const struct pp_cli_replay_arguments *arguments,
					    const struct pp_replay_model *model, GPtrArray *notes,
					    struct pp_error *err)
{
	struct pp_replay_model *changed = pp_replay_model_copy(model);

	if (apply(arguments, changed, true, notes, err) == 0 &&
	    apply(arguments, changed, false, notes, err) == 0)
		return changed;
	pp_error_add(err, 0, "--what-if");
	pp_replay_model_free(changed);
	return NULL;
}

static void note_limits(struct pp_table *table, const GPtrArray *notes)
{
	for (guint i = 0; i < notes->len; i++)
		pp_table_note(table, "%s", (const char *)notes->pdata[i]);
	pp_table_note(table,
		      "not part of the prediction: caches, memory bandwidth, and the cost of "
		      "the operations that the change adds or removes");
}

int pp_cli_replay_what_if(const struct pp_cli_replay_arguments *arguments,
			  const struct pp_cli_replay_source *source, GPtrArray *tables,
			  struct pp_error *err)
{
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	struct pp_replay_model *changed = change_model(arguments, source->model, notes, err);
	struct pp_table *rows = NULL, *truth = NULL;

	if (changed)
		rows = pp_cli_replay_rows(arguments, source, changed, err);
	if (!rows) {
		pp_replay_model_free(changed);
		return -EINVAL;
	}
	g_ptr_array_add(tables, rows);
	note_limits(rows, notes);
	g_ptr_array_add(tables, pp_cli_replay_path_rows(arguments, source->model, changed));
	if (arguments->against || arguments->command) {
		truth = pp_cli_replay_against(arguments, source, changed, rows, err);
		if (truth)
			g_ptr_array_add(tables, truth);
	}
	pp_replay_model_free(changed);
	return (arguments->against || arguments->command) && !truth ? -EINVAL : 0;
}
