/* SPDX-License-Identifier: MIT */
/*
 * A thread that has been woken looks as if it waited until it has a CPU. So the kernel is asked,
 * too: all threads have to be blocked at two looks, between which none has changed its state.
 */
#include "replay/skeleton/watch.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* Returns the number of changes so far if all threads have ended or wait, 0 if one does not. */
static uint64_t changes_of_waiting(const struct pp_watch *watch)
{
	uint64_t sum = 0;

	for (guint i = 0; i < watch->model->threads->len; i++) {
		const struct pp_worker *worker = &watch->shared->workers[i];
		uint32_t state = __atomic_load_n(&worker->state, __ATOMIC_ACQUIRE);

		if (state == PP_WORKER_RUNS || state == PP_WORKER_SLEEPS)
			return 0;
		sum += __atomic_load_n(&worker->n_changes, __ATOMIC_ACQUIRE);
	}
	return sum;
}

static bool is_blocked(const char *task)
{
	g_autofree char *path = g_build_filename(task, "stat", NULL), *text = NULL;
	const char *end;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return true; /* it has ended */
	end = strrchr(text, ')');
	return end && strncmp(end, ") S ", 4) == 0;
}

/* By the kernel. False also if it does not tell. */
static bool are_all_blocked(pid_t pid)
{
	g_autofree char *tasks = g_strdup_printf("/proc/%d/task", (int)pid);
	GDir *dir = g_dir_open(tasks, 0, NULL);
	const char *name;
	bool all = dir != NULL;

	while (all && (name = g_dir_read_name(dir))) {
		g_autofree char *task = g_build_filename(tasks, name, NULL);

		all = is_blocked(task);
	}
	if (dir)
		g_dir_close(dir);
	return all;
}

GArray *pp_watch_waiting(const struct pp_watch *watch)
{
	GArray *stuck = g_array_new(FALSE, FALSE, sizeof(struct pp_plan_stuck));

	for (guint i = 0; i < watch->model->threads->len; i++) {
		const struct pp_worker *worker = &watch->shared->workers[i];
		struct pp_plan_stuck one = {i, worker->at};

		if (worker->state == PP_WORKER_WAITS)
			g_array_append_val(stuck, one);
	}
	return stuck;
}

GArray *pp_watch_look(struct pp_watch *watch)
{
	uint64_t before = watch->n_changes;
	g_autoptr(GArray) stuck = NULL;

	watch->n_changes = changes_of_waiting(watch);
	if (watch->n_changes && !are_all_blocked(watch->pid))
		watch->n_changes = 0;
	if (!watch->n_changes || watch->n_changes != before)
		return NULL;
	stuck = pp_watch_waiting(watch);
	return stuck->len ? g_steal_pointer(&stuck) : NULL;
}
