/* SPDX-License-Identifier: MIT */
/* The proof is by code that shares nothing with the one that makes the models. */
#include "cli/ulcp/models.h"

#include <errno.h>

#include "cli/ulcp/join.h"
#include "replay/order_check/check.h"
#include "replay/ulcp/divide.h"

/* Reads one of the captures. */
static int read_one(struct pp_cli_replay_source *source,
		    const struct pp_cli_ulcp_arguments *arguments, const char *path,
		    bool wants_sets, struct pp_error *err)
{
	struct pp_cli_replay_arguments how = arguments->replay;

	how.path = path;
	how.sets = wants_sets;
	how.write = NULL;
	if (wants_sets && pp_cli_replay_is_model(path))
		return pp_error_add(err, -EINVAL,
				    "%s is a model, which lacks the accesses of critical sections: "
				    "give the capture",
				    path);
	return pp_cli_replay_source_read(source, &how, err);
}

static int read_all(struct pp_cli_ulcp_models *self, const struct pp_cli_ulcp_arguments *arguments,
		    struct pp_error *err)
{
	const char *timing = arguments->replay.path;
	int rc = read_one(&self->source, arguments, timing, !arguments->accesses, err);

	self->sets = self->source.sets;
	if (rc || !arguments->accesses)
		return rc;
	rc = read_one(&self->accesses, arguments, arguments->accesses, true, err);
	if (rc == 0)
		self->joined = pp_cli_ulcp_join(self->source.model, self->accesses.model,
						self->accesses.sets, err);
	self->sets = self->joined;
	return self->joined ? 0 : -EINVAL;
}

/* Makes a model of the edges, and checks it. Returns the number of waits, or -errno. */
static int64_t transform(const struct pp_cli_ulcp_models *self, const struct pp_ulcp_edges *edges,
			 struct pp_ulcp_result *ret, struct pp_error *err)
{
	const struct pp_replay_model *model = self->source.model;
	g_autoptr(GArray) waits = pp_ulcp_waits(model, self->sections, edges->edges);
	struct pp_order_claim claim = {
	    .original = model, .sets = self->sets, .keeps_order = edges->keeps_order};
	g_autofree char *wrong = NULL;

	pp_ulcp_transform(model, waits, ret);
	claim.result = ret->model;
	claim.steps = ret->steps;
	wrong = pp_order_check(&claim);
	if (wrong)
		return pp_error_add(err, -EPROTO,
				    "the transformed model was rejected, which is an error of "
				    "gprof-mt: please report it: %s",
				    wrong);
	return waits->len;
}

int pp_cli_ulcp_models_make(struct pp_cli_ulcp_models *self,
			    const struct pp_cli_ulcp_arguments *arguments, struct pp_error *err)
{
	struct pp_ulcp_edges all;
	int64_t n;
	int rc;

	*self = (struct pp_cli_ulcp_models){0};
	rc = read_all(self, arguments, err);
	if (rc)
		return rc;
	self->sections = pp_ulcp_find_sections(self->source.model, err);
	if (!self->sections)
		return -EINVAL;
	pp_ulcp_all_edges(self->source.model, self->sections, &all);
	n = transform(self, &all, &self->with[PP_CLI_ULCP_RECORDED], err);
	pp_ulcp_edges_done(&all);
	if (n < 0)
		return (int)n;
	pp_ulcp_find_edges(self->source.model, self->sections, self->sets, &self->edges);
	n = transform(self, &self->edges, &self->without[PP_CLI_ULCP_RECORDED], err);
	if (n < 0)
		return (int)n;
	pp_ulcp_same(self->source.model, &self->with[PP_CLI_ULCP_FREE]);
	pp_ulcp_divide(self->source.model, self->sections, self->sets, self->edges.keeps_order,
		       &self->without[PP_CLI_ULCP_FREE]);
	self->n_waits = (uint64_t)n;
	self->pairs =
	    pp_ulcp_find_pairs(self->sections, self->sets, self->edges.keeps_order, &self->counts);
	return 0;
}

void pp_cli_ulcp_models_done(struct pp_cli_ulcp_models *self)
{
	g_clear_pointer(&self->pairs, g_array_unref);
	for (unsigned i = 0; i < PP_CLI_ULCP_N_ORDERS; i++) {
		pp_ulcp_result_done(&self->with[i]);
		pp_ulcp_result_done(&self->without[i]);
	}
	pp_ulcp_edges_done(&self->edges);
	g_clear_pointer(&self->sections, g_array_unref);
	g_clear_pointer(&self->joined, g_array_unref);
	pp_cli_replay_source_done(&self->accesses);
	pp_cli_replay_source_done(&self->source);
}
