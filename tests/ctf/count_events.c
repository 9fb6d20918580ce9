/* SPDX-License-Identifier: MIT */
/*
 * count_events DIR: prints how many of each event the native reader reads, "COUNT NAME" per line.
 */
#include <inttypes.h>
#include <stdio.h>

#include "events/events.h"

static const char *const kernel_names[PP_N_EVENT_KINDS] = {
    [PP_EVENT_SWITCH] = "sched_switch",	    [PP_EVENT_WAKING] = "sched_waking",
    [PP_EVENT_FORK] = "sched_process_fork", [PP_EVENT_EXIT] = "sched_process_exit",
    [PP_EVENT_EXEC] = "sched_process_exec", [PP_EVENT_CALL] = "call",
    [PP_EVENT_RETURN] = "return",	    [PP_EVENT_LOST] = "lost",
};

struct counts {
	uint64_t sync[ST_N_EVENTS], kernel[PP_N_EVENT_KINDS];
};

static void count(void *data, const struct pp_event *event)
{
	struct counts *counts = data;

	if (event->kind == PP_EVENT_SYNC)
		counts->sync[event->sync.op]++;
	else
		counts->kernel[event->kind]++;
}

int main(int argc, char **argv)
{
	struct pp_error err = PP_ERROR_INIT;
	struct counts counts = {0};
	struct pp_capture *capture;

	if (argc != 2)
		return 2;
	if (pp_capture_open(argv[1], &capture, &err) < 0 ||
	    pp_events_read(capture, ~0u, count, &counts, &err) < 0) {
		fprintf(stderr, "%s\n", pp_error_text(&err));
		return 1;
	}
	for (unsigned op = 0; op < ST_N_EVENTS; op++)
		if (counts.sync[op])
			printf("%" PRIu64 " %s\n", counts.sync[op], pp_sync_name(op));
	for (unsigned kind = 0; kind < PP_N_EVENT_KINDS; kind++)
		if (counts.kernel[kind] &&
		    kernel_names[kind]) /* other kinds have no event in a trace */
			printf("%" PRIu64 " %s\n", counts.kernel[kind], kernel_names[kind]);
	pp_capture_free(capture);
	return 0;
}
