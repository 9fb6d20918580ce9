/* SPDX-License-Identifier: MIT */
/* Texts for the kinds of lines, system calls, signals and reasons. */
#include "pass/timeline/line.h"

#include <inttypes.h>
#include <string.h>

#include "core/text/duration.h"
#include "pass/replay.h"
#include "analysis/thread_cells.h"

#define MAX_ERRNO 4095
/* Larger values are shown in hexadecimal, as addresses. */
#define LEAST_ADDRESS (INT64_C(1) << 32)

void pp_timeline_add_thread(GString *text, const struct pp_thread *thread, int64_t tid,
			    const char *comm)
{
	const char *name = thread ? pp_thread_name(thread) : comm;

	if (thread)
		tid = thread->tid;
	if (name && *name)
		g_string_append_printf(text, "%s (tid %" PRId64 ")", name, tid);
	else if (tid > 0)
		g_string_append_printf(text, "tid %" PRId64, tid);
	else
		g_string_append(text, "a thread that is not known");
}

void pp_timeline_add_result(GString *text, int64_t result)
{
	const char *name =
	    result < 0 && result >= -MAX_ERRNO ? strerrorname_np((int)-result) : NULL;

	if (name)
		g_string_append_printf(text, " = -%s", name);
	else if (result >= LEAST_ADDRESS || result < -LEAST_ADDRESS)
		g_string_append_printf(text, " = 0x%" PRIx64, (uint64_t)result);
	else
		g_string_append_printf(text, " = %" PRId64, result);
}

void pp_timeline_add_syscall(GString *text, const struct pp_event *event)
{
	g_string_append_printf(text, "%s(", event->syscall.name);
	for (unsigned i = 0; i < event->syscall.n_values; i++) {
		int64_t value = event->syscall.values[i];
		bool is_address = value >= LEAST_ADDRESS || value < -LEAST_ADDRESS;

		g_string_append_printf(text, "%s%s=", i ? ", " : "", event->syscall.names[i]);
		g_string_append_printf(text, is_address ? "0x%" PRIx64 : "%" PRId64, value);
	}
	g_string_append_c(text, ')');
}

int64_t pp_timeline_descriptor(const struct pp_event *event)
{
	static const char *const names[] = {"fd", "epfd", "in_fd", "mqdes", NULL};

	for (unsigned i = 0; i < event->syscall.n_values; i++)
		if (g_strv_contains(names, event->syscall.names[i]))
			return event->syscall.values[i] >= 0 ? event->syscall.values[i] : -1;
	return -1;
}

void pp_timeline_add_signal(GString *text, int number)
{
	const char *name = sigabbrev_np(number);

	if (name)
		g_string_append_printf(text, "SIG%s", name);
	else
		g_string_append_printf(text, "signal %d", number);
}

static void add_part(GString *text, const char *before, const char *word, int64_t duration_ns)
{
	g_autofree char *duration = pp_duration_text(duration_ns);

	g_string_append_printf(text, "%s%s %s", before, word, duration);
}

void pp_timeline_add_return(GString *text, const struct pp_timeline_line *line)
{
	const char *before = "";

	if (line->duration_ns != PP_DURATION_UNKNOWN) {
		add_part(text, "", "after", line->duration_ns);
		before = ": ";
	}
	if (line->blocked_ns > 0) {
		add_part(text, before, "blocked", line->blocked_ns);
		g_string_append_printf(text, " (%s)", pp_reason_name(line->reason));
		before = ", ";
	} else if (line->reason != PP_REASON_NONE) {
		g_string_append_printf(text, "%s%s", before, pp_reason_name(line->reason));
		before = ", ";
	}
	if (line->runnable_ns != PP_DURATION_UNKNOWN)
		add_part(text, before, "runnable", line->runnable_ns);
}

/* --- table ---------------------------------------------------------------------------------- */

const char *pp_timeline_kind_name(enum pp_timeline_kind kind)
{
	static const char *const names[] = {
	    [PP_TIMELINE_START] = "start",     [PP_TIMELINE_CALL] = "call",
	    [PP_TIMELINE_RETURN] = "return",   [PP_TIMELINE_SYNC] = "sync",
	    [PP_TIMELINE_SYSCALL] = "syscall", [PP_TIMELINE_OFF] = "off CPU",
	    [PP_TIMELINE_IO] = "io",	       [PP_TIMELINE_WOKEN] = "woken",
	    [PP_TIMELINE_ON] = "on CPU",       [PP_TIMELINE_WAKES] = "wakes",
	    [PP_TIMELINE_FORK] = "fork",       [PP_TIMELINE_FAULT] = "fault",
	    [PP_TIMELINE_SIGNAL] = "signal",   [PP_TIMELINE_BLOCK] = "disk",
	    [PP_TIMELINE_EXEC] = "exec",       [PP_TIMELINE_END] = "end",
	    [PP_TIMELINE_LOST] = "lost",
	};

	return names[kind];
}

enum {
	TIME = PP_N_THREAD_CELLS,
	CPU,
	EVENT,
	DEPTH,
	TEXT,
	REASON,
	OBJECT,
	OTHER,
	DURATION,
	BLOCKED,
	RUNNABLE,
	N_COLUMNS,
};

static const struct pp_column columns[N_COLUMNS] = {
    PP_THREAD_COLUMNS,
    [TIME] = {"time_ns", "time", PP_TYPE_TIME_NS, 0,
	      "time; for a call with its return, of the call"},
    [CPU] = {"cpu", "cpu", PP_TYPE_COUNT, 0, "where"},
    [EVENT] = {"event", "event", PP_TYPE_TEXT, 0, "what"},
    [DEPTH] = {"depth", "depth", PP_TYPE_COUNT, 0, "number of enclosing calls"},
    [TEXT] = {"text", "description", PP_TYPE_TEXT, 0, "the same as text"},
    [REASON] = {"reason", "reason", PP_TYPE_TEXT, 0,
		"reason of the switch-out; at a switch-in, of the preceding one"},
    [OBJECT] = {"object", "object", PP_TYPE_TEXT, 0, "synchronization object"},
    [OTHER] = {"other_tid", "other", PP_TYPE_COUNT, 0,
	       "the holder, next thread, waker, or woken thread"},
    [DURATION] = {"duration_ns", "duration", PP_TYPE_TIME_NS, 0,
		  "duration of what ended; at a switch-in: since the switch-out"},
    [BLOCKED] = {"blocked_ns", "blocked", PP_TYPE_TIME_NS, 0, "of this: blocked"},
    [RUNNABLE] = {"runnable_ns", "runnable", PP_TYPE_TIME_NS, 0, "of this: runnable"},
};

struct pp_table *pp_timeline_table(void)
{
	return pp_table_new("timeline", "Timeline", columns, N_COLUMNS);
}

static void set_duration(struct pp_cell *cell, int64_t duration_ns)
{
	if (duration_ns != PP_DURATION_UNKNOWN)
		pp_cell_set_time(cell, duration_ns);
}

void pp_timeline_add_row(struct pp_table *table, const struct pp_timeline_line *line)
{
	struct pp_cell *row = pp_thread_row(table, line->thread);

	pp_cell_set_time(&row[TIME], line->time_ns);
	if (line->cpu >= 0)
		pp_cell_set_count(&row[CPU], (uint64_t)line->cpu);
	pp_cell_set_text(&row[EVENT], pp_timeline_kind_name(line->kind));
	pp_cell_set_count(&row[DEPTH], line->depth);
	pp_cell_set_text(&row[TEXT], line->text);
	pp_cell_set_text(&row[REASON], pp_reason_name(line->reason));
	pp_cell_set_text(&row[OBJECT], line->object);
	if (line->other_tid >= 0)
		pp_cell_set_count(&row[OTHER], (uint64_t)line->other_tid);
	set_duration(&row[DURATION], line->duration_ns);
	set_duration(&row[BLOCKED], line->blocked_ns);
	set_duration(&row[RUNNABLE], line->runnable_ns);
}
