/* SPDX-License-Identifier: MIT */
/* Reads /proc/PID/stat and compares the start time, because the kernel uses process ids again. */
#include "core/alive.h"

#include <glib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S     UINT64_C(1000000000)
#define STAT_STATE   3
#define STAT_THREADS 20
#define STAT_START   22

/* Fields of /proc/PID/stat. */
struct status {
	char state;
	uint64_t n_threads, start;
};

/*
 * Field 2 is the name in parentheses and may contain anything, so fields are counted from the last
 * parenthesis.
 */
static const char *field(const char *stat, unsigned number)
{
	const char *at = strrchr(stat, ')');

	for (unsigned n = 2; at && n < number; n++) {
		at = strchr(at, ' ');
		if (at)
			at++;
	}
	return at;
}

static bool read_status(pid_t pid, struct status *ret)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/stat", pid);
	g_autofree char *stat = NULL;
	const char *start;

	if (pid <= 0 || !g_file_get_contents(path, &stat, NULL, NULL) ||
	    !(start = field(stat, STAT_START)))
		return false;
	ret->state = *field(stat, STAT_STATE);
	ret->n_threads = g_ascii_strtoull(field(stat, STAT_THREADS), NULL, 10);
	ret->start = g_ascii_strtoull(start, NULL, 10);
	return true;
}

/* The main thread may be a zombie while other threads of the process run. */
static bool has_threads(const struct status *status)
{
	return (status->state != 'Z' && status->state != 'X') || status->n_threads > 1;
}

uint64_t pp_process_start(pid_t pid)
{
	struct status status;

	return read_status(pid, &status) ? status.start : 0;
}

bool pp_process_is_running(pid_t pid, uint64_t start)
{
	struct status status;

	return start && read_status(pid, &status) && status.start == start && has_threads(&status);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

bool pp_process_runs(pid_t pid, uint64_t since_ns)
{
	uint64_t tick_ns = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	/*
	 * Start times include suspended time, since_ns does not.  Adding all of it can only err
	 * towards true.
	 */
	uint64_t suspended_ns = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
	struct status status;

	return read_status(pid, &status) && has_threads(&status) &&
	       (!since_ns || status.start * tick_ns <= since_ns + suspended_ns + tick_ns);
}
