/* SPDX-License-Identifier: MIT */
/* See peak.h.  Goes through the begins and ends of threads in order of time. */
#include "cli/peak.h"

static gint by_time(gconstpointer a, gconstpointer b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int64_t pp_cli_peak_threads(const struct pp_model *model)
{
	g_autoptr(GArray) starts = g_array_new(FALSE, FALSE, sizeof(int64_t));
	g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(int64_t));
	int64_t peak = 0;

	for (guint i = 0; i < model->threads->len; i++) {
		const struct pp_thread *thread = model->threads->pdata[i];

		/* The main thread of a program that called exit() has no end. */
		int64_t end_ns = thread->end_ns == PP_TIME_UNKNOWN ? INT64_MAX : thread->end_ns;

		if (thread->start_ns == PP_TIME_UNKNOWN)
			continue;
		g_array_append_val(starts, thread->start_ns);
		g_array_append_val(ends, end_ns);
	}
	g_array_sort(starts, by_time);
	g_array_sort(ends, by_time);
	for (guint start = 0, end = 0; start < starts->len; start++) {
		while (g_array_index(ends, int64_t, end) <= g_array_index(starts, int64_t, start) &&
		       end < start)
			end++;
		peak = MAX(peak, (int64_t)start + 1 - end);
	}
	return peak;
}
