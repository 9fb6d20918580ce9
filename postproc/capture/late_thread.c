/* SPDX-License-Identifier: MIT */
/* Creates the process and the thread for an event of a thread that is in no thread table. */
#include "capture/late_thread.h"

struct pp_process *pp_late_process(const struct pp_model *model, uint32_t pid)
{
	/* Search the last image of that pid: each exec adds one. */
	for (guint i = model->processes->len; i-- > 0;) {
		struct pp_process *process = model->processes->pdata[i];

		if (process->pid == pid)
			return process;
	}
	return NULL;
}

struct pp_thread *pp_late_thread_new(struct pp_model *model, uint32_t pid, uint32_t tid,
				     int64_t time_ns)
{
	struct pp_process *process = pp_late_process(model, pid);
	struct pp_thread *thread;
	uint32_t index = 0;

	if (!process) {
		g_autofree char *folder = g_strdup_printf("%u", pid);

		process = pp_model_add_process(model, pid, folder);
		process->start_ns = time_ns;
	}
	for (guint i = 0; i < process->threads->len; i++)
		index = MAX(index, ((struct pp_thread *)process->threads->pdata[i])->index + 1);
	thread = pp_model_add_thread(model, process, tid, index);
	thread->start_ns = time_ns;
	return thread;
}
