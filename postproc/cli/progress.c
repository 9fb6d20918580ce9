/* SPDX-License-Identifier: MIT */
/* The thread only looks at the counters of core/progress.h, so readers need not care about it. */
#include "cli/progress.h"

#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/progress.h"

#define DELAY_US  500000 /* before the first line */
#define PERIOD_US 200000
#define ERASE	  "\r\033[K"

/* The captures that diff compares are opened and read by two threads. */
static GMutex lock;
static GCond stop_asked;
static GThread *thread; /* NULL: nothing is shown */
static unsigned n_stops;

static bool is_quiet; /* set before anything is read */

/* The reading that is shown, as it was when it was first seen. */
struct reading {
	unsigned number; /* 0: none yet */
	int64_t first_us;
	uint64_t first_bytes;
};

/* For tests: the time between two lines, and before the first one. */
static int64_t interval_us(int64_t usual_us)
{
	const char *text = g_getenv("GPROF_MT_PROGRESS_MS");

	return text ? (int64_t)(g_ascii_strtoull(text, NULL, 10) * 1000) : usual_us;
}

char *pp_cli_progress_left(double left_s)
{
	unsigned s = (unsigned)MIN(left_s + 1, 359999);

	return s < 60 ? g_strdup_printf("%u s", s) : g_strdup_printf("%u:%02u min", s / 60, s % 60);
}

static char *download_line(const struct pp_progress *now)
{
	g_autofree char *arrived = g_format_size_full(now->download_bytes, G_FORMAT_SIZE_IEC_UNITS);
	g_autofree char *all = g_format_size_full(now->download_all_bytes, G_FORMAT_SIZE_IEC_UNITS);

	if (!now->download_bytes)
		return g_strdup_printf("asking a server for the debug file of %s", now->download);
	return g_strdup_printf("debug file of %s: %s%s%s", now->download, arrived,
			       now->download_all_bytes ? " of " : "",
			       now->download_all_bytes ? all : "");
}

static char *make_line(struct reading *reading)
{
	struct pp_progress now = pp_progress_now();
	int64_t now_us = g_get_monotonic_time();
	g_autofree char *left = NULL;
	double percent, left_s;

	if (now.download[0])
		return download_line(&now);
	if (!now.n_readings)
		return g_strdup("opening the capture");
	if (!now.n_active)
		return g_strdup("preparing the output");
	if (reading->number != now.n_readings)
		*reading = (struct reading){now.n_readings, now_us, now.read_bytes};
	if (!now.all_bytes)
		return g_strdup("reading");
	percent = MIN(100.0 * (double)now.read_bytes / (double)now.all_bytes, 99);
	if (now.read_bytes <= reading->first_bytes || now.read_bytes > now.all_bytes)
		return g_strdup_printf("reading %.0f %%", percent);
	left_s = (double)(now.all_bytes - now.read_bytes) * (double)(now_us - reading->first_us) /
		 1e6 / (double)(now.read_bytes - reading->first_bytes);
	left = pp_cli_progress_left(left_s);
	return g_strdup_printf("reading %.0f %%, %s left", percent, left);
}

static void *show(void *data)
{
	int64_t period_us = interval_us(PERIOD_US);
	int64_t next_us = g_get_monotonic_time() + interval_us(DELAY_US);
	struct reading reading = {0};
	bool is_shown = false;

	g_mutex_lock(&lock);
	while (n_stops == GPOINTER_TO_UINT(data)) {
		g_autofree char *line = NULL;

		if (g_cond_wait_until(&stop_asked, &lock, next_us))
			continue;
		line = make_line(&reading);
		dprintf(STDERR_FILENO, "\rgprof-mt: %s\033[K", line);
		is_shown = true;
		next_us = g_get_monotonic_time() + period_us;
	}
	g_mutex_unlock(&lock);
	if (is_shown)
		dprintf(STDERR_FILENO, ERASE);
	return NULL;
}

bool pp_cli_progress_is_wanted(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDERR_FILENO) && terminal && !g_str_equal(terminal, "dumb") && !is_quiet;
}

void pp_cli_progress_silence(void)
{
	is_quiet = true;
}

void pp_cli_progress_start(void)
{
	sigset_t all, before;

	if (!pp_cli_progress_is_wanted())
		return;
	/* Handlers of signals run in the threads that expect them. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	g_mutex_lock(&lock);
	if (!thread)
		thread = g_thread_try_new("progress", show, GUINT_TO_POINTER(n_stops), NULL);
	g_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void pp_cli_progress_stop(void)
{
	GThread *stopped;

	g_mutex_lock(&lock);
	stopped = g_steal_pointer(&thread);
	n_stops += stopped != NULL;
	g_cond_broadcast(&stop_asked);
	g_mutex_unlock(&lock);
	if (stopped)
		g_thread_join(stopped);
}
