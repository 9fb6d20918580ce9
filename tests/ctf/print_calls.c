/* SPDX-License-Identifier: MIT */
/*
 * print_calls DIR: prints the history of calls as the native reader reads it, one record per line:
 * time, tid, index, and "call FROM SELF" or "return WHERE". Damage is reported on standard error,
 * with exit status 1.
 */
#include <inttypes.h>
#include <stdio.h>

#include "events/events.h"

static void print(void *data, const struct pp_event *event)
{
	(void)data;
	printf("%" PRId64 " %u %u ", event->time_ns, event->thread->tid, event->thread->index);
	if (event->kind == PP_EVENT_CALL)
		printf("call %" PRIx64 " %" PRIx64 "\n", event->call.from, event->call.self);
	else
		printf("return %" PRIx64 "\n", event->call.self);
}

int main(int argc, char **argv)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_capture *capture;
	unsigned n_damage;

	if (argc != 2)
		return 2;
	if (pp_capture_open(argv[1], &capture, &err) < 0 ||
	    pp_events_read(capture, PP_EVENT_MASK(PP_EVENT_CALL) | PP_EVENT_MASK(PP_EVENT_RETURN),
			   print, NULL, &err) < 0) {
		fprintf(stderr, "%s\n", pp_error_text(&err));
		return 1;
	}
	n_damage = capture->damage->len;
	for (guint i = 0; i < n_damage; i++)
		fprintf(stderr, "%s\n", (const char *)capture->damage->pdata[i]);
	pp_capture_free(capture);
	return n_damage > 0;
}
