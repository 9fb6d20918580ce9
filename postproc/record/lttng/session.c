/* SPDX-License-Identifier: MIT */
/*
 * A session whose recorder was killed goes on: it would write the events of all later recordings of
 * the user into the old capture.  Only the recorder's name can tell that, since a daemon does not
 * know who made a session.
 *
 * A process number alone may be another's by now, so the name has the start time, too; numbers mean
 * the same processes in one PID namespace alone, and root's daemon lists the sessions of all users.
 */
#include "record/lttng/session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>
#include <lttng/lttng.h>

#include "core/alive.h"

#define FORMAT "gprof-mt-%u-%" PRIu64 "-%d-%" PRIu64

struct recorder {
	unsigned uid;
	uint64_t pid_namespace; /* inode; 0: unknown */
	int pid;
	uint64_t start; /* as pp_process_start() returns; 0: unknown */
};

static struct recorder recorder_of_this(void)
{
	struct stat st;

	return (struct recorder){
	    .uid = geteuid(),
	    .pid_namespace = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0,
	    .pid = getpid(),
	    .start = pp_process_start(getpid()),
	};
}

static char *recorder_name(const struct recorder *recorder)
{
	return g_strdup_printf(FORMAT, recorder->uid, recorder->pid_namespace, recorder->pid,
			       recorder->start);
}

/* False: not a name that recorder_name() makes. */
static bool recorder_parse(const char *name, struct recorder *ret)
{
	g_autofree char *same = NULL;
	char *end = (char *)name + strlen("gprof-mt");
	uint64_t numbers[4];

	if (!g_str_has_prefix(name, "gprof-mt-"))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		if (*end != '-')
			return false;
		numbers[i] = g_ascii_strtoull(end + 1, &end, 10);
	}
	*ret = (struct recorder){(unsigned)numbers[0], numbers[1], (int)numbers[2], numbers[3]};
	/* Compared as text: no number was cut, and nothing follows. */
	same = recorder_name(ret);
	return strcmp(name, same) == 0;
}

/* False also where that cannot be known. */
static bool has_ended(const struct recorder *recorder)
{
	if (recorder->pid <= 0 || !recorder->start)
		return false;
	if (kill(recorder->pid, 0) && errno == ESRCH)
		return true;
	/* Without /proc, or if that hides the process. */
	if (!pp_process_start(recorder->pid))
		return false;
	return !pp_process_is_running(recorder->pid, recorder->start);
}

char *pp_lttng_session_name(void)
{
	struct recorder this = recorder_of_this();

	return recorder_name(&this);
}

void pp_lttng_session_clean(void)
{
	const struct recorder this = recorder_of_this();
	struct lttng_session *sessions = NULL;
	int n = lttng_list_sessions(&sessions);
	struct recorder recorder;

	for (int i = 0; i < n; i++)
		if (recorder_parse(sessions[i].name, &recorder) && recorder.uid == this.uid &&
		    this.pid_namespace && recorder.pid_namespace == this.pid_namespace &&
		    has_ended(&recorder))
			lttng_destroy_session_no_wait(sessions[i].name);
	free(sessions);
}
