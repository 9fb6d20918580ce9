/* SPDX-License-Identifier: MIT */
/* The kernel's timer begins anew with each thread, so short ones have no sample. */
#include "pass/unsampled.h"

#include "core/text/duration.h"

void pp_unsampled_add(struct pp_unsampled *sum, const struct pp_process *process, int64_t ns)
{
	bool is_other = !process->sample_period_ns;

	sum->n += !is_other;
	sum->ns += is_other ? 0 : ns;
	sum->n_others += is_other;
	sum->others_ns += is_other ? ns : 0;
}

/* 0: no samples were taken. */
static uint64_t period_of(const struct pp_model *model)
{
	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		if (process->sample_period_ns)
			return process->sample_period_ns;
	}
	return 0;
}

void pp_unsampled_note(const struct pp_unsampled *sum, const struct pp_model *model,
		       struct pp_table *table)
{
	uint64_t period_ns = period_of(model);
	g_autofree char *ran = pp_duration_text(sum->ns);
	g_autofree char *others_ran = pp_duration_text(sum->others_ns);
	g_autofree char *period = pp_duration_text((int64_t)period_ns);

	if (!period_ns || !pp_model_is_attached(model))
		return;
	if (sum->n)
		pp_table_note(table,
			      "%u thread%s no sample, and ran for %s in all: a thread is sampled "
			      "after each %s of its CPU time",
			      sum->n, sum->n == 1 ? " has" : "s have", ran, period);
	if (sum->n_others)
		pp_table_note(
		    table,
		    "%u thread%s no samples, and ran for %s in all: they are of processes "
		    "that the process has started",
		    sum->n_others, sum->n_others == 1 ? " has" : "s have", others_ran);
}
