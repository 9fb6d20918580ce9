/* SPDX-License-Identifier: MIT */
/* A change that breaks a rule of models is an error of gprof-mt, and is reported as one. */
#include <errno.h>

#include "replay/change/internal.h"

static int change_cpus(const struct pp_change *change, struct pp_replay_model *model,
		       GPtrArray *notes, struct pp_error *err)
{
	(void)notes;
	(void)err;
	model->n_cpus = change->n;
	return 0;
}

static int (*const appliers[PP_N_CHANGES])(const struct pp_change *change,
					   struct pp_replay_model *model, GPtrArray *notes,
					   struct pp_error *err) = {
    [PP_CHANGE_DROP] = pp_change_drop,	     [PP_CHANGE_SPIN] = pp_change_spin,
    [PP_CHANGE_SPLIT] = pp_change_split,     [PP_CHANGE_RWLOCK] = pp_change_rwlock,
    [PP_CHANGE_SHRINK] = pp_change_shrink,   [PP_CHANGE_FASTER] = pp_change_faster,
    [PP_CHANGE_THREADS] = pp_change_threads, [PP_CHANGE_CPUS] = change_cpus,
};

int pp_change_apply(const struct pp_change *change, struct pp_replay_model *model, GPtrArray *notes,
		    struct pp_error *err)
{
	int rc = appliers[change->kind](change, model, notes, err);
	g_autofree char *wrong = rc ? NULL : pp_replay_check(model);

	return wrong ? pp_error_add(err, -EINVAL, "'%s' makes an invalid model: %s", change->text,
				    wrong)
		     : rc;
}
