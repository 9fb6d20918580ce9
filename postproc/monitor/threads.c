/* SPDX-License-Identifier: MIT */
/* Reads stat, schedstat and status below /proc/PID/task/TID. */
#include "monitor/threads.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"

/* The text of a file of the thread; NULL: it has ended, or there is no such file. */
static char *read_file(pid_t pid, const char *tid, const char *name)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/task/%s/%s", (int)pid, tid, name);
	char *text = NULL;

	return g_file_get_contents(path, &text, NULL, NULL) ? text : NULL;
}

/* Name and state, from "TID (NAME) STATE ...": the name may contain anything. */
static bool set_state(struct pp_running_thread *thread, const char *stat)
{
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')');
	size_t length;

	if (!open || !close || close < open || close[1] != ' ')
		return false;
	length = MIN((size_t)(close - open - 1), sizeof(thread->name) - 1);
	memcpy(thread->name, open + 1, length);
	thread->name[length] = '\0';
	thread->state = close[2];
	return true;
}

/* "CPU_NS QUEUED_NS SLICES" */
static void set_times(struct pp_running_thread *thread, const char *schedstat)
{
	char *end;

	thread->cpu_ns = strtoull(schedstat, &end, 10);
	thread->has_times = end != schedstat && *end == ' ';
	thread->queued_ns = strtoull(end, NULL, 10);
}

static bool find_count(const char *status, const char *key, uint64_t *ret)
{
	const char *line = strstr(status, key);

	if (line)
		*ret = strtoull(line + strlen(key), NULL, 10);
	return line != NULL;
}

static bool read_thread(pid_t pid, const char *tid, struct pp_running_thread *ret)
{
	g_autofree char *stat = read_file(pid, tid, "stat");
	g_autofree char *schedstat = read_file(pid, tid, "schedstat");
	int64_t time_ns = pp_clock_now_ns();
	g_autofree char *status = read_file(pid, tid, "status");

	*ret =
	    (struct pp_running_thread){.tid = (uint32_t)strtoul(tid, NULL, 10), .time_ns = time_ns};
	if (!stat || !set_state(ret, stat))
		return false;
	if (schedstat)
		set_times(ret, schedstat);
	ret->has_switches = status &&
			    find_count(status, "\nvoluntary_ctxt_switches:", &ret->voluntary) &&
			    find_count(status, "\nnonvoluntary_ctxt_switches:", &ret->involuntary);
	return true;
}

static gint by_tid(gconstpointer a, gconstpointer b)
{
	const struct pp_running_thread *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

GArray *pp_running_threads(pid_t pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/task", (int)pid);
	GDir *dir = g_dir_open(path, 0, NULL);
	GArray *threads;
	const char *tid;

	if (!dir)
		return NULL;
	threads = g_array_new(FALSE, FALSE, sizeof(struct pp_running_thread));
	while ((tid = g_dir_read_name(dir))) {
		struct pp_running_thread thread;

		if (read_thread(pid, tid, &thread))
			g_array_append_val(threads, thread);
	}
	g_dir_close(dir);
	g_array_sort(threads, by_tid);
	return threads;
}

const struct pp_running_thread *pp_running_threads_find(const GArray *threads, uint32_t tid)
{
	const struct pp_running_thread wanted = {.tid = tid};
	guint at;

	return threads && g_array_binary_search((GArray *)threads, &wanted, by_tid, &at)
		   ? &g_array_index(threads, struct pp_running_thread, at)
		   : NULL;
}
