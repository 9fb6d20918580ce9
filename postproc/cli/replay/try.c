/* SPDX-License-Identifier: MIT */
/* A change that cannot be made is no error: gprof-mt does not know before. */
#include "cli/replay/try.h"

static bool make_change(const char *text, struct pp_replay_model *model)
{
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	struct pp_change *change = pp_change_parse(text, NULL);
	bool is_made = change && pp_change_apply(change, model, notes, NULL) == 0;

	pp_change_free(change);
	return is_made;
}

int pp_cli_replay_try(const struct pp_cli_replay_arguments *arguments,
		      const struct pp_replay_model *model, const char *const *texts, unsigned n,
		      struct pp_cli_replay_outcome *ret, bool *ret_made, struct pp_error *err)
{
	struct pp_replay_model *changed = pp_replay_model_copy(model);
	int code = 0;

	*ret = (struct pp_cli_replay_outcome){0};
	*ret_made = true;
	for (unsigned i = 0; i < n && *ret_made; i++)
		*ret_made = make_change(texts[i], changed);
	if (*ret_made)
		code = pp_cli_replay_run(arguments, changed, changed->n_cpus, 0, ret, err);
	pp_replay_model_free(changed);
	return code;
}
