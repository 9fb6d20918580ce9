/* SPDX-License-Identifier: MIT */
/* See exec_image.h. */
#include "analysis/state/exec_image.h"

bool pp_exec_brings(const struct pp_thread *thread, int64_t exec_ns)
{
	return thread->start_ns > exec_ns || thread->process->start_ns > exec_ns;
}

bool pp_exec_has_image(const struct pp_model *model, const struct pp_thread *thread,
		       int64_t exec_ns)
{
	for (guint i = 0; i < model->processes->len; i++) {
		const struct pp_process *process = model->processes->pdata[i];

		if (process != thread->process && process->pid == thread->process->pid &&
		    process->start_ns >= exec_ns)
			return true;
	}
	return false;
}

const struct pp_thread *pp_exec_successor(const struct pp_model *model,
					  const struct pp_thread *thread, int64_t exec_ns)
{
	const struct pp_thread *next = pp_model_thread_at(model, thread->tid, exec_ns);

	return next && next->process != thread->process &&
		       next->process->pid == thread->process->pid && next->start_ns == exec_ns
		   ? next
		   : NULL;
}
