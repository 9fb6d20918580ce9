/* SPDX-License-Identifier: MIT */
/* Predictions are for a program that is not recorded, on a machine without other programs. */
#include "cli/replay/same.h"

int pp_cli_replay_same(const struct pp_cli_replay_arguments *arguments,
		       struct pp_cli_replay_source *source, struct pp_error *err)
{
	const struct pp_replay_model *model = source->model;
	bool is_skeleton = arguments->engine == PP_CLI_REPLAY_SKELETON;
	bool has_cpus = !is_skeleton || model->n_cpus <= pp_skeleton_usable_cpus();
	int code = 0;

	if (has_cpus || !arguments->cpus)
		code = pp_cli_replay_run(arguments, model, model->n_cpus, model->others,
					 &source->same, err);
	source->recording_ns = model->recording_ns;
	source->recording = pp_replay_take_out_recording(source->model);
	return code;
}

bool pp_cli_replay_is_same(const struct pp_cli_replay_arguments *arguments,
			   const struct pp_cli_replay_source *source)
{
	return !source->recording_ns &&
	       (arguments->engine == PP_CLI_REPLAY_SKELETON || !source->model->others);
}

int pp_cli_replay_before(const struct pp_cli_replay_arguments *arguments,
			 const struct pp_cli_replay_source *source,
			 struct pp_cli_replay_outcome *ret, struct pp_error *err)
{
	const struct pp_replay_model *model = source->model;
	int code = 0;

	*ret = source->same;
	ret->stuck = NULL;
	if (!pp_cli_replay_is_same(arguments, source))
		code = pp_cli_replay_run(arguments, model, model->n_cpus, 0, ret, err);
	pp_cli_replay_outcome_done(ret);
	return code;
}
